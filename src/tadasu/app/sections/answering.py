"""Tables of settings for a question's way from the documents to the answer."""

from __future__ import annotations

from pydantic import Field

from tadasu.answering.correction.policy import Reaction, ReservePolicy
from tadasu.app.sections.fields import Names, Section
from tadasu.core.grades import VerdictRule
from tadasu.core.refining import EvidenceOrder, Strength
from tadasu.core.scores import ScoreScale
from tadasu.core.writing import OnConflict, Release, Unsupported


class ReaderSection(Section):
    """Who asks when the command line or the Python API is used."""

    tenant: str = Field("default", description="Tenant whose documents are searched.")
    groups: Names = Field((), description="Groups of the asker; documents tagged with others stay hidden.")


class StoreSection(Section):
    """Where passages are kept."""

    engine: str = Field("sqlite", description="Plugin of the group tadasu.stores.")


class EncoderSection(Section):
    """Text to vectors."""

    path: str = Field("", description="Folder with model.onnx and tokenizer.json; empty: the encoder that is shipped.")
    threads: int = Field(2, ge=1, le=64, description="Threads of ONNX Runtime.")


class IngestionSection(Section):
    """From files to passages."""

    max_tokens: int = Field(256, ge=32, le=510, description="Tokens of a passage at the most.")
    max_file_mb: int = Field(100, ge=1, description="Larger files are refused.")
    parse_seconds: int = Field(60, ge=1, description="Parsing of one file is stopped after this many seconds.")


class RetrievalSection(Section):
    """How many candidates are graded."""

    k: int = Field(10, ge=1, le=200, description="Passages retrieved and graded per search.")


class GradingSection(Section):
    """Grades and their thresholds."""

    grader: str = Field("cascade", description="Plugin of the group tadasu.graders: cascade, features, scorer, llm.")
    scorer: str = Field("shipped", description="Plugin of the group tadasu.scorers: the second tier; empty: none.")
    llm: bool = Field(default=False, description="Ask the chat model about passages that are still uncertain.")
    llm_batch: int = Field(5, ge=1, le=20, description="Passages in one call of the chat model.")
    llm_calls: int = Field(10, ge=1, le=100, description="Calls of the chat model at the same time.")
    fall_back: bool = Field(
        default=False,
        description="Where a later tier fails: true keeps the earlier tier's grade, false leaves UNGRADED.",
    )
    tau_high: float | None = Field(None, ge=0, le=1, description="HIGH from here; unset: as calibrated.")
    tau_low: float | None = Field(None, ge=0, le=1, description="LOW below this; unset: as calibrated.")


class ScorerSection(Section):
    """The second tier of grading: a model that scores pairs."""

    path: str = Field("", description="For onnx: folder with model.onnx and tokenizer.json.")
    scale: ScoreScale | None = Field(None, description="What its scores mean: logit or probability. Never guessed.")
    base_url: str = Field("", description="For rerank and http: address of the service.")
    model: str = Field("", description="For rerank: model name as the service knows it.")
    key_variable: str = Field("", description="Environment variable that holds the key; empty: none is sent.")
    timeout_s: float = Field(10.0, gt=0, description="Seconds before a call is given up.")
    threads: int = Field(2, ge=1, le=64, description="Threads of ONNX Runtime.")
    max_tokens: int = Field(512, ge=64, le=8192, description="For onnx: the model's longest input.")
    price: float | None = Field(None, ge=0, description="US dollars per thousand pairs; unset: unpriced.")


class CacheSection(Section):
    """Where scores of graders are remembered."""

    engine: str = Field("sqlite", description="Plugin of the group tadasu.caches: sqlite, memory, redis; empty: off.")
    url_variable: str = Field("TADASU_REDIS_URL", description="For redis: environment variable that holds the address.")
    max_mb: int = Field(256, ge=1, description="Size at the most; what was unused longest goes first.")
    days: float = Field(90.0, gt=0, description="Scores that were not used for so long go.")


