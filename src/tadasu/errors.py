"""Everything that can go wrong, as one tree.

::

    TadasuError                      code            exit code (see tadasu.cli)
    ├── UsageError                                   2  the request cannot be understood
    │   ├── SettingsInvalid          settings_invalid
    │   ├── WorkspaceMissing         workspace_missing
    │   ├── WorkspaceExists          workspace_exists
    │   ├── ExtraMissing             extra_missing
    │   ├── KeyMissing               key_missing
    │   ├── PluginUnknown            plugin_unknown
    │   ├── LabelsTooFew             labels_too_few
    │   ├── ConsentMissing           consent_missing
    │   ├── LabelInvalid             label_invalid
    │   ├── LabelContradicted        label_contradicted
    │   ├── LabelAmbiguous           label_ambiguous
    │   └── InputInvalid             input_invalid   a line of a batch, an option
    ├── NotFound                                     4  the thing named does not exist (or is not yours)
    │   ├── RunNotFound              run_not_found
    │   ├── DocumentNotFound         document_not_found
    │   └── CitationNotFound         citation_not_found
    ├── DocumentError                                3  one document cannot be read; the batch goes on
    │   ├── FormatUnsupported        format_unsupported
    │   ├── DocumentEmpty            document_empty
    │   ├── TextLayerMissing         text_layer_missing
    │   ├── DocumentEncrypted        document_encrypted
    │   ├── DocumentDamaged          document_damaged
    │   ├── DocumentTooLarge         document_too_large
    │   ├── FormatMismatch           format_mismatch
    │   ├── ArchiveBomb              archive_bomb
    │   ├── PathEscapes              path_escapes
    │   ├── DocumentUnreadable       document_unreadable
    │   ├── EncodingUnknown          encoding_unknown
    │   ├── ParserTimeout            parser_timeout
    │   ├── ParserCrashed            parser_crashed
    │   ├── AccessInvalid            access_invalid
    │   └── RowInvalid               row_invalid
    ├── StoreError                                   6  the index or the state database
    │   ├── StoreBusy                store_busy      retryable
    │   ├── StoreDamaged             store_damaged   the index
    │   │   └── StateDamaged         state_damaged   the run book
    │   ├── StoreUnwritable          store_unwritable
    │   ├── RunCorrected             run_corrected
    │   ├── StoreIncompatible        store_incompatible
    │   │   └── StateIncompatible    state_incompatible
    │   ├── CalibrationDamaged       calibration_damaged
    │   └── ModelUnavailable         model_unavailable
    ├── ProviderError                                5  an outside service
    │   ├── ProviderUnreachable      provider_unreachable    retryable
    │   ├── ProviderLimited          provider_limited        retryable
    │   ├── ProviderRefused          provider_refused
    │   │   ├── ContentRefused       content_refused         the model or a filter declined
    │   │   └── ContextTooLong       context_too_long        it does not fit the model's window
    │   ├── ProviderAnswerInvalid    provider_answer_invalid
    │   │   ├── ReplyEmpty           reply_empty
    │   │   ├── ReplyTruncated       reply_truncated         cut off before anything could be used
    │   │   ├── ReplyMalformed       reply_malformed         not in the provider's own protocol
    │   │   └── ReplyUnreadable      reply_unreadable        not in the form that was asked for, twice
    │   └── PriceUnknown             price_unknown
    ├── GradingFailed                grading_failed  5
    ├── SearchFailed                 search_failed   5
    └── BudgetSpent                  budget_spent    5
        ├── RunBudgetSpent           run_budget_spent
        └── DayBudgetSpent           day_budget_spent

Each error keeps what it happened to as keyword arguments (``error.details``), a message built from them, and a ``hint``
that says what to do next. ``code`` is stable: scripts and translations refer to it. Doors (the command line, the
server) map kinds to exit codes and HTTP statuses; nothing else does.
"""

from __future__ import annotations

from typing import ClassVar


