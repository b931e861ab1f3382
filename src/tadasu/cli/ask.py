"""`tadasu ask`: one question, a conversation, or a file of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tadasu.cli.asking import ask_once
from tadasu.cli.consent import YesOption
from tadasu.cli.exits import Exit, exit_of_run
from tadasu.cli.filters import LanguageFilter, SinceFilter, SourceFilter, UntilFilter, check_dates, scope_of
from tadasu.cli.frame import Frame
from tadasu.errors import InputInvalid


def ask(
    frame: Frame,
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="The question. Without one, a conversation begins.")
    ] = None,
    *,
    batch: Annotated[
        str | None,
        typer.Option("--batch", metavar="FILE", help='Ask every line of a JSONL file ({"question": …}); - for stdin.'),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where a batch writes; questions answered there are skipped."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=64, help="Questions of a batch at once.")
    ] = 4,
    defer: Annotated[
        bool, typer.Option("--defer", help="Answer from the first search at once; `tadasu work` corrects it later.")
    ] = False,
    yes: YesOption = False,
    filter_source: SourceFilter = "",
    since: SinceFilter = "",
    until: UntilFilter = "",
    language: LanguageFilter = "",
) -> Exit | None:
    """Answer a question, with sources.

    Streams the checked answer, then says where each part comes from, how the search was corrected, and what it cost.
    Without a question a conversation begins; an empty line or Ctrl-D ends it. A batch whose parts may cost something
    says how much beforehand, and wants to be agreed to.

    \b
    Examples:
      tadasu ask "How long is the warranty of the KPT-340?"
      tadasu ask "保証期間は何年ですか" --since 2026-01-01
      tadasu ask "Who won the tender?" --defer
      tadasu ask --batch questions.jsonl --out runs.jsonl
    """
    check_dates(since=since, until=until)
    if batch is not None:
        if question is not None:
            raise InputInvalid(where="ask", reason="a question and --batch exclude each other", fix="Leave one out.")
        from tadasu.cli.batch import ask_batch

        with frame.opened() as (tadasu, runner):
            scope = scope_of(tadasu, source=filter_source, since=since, until=until, language=language)
            return ask_batch(
                frame,
                tadasu,
                runner,
                batch,
                out=out,
                concurrency=concurrency,
                scope=scope,
                defer=defer,
                yes=yes,
            )
    if out is not None:
        raise InputInvalid(where="--out", reason="is for --batch only", fix="Redirect the output instead.")
    if question is not None and not question.strip():
        raise InputInvalid(where="ask", reason="the question is empty", fix="Write it in quotes after the command.")
    with frame.opened() as (tadasu, runner):
        scope = scope_of(tadasu, source=filter_source, since=since, until=until, language=language)
        if question is None:
            from tadasu.cli.conversation import converse

            return converse(frame, tadasu, runner, scope=scope, defer=defer)
        return exit_of_run(runner.run(ask_once(frame, tadasu, question, scope=scope, defer=defer)))