class CorrectionSection(Section):
    """What follows a verdict."""

    rule: VerdictRule = Field(VerdictRule.ANY_HIGH, description="any_high (the CRAG paper's) or high_share.")
    quality_threshold: float = Field(0.6, ge=0, le=1, description="Share of HIGH passages that high_share wants.")
    max_searches: int = Field(2, ge=0, le=10, description="Further searches of the own documents.")
    max_web_searches: int = Field(1, ge=0, le=10, description="Searches of the web, counted apart.")
    medium_kept: int = Field(2, ge=0, description="MEDIUM passages that go on.")
    medium_kept_exhausted: int = Field(3, ge=0, description="The same once searches are exhausted.")
    ungraded: Reaction = Field(
        Reaction.CLOSED, description="closed: UNGRADED passages stay out; open: they go on; abstain: no answer."
    )
    grader_failed: Reaction = Field(
        Reaction.CLOSED,
        description="Nothing could be graded. closed: only what is known to be good; open: go on unchecked; abstain.",
    )
    no_documents: Reaction = Field(
        Reaction.CLOSED,
        description="No passage was found. closed, open: the web may answer; abstain: it is not even asked.",
    )
    search_failed: Reaction = Field(
        Reaction.CLOSED,
        description="A search failed. closed: other sources, and only what is good; open: what there is; abstain.",
    )
    budget_spent: Reaction = Field(
        Reaction.CLOSED,
        description="The budget is spent. closed: only what is good; open: what there is, unchecked; abstain.",
    )
    incorrect: ReservePolicy = Field(
        ReservePolicy.ABSTAIN, description="abstain, or use_with_warning: the LOW passages with a warning."
    )
    rewrite: bool = Field(default=True, description="Let the chat model, where there is one, write further queries.")
    rewrite_seconds: float = Field(10.0, gt=0, description="Seconds before that is given up and rules take over.")


class RefinementSection(Section):
    """From passages to evidence."""

    strength: Strength = Field(
        Strength.MILD, description="What is left out: off (whole passages), mild, strong; the next two go before it."
    )
    strip_threshold: float | None = Field(
        None, ge=0, le=1, description="Strips from this probability on are selected; unset: as strength says."
    )
    neighbours: int | None = Field(
        None, ge=0, le=5, description="Strips kept on each side of a selected one; unset: as strength says."
    )
    token_budget: int = Field(1024, ge=64, description="Tokens of evidence at the most.")
    order: EvidenceOrder = Field(
        EvidenceOrder.DOCUMENT, description="document: as it stands there; edges: the best passages first and last."
    )
    tokenizer: str = Field(
        "",
        description="tokenizer.json of the answering model; estimate; empty: an estimate for a chat model, else the"
        " encoder's.",
    )
    restore: bool = Field(
        default=True, description="Where a HIGH passage is there and nothing was found, try once more with it whole."
    )


class GenerationSection(Section):
    """How answers of a chat model are checked and shown."""

    unsupported: Unsupported = Field(
        Unsupported.REMOVE,
        description="A sentence that nothing supports. remove; rewrite: the model writes it once more, which is checked"
        " again; flag: shown with a mark and without a citation.",
    )
    release: Release = Field(
        Release.CHECKED,
        description="checked: text is told sentence by sentence; at_once: as it is written, corrected by an event.",
    )


class AbstentionSection(Section):
    """When quotations answer, and when "not known" does."""

    threshold: float = Field(
        0.05, ge=0, le=1, description="Nothing is quoted where the evidence is sufficient with a lower score than this."
    )
    on_conflict: OnConflict = Field(
        OnConflict.TELL, description="Where documents contradict each other: tell both sides, or abstain."
    )
    read: bool = Field(default=True, description="Let a model read where the answer stands; false: by rules alone.")


class CheckingSection(Section):
    """Whether what a chat model wrote is supported by what it cites: rules, then a model that reads both."""

    model: str = Field(
        "shipped",
        description="shipped, onnx (a classifier of entailment), llm (the chat model of the role check), or another"
        " plugin of the group tadasu.checkers; empty: rules alone.",
    )
    path: str = Field("", description="Folder of the model, from the workspace or absolute; empty: the shipped one.")
    max_tokens: int = Field(512, ge=64, description="Tokens that a model of onnx reads at once, at the most.")
    doubt: float = Field(
        0.2, ge=0, le=1, description="What the rules let through holds from this probability of support on."
    )
    trust: float = Field(
        0.5, ge=0, le=1, description="What the rules refuse for its wording alone holds from this probability on."
    )