class TadasuError(Exception):
    """Base of every error that Tadasu raises on purpose.

    Subclasses declare ``code``, ``message`` and ``hint`` as templates over the keyword arguments.

    >>> error = RunNotFound(run="r-1")
    >>> error.code, str(error)
    ('run_not_found', 'There is no run r-1 here.')
    """

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    message: ClassVar[str] = "Something went wrong."
    hint_template: ClassVar[str] = ""

    def __init__(self, **details: object) -> None:
        self.details = details
        super().__init__(_fill(self.message, details))

    @property
    def hint(self) -> str:
        """What to do next, in one sentence; empty where nothing helps."""
        return _fill(self.hint_template, self.details)


def _fill(template: str, details: dict[str, object]) -> str:
    # Details come from users and files: a brace or a missing key there must never raise inside an error.
    for name, value in details.items():
        template = template.replace("{" + name + "}", str(value))
    return template


# --- usage ---------------------------------------------------------------------------------------


class UsageError(TadasuError):
    """The request, the settings or the place it was made in do not fit."""

    code = "usage"


class SettingsInvalid(UsageError):
    """A setting has a value that cannot be used."""

    code = "settings_invalid"
    message = "{where}: {key} {reason}."
    hint_template = "Mend it there; `tadasu init` in an empty folder writes a tadasu.toml that explains every setting."


class WorkspaceMissing(UsageError):
    """No workspace was found at the path or above it."""

    code = "workspace_missing"
    message = "There is no Tadasu workspace in {path} or above it."
    hint_template = "Run `tadasu init` there first, or name one with --workspace."


class WorkspaceExists(UsageError):
    """`init` was asked to create what is there already."""

    code = "workspace_exists"
    message = "{path} is a Tadasu workspace already; nothing was changed."
    hint_template = "Edit its tadasu.toml, or run `tadasu config show`."


class ExtraMissing(UsageError):
    """A package that an optional part needs is not installed."""

    code = "extra_missing"
    message = "{feature} needs the package {package}, which is not installed."
    hint_template = "Install it with: pip install 'tadasu[{extra}]'"


class KeyMissing(UsageError):
    """A provider needs a key that the environment does not hold."""

    code = "key_missing"
    message = "{provider} needs a key, and the environment variable {variable} is not set."
    hint_template = "Set {variable}, or name another variable in tadasu.toml under {setting}."


class PluginUnknown(UsageError):
    """A name in the settings matches no installed plugin."""

    code = "plugin_unknown"
    message = "There is no {kind} called {name}. Installed: {known}."
    hint_template = "Check the spelling in tadasu.toml, or install the package that provides it."


class LabelsTooFew(UsageError):
    """There are not enough labels of either kind to fit anything."""

    code = "labels_too_few"
    message = "{relevant} relevant and {irrelevant} irrelevant pairs count, and {least} of each are the least."
    hint_template = "{way_out}"

    def __init__(self, *, relevant: int, irrelevant: int, least: int, way_out: str = "") -> None:
        more = "Label more with `tadasu label`: 60 labels take about ten minutes and are a good start."
        super().__init__(relevant=relevant, irrelevant=irrelevant, least=least, way_out=way_out or more)


class ConsentMissing(UsageError):
    """Work that may cost money would begin, and nobody agreed to it."""

    code = "consent_missing"
    message = "Nothing was begun: it may cost money ({estimate}), and nobody is here to agree to that."
    hint_template = "Agree beforehand with --yes."


class InputInvalid(UsageError):
    """One input (a line, a row, an option) cannot be used."""

    code = "input_invalid"
    message = "{where}: {reason}."
    hint_template = "{fix}"

    def __init__(self, *, where: str, reason: str, fix: str = "") -> None:
        super().__init__(where=where, reason=reason, fix=fix)


class LabelInvalid(UsageError):
    """One row of a file of labels cannot be used; the others count."""

    code = "label_invalid"
    message = "{name}, row {row}: {reason}."
    hint_template = "{fix}"


class LabelContradicted(UsageError):
    """One row of a file of labels says the opposite of an earlier one."""

    code = "label_contradicted"
    message = "{name}, row {row}: row {earlier} says the opposite of the same pair; row {earlier} counts, not this."
    hint_template = "Keep the one that is right and delete the other."


