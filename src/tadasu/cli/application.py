"""The Typer application: which commands there are, and how a line of arguments becomes an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
import typer.main

from tadasu import __version__
from tadasu.cli import (
    ask,
    cache,
    calibrate,
    config,
    cost,
    demo,
    doctor,
    gaps,
    ingest,
    init,
    jobs,
    label,
    metrics,
    search,
    source,
    stats,
    trace,
    why,
    work,
)
from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, write_line
from tadasu.cli.help_language import exit_codes, localise, wanted_language
from tadasu.cli.shared import DebugOption, JsonOption, LangOption, WorkspaceOption, door, guarded
from tadasu.errors import TadasuError
from tadasu.text.messages import LANGUAGES

app = typer.Typer(
    name="tadasu",
    help="Answers questions over your documents, checks itself, corrects itself, and shows its work.\n\n"
    "Start with `tadasu demo`, or with `tadasu init`, `tadasu ingest FOLDER`, `tadasu ask`.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    add_completion=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)

cache_app = typer.Typer(help="The scores that are remembered.", rich_markup_mode=None, no_args_is_help=True)
config_app = typer.Typer(
    help="What is set, to what, and where it comes from.", rich_markup_mode=None, no_args_is_help=True
)


def _version(*, asked: bool) -> None:
    if asked:
        write_line(sys.stdout, f"tadasu {__version__}")
        raise typer.Exit


@app.callback()
def before_every_command(
    context: typer.Context,
    *,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
    lang: LangOption = "",
    debug: DebugOption = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=lambda asked: _version(asked=asked), help="Show the version and stop."
        ),
    ] = False,
) -> None:
    """Keep the options that stand before the command's name."""
    del version
    context.obj = Frame(workspace=workspace, json=as_json, debug=debug, lang=lang)


for name, function in (
    ("init", init.init),
    ("ingest", ingest.ingest),
    ("ask", ask.ask),
    ("search", search.search),
    ("trace", trace.trace),
    ("why", why.why),
    ("source", source.source),
    ("stats", stats.stats),
    ("cost", cost.cost),
    ("gaps", gaps.gaps),
    ("metrics", metrics.metrics),
    ("work", work.work),
    ("jobs", jobs.jobs),
    ("label", label.label),
    ("calibrate", calibrate.calibrate),
    ("doctor", doctor.doctor),
    ("demo", demo.demo),
):
    app.command(name, no_args_is_help=False)(door(function))
config_app.command("show")(door(config.show))
cache_app.command("clear")(door(cache.clear))
app.add_typer(config_app, name="config")
app.add_typer(cache_app, name="cache")


class CommandInvalid(TadasuError):
    """The line of arguments cannot be read."""

    code = "usage"
    message = "{reason}"
    hint_template = "See `{command} --help`."


class WordsUnquoted(CommandInvalid):
    """A question of several words came as several arguments."""

    message = "The question is cut into several arguments."
    hint_template = 'Write it in quotes: {command} "…"'


def run(argv: Sequence[str]) -> int:
    """Run one line of arguments and give back its exit code; never raises for what a user did."""
    lang = wanted_language(argv, "")
    frame = Frame(json="--json" in argv, debug="--debug" in argv, lang=lang if lang in LANGUAGES else "")
    result: list[int] = []

    def whole() -> Exit | None:
        result.append(_invoke(argv, frame))
        return None

    outside = guarded(frame, whole)
    return result[0] if result else outside


_ONE_SENTENCE = frozenset({"tadasu ask", "tadasu search"})

# Click's own base class of usage errors, under whatever name this version of Typer carries it.
_Refused: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def _invoke(argv: Sequence[str], frame: Frame) -> int:
    try:
        command = typer.main.get_command(app)
        localise(command, frame.language)
        command.epilog = exit_codes(frame.language)
        code = command(args=list(argv), prog_name="tadasu", standalone_mode=False)
    except _Refused as problem:
        return _refuse(problem, frame)
    except typer.Abort:
        return Exit.INTERRUPTED
    return code if isinstance(code, int) else Exit.OK


def _refuse(problem: BaseException, frame: Frame) -> int:
    context = getattr(problem, "ctx", None)
    if context is not None and type(problem).__name__ == "NoArgsIsHelpError":
        write_line(sys.stdout, context.get_help())
        return Exit.OK
    command = context.command_path if context is not None else "tadasu"
    reason = str(getattr(problem, "format_message", lambda: str(problem))())
    kind = WordsUnquoted if command in _ONE_SENTENCE and "extra argument" in reason else CommandInvalid
    frame.show_error(kind(reason=reason, command=command))
    return Exit.USAGE