class LabelAmbiguous(UsageError):
    """One row of a file of labels names a document by the end of a path that several documents have."""

    code = "label_ambiguous"
    message = "{name}, row {row}: {document} may be any of {count} documents: {candidates}."
    hint_template = "Write as much of the path as only one of them has."


# --- not found -----------------------------------------------------------------------------------


class NotFound(TadasuError):
    """The thing named does not exist, or the asker may not see it: the two look alike on purpose."""

    code = "not_found"


class RunNotFound(NotFound):
    """No such run."""

    code = "run_not_found"
    message = "There is no run {run} here."
    hint_template = "List the latest runs with `tadasu stats`; `last` names the latest."


class DocumentNotFound(NotFound):
    """No such document."""

    code = "document_not_found"
    message = "There is no document {document} here."
    hint_template = "`tadasu stats --documents` lists what is ingested."


class CitationNotFound(NotFound):
    """The answer of a run has no citation of that number."""

    code = "citation_not_found"
    message = "The answer of {run} has no citation [{marker}]; it has {count}."
    hint_template = "`tadasu trace {run}` shows the answer with its citations."


# --- documents -----------------------------------------------------------------------------------


class DocumentError(TadasuError):
    """One document cannot be ingested. ``details['source']`` names it."""

    code = "document_error"


class FormatUnsupported(DocumentError):
    """A kind of file that no parser reads."""

    code = "format_unsupported"
    message = "{source}: {kind} files are not supported."
    hint_template = "{way_out}"

    def __init__(self, *, source: str, kind: str, way_out: str = "") -> None:
        super().__init__(
            source=source,
            kind=kind,
            way_out=way_out or "Convert it to PDF, DOCX, XLSX, PPTX, HTML, Markdown, text, CSV or JSONL.",
        )


class DocumentEmpty(DocumentError):
    """The file has no text at all."""

    code = "document_empty"
    message = "{source}: the file holds no text."
    hint_template = "Remove it, or fill it and ingest again."


class TextLayerMissing(DocumentError):
    """A PDF of pictures."""

    code = "text_layer_missing"
    message = "{source}: none of its {pages} pages has a text layer (a scan?)."
    hint_template = "Run OCR on it (for example `ocrmypdf`), then ingest the result."


class DocumentEncrypted(DocumentError):
    """The file is locked with a password."""

    code = "document_encrypted"
    message = "{source}: the file is encrypted."
    hint_template = "Save a copy without a password, then ingest that."


class DocumentDamaged(DocumentError):
    """The file is truncated or breaks its own format."""

    code = "document_damaged"
    message = "{source}: the {kind} file is damaged or cut short ({reason})."
    hint_template = "Open it in its own program and save it again, or fetch it anew."


class DocumentTooLarge(DocumentError):
    """The file is over the limit."""

    code = "document_too_large"
    message = "{source}: {size} is over the limit of {limit}."
    hint_template = "Split it, or raise ingestion.max_file_mb in tadasu.toml."


class FormatMismatch(DocumentError):
    """The content is not what the file name says."""

    code = "format_mismatch"
    message = "{source}: named as {named}, but the content is {found}."
    hint_template = "Rename it with the right extension."


class ArchiveBomb(DocumentError):
    """An Office file that would unpack to an absurd size."""

    code = "archive_bomb"
    message = "{source}: unpacks to {size}, which is over the limit of {limit}; it was not opened."
    hint_template = "Do not trust this file. If it is genuine, save it again in its own program."


class PathEscapes(DocumentError):
    """A link, or a name inside an archive, that points outside."""

    code = "path_escapes"
    message = "{source}: {name} points outside the folder being ingested; it was not followed."
    hint_template = "Copy the target into the folder if it belongs there."


class DocumentUnreadable(DocumentError):
    """The operating system refuses to give the file."""

    code = "document_unreadable"
    message = "{source}: cannot be read ({reason})."
    hint_template = "Check its permissions."


class EncodingUnknown(DocumentError):
    """The bytes are text in no encoding that we can be sure of."""

    code = "encoding_unknown"
    message = "{source}: the text encoding cannot be told ({reason})."
    hint_template = "Save it as UTF-8."


class ParserTimeout(DocumentError):
    """Parsing took longer than allowed."""

    code = "parser_timeout"
    message = "{source}: parsing was stopped after {seconds} s."
    hint_template = "Split the file, or raise ingestion.parse_seconds in tadasu.toml."


class ParserCrashed(DocumentError):
    """The process that parses died on this file (a fault in a library, or memory); the others go on."""

    code = "parser_crashed"
    message = "{source}: the parser stopped working on it ({reason})."
    hint_template = "Open it in its own program and save it again; if it is genuine, please report it."


class AccessInvalid(DocumentError):
    """An access file that cannot be understood; nothing in its folder is shown to anybody."""

    code = "access_invalid"
    message = "{source}: {reason}; until it is mended, nobody is shown anything of this folder."
    hint_template = 'Write it as groups = ["name", "other name"], then ingest the folder again.'


class RowInvalid(DocumentError):
    """One row of a CSV or JSONL file cannot be read; the other rows are kept."""

    code = "row_invalid"
    message = "{source}, row {row}: {reason}."
    hint_template = "Mend the row and ingest again; the other rows are in."


# --- stores and models ---------------------------------------------------------------------------


class StoreError(TadasuError):
    """The index or the state database cannot do what was asked."""

    code = "store_error"


class StoreBusy(StoreError):
    """Another process holds the write lock."""

    code = "store_busy"
    retryable = True
    message = "{path} is being written by another process."
    hint_template = "Wait until the other ingest has ended, then run this again."


class StoreDamaged(StoreError):
    """The file is not a database, or fails its own checks."""

    code = "store_damaged"
    message = "{path} is damaged ({reason})."
    hint_template = "Move it away and ingest again; runs live in another file and are not touched."


class StateDamaged(StoreDamaged):
    """As StoreDamaged, for the database that holds the runs."""

    code = "state_damaged"
    hint_template = "Move it away and a new one is made; the index is another file and is not touched."


class StoreUnwritable(StoreError):
    """The operating system does not let us open or write the file."""

    code = "store_unwritable"
    message = "{path} cannot be opened or written ({reason})."
    hint_template = "Check the permissions of the folder and the free space on its disk."


class RunCorrected(StoreError):
    """A run that is corrected already was to be corrected once more."""

    code = "run_corrected"
    message = "The run {run} was corrected already, by {by}."
    hint_template = "`tadasu trace {by}` shows it."


class StoreIncompatible(StoreError):
    """The index was made with another encoder, analyser or schema."""

    code = "store_incompatible"
    message = "{path} was made with {found}, this is {expected}."
    hint_template = "Run `tadasu ingest --rebuild` to make the index anew."


class StateIncompatible(StoreIncompatible):
    """The database that holds the runs was changed by a newer version of Tadasu."""

    code = "state_incompatible"
    hint_template = "Use the newer version of tadasu that changed it, or another workspace."


class CalibrationDamaged(StoreError):
    """The file of `tadasu calibrate` cannot be read."""

    code = "calibration_damaged"
    message = "The calibration {path} cannot be used ({reason})."
    hint_template = "Run `tadasu calibrate` again, or move the file away to grade as shipped."


class ModelUnavailable(StoreError):
    """A model file is missing or damaged."""

    code = "model_unavailable"
    message = "The model {path} cannot be loaded ({reason})."
    hint_template = "Reinstall tadasu, or name another model in tadasu.toml."


# --- outside services ----------------------------------------------------------------------------


class ProviderError(TadasuError):
    """An outside service did not do its part. ``details['provider']`` names it."""

    code = "provider_error"


class ProviderUnreachable(ProviderError):
    """No connection, a time-out, or a server fault."""

    code = "provider_unreachable"
    retryable = True
    message = "{provider} cannot be reached ({reason})."
    hint_template = "Check its address and that it is running; `tadasu doctor` tries it."


class ProviderLimited(ProviderError):
    """The service asks for fewer calls."""

    code = "provider_limited"
    retryable = True
    message = "{provider} limits calls ({reason})."
    hint_template = "Wait, or lower the rate in tadasu.toml."


class ProviderRefused(ProviderError):
    """The service understood and said no (key, model, content)."""

    code = "provider_refused"
    message = "{provider} refused the call ({reason})."
    hint_template = "Check the key and the model name; `tadasu doctor` tries both."


class ContentRefused(ProviderRefused):
    """The model declined, or a filter of the service did (safety, guardrail, recitation)."""

    code = "content_refused"
    message = "{provider} declined to answer ({reason})."
    hint_template = "Ask in other words, or use another model or filter; what was asked is in the run."


class ContextTooLong(ProviderRefused):
    """What is sent and what may be answered do not fit the model's window, by estimate or by the provider's word."""

    code = "context_too_long"
    message = "{provider}: what is sent does not fit the context window of {model} ({reason})."
    hint_template = (
        "Lower refinement.token_budget, grading.llm_batch or chat.max_tokens, or use a model with a larger window; "
        "chat.context_window says how large it is."
    )


class ProviderAnswerInvalid(ProviderError):
    """The answer is empty, cut off or not in the agreed form."""

    code = "provider_answer_invalid"
    message = "{provider} gave an answer that cannot be used ({reason})."


class ReplyEmpty(ProviderAnswerInvalid):
    """The model ended without a word."""

    code = "reply_empty"
    message = "{provider} gave an empty reply ({reason})."
    hint_template = "Try again, or use another model: some models think and say nothing."


class ReplyTruncated(ProviderAnswerInvalid):
    """The reply was cut off at its limit, before anything in it could be used."""

    code = "reply_truncated"
    message = "{provider} cut its reply off ({reason})."
    hint_template = "Raise chat.max_tokens, or use a model that thinks less before it answers."


class ReplyMalformed(ProviderAnswerInvalid):
    """What came is not in the provider's own protocol."""

    code = "reply_malformed"
    message = "{provider} sent what is not in its protocol ({reason})."
    hint_template = "Check chat.provider and chat.base_url; a proxy or another kind of service may answer there."


class ReplyUnreadable(ProviderAnswerInvalid):
    """The reply is not in the form that was asked for, also when asked again."""

    code = "reply_unreadable"
    message = "{provider}: a reply in the form that was asked for did not come, twice ({reason})."
    hint_template = "Use a model that can hold to a form; chat.structured says how it is asked for one."


class PriceUnknown(ProviderError):
    """A money budget is set, and what is to be called has no price."""

    code = "price_unknown"
    message = "{provider}: {model} has no known price, and a limit of money is set."
    hint_template = 'Give its price in tadasu.toml under [prices], or set prices.unpriced = "say" to go on without.'


class GradingFailed(TadasuError):
    """The grader failed as a whole; its passages are UNGRADED."""

    code = "grading_failed"
    message = "The grader {grader} failed ({reason})."


class SearchFailed(TadasuError):
    """Retrieval or web search failed as a whole."""

    code = "search_failed"
    message = "The search in {where} failed ({reason})."


class BudgetSpent(TadasuError):
    """The run's limit on searches, calls, money or time was reached before the next spend."""

    code = "budget_spent"
    message = "The budget of this run is spent ({what})."
    hint_template = "Raise the limit under [budget] in tadasu.toml."


class RunBudgetSpent(BudgetSpent):
    """A limit of one run does not allow its next call."""

    code = "run_budget_spent"
    message = "The budget of this run does not allow {what}: {setting} is {limit}, {used} used, {needed} more needed."
    hint_template = "Raise {setting} in tadasu.toml."


class DayBudgetSpent(BudgetSpent):
    """A limit of the day, of one tenant or of all, does not allow the next call."""

    code = "day_budget_spent"
    message = (
        "The budget of the day does not allow {what}: {setting} is {limit}, {used} used, {needed} more needed. "
        "The day ends at {ends}."
    )
    hint_template = "Wait until then, or raise {setting} in tadasu.toml."
