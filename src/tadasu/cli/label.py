"""`tadasu label`: a question, a passage, one key; until there are labels enough to calibrate by."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.consent import YesOption, agreed
from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, clean, write_line
from tadasu.core.usage import Stage

if TYPE_CHECKING:
    import asyncio

    from rich.console import Console

    from tadasu.app.labelling import Asked, Asking
    from tadasu.app.labels import LabelBook
    from tadasu.app.tadasu import Tadasu

_YES, _NO, _SKIP, _UNDO, _QUIT = "ynsuq"
_MARKED = 2
_MARK_FROM = 0.2


def label(
    frame: Frame,
    *,
    questions: Annotated[
        Path | None,
        typer.Option("--questions", "-q", metavar="FILE", help="Questions to label for, one a line; text or JSONL."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Stop after so many labels.")
    ] = None,
    yes: YesOption = False,
) -> Exit | None:
    """Say which passages answer which questions.

    Shows a question and a passage and wants one key: y (it answers), n (it does not), s (skip), u (undo), q (quit).
    About 60 labels are enough for `tadasu calibrate`; that takes about ten minutes.

    Pairs come from the latest runs, or from the searches for the questions in a file: half from where the grader itself
    is not sure, the rest from where it is. Every answer is kept at once; the same command goes on where it stopped.

    \b
    Examples:
      tadasu label
      tadasu label --questions questions.txt
    """
    from tadasu.app.labelling import read_questions
    from tadasu.app.labels import LabelBook

    with frame.opened() as (tadasu, runner):
        if questions is not None:
            asked = len(read_questions(questions))
            if not agreed(frame, tadasu, questions=asked, yes=yes, stages=frozenset({Stage.GRADE})):
                return Exit.INTERRUPTED
        book = LabelBook(tadasu.workspace.labels_file)
        asking = _asking(frame, tadasu, runner, book, questions)
        given = _Loop(frame, tadasu, runner, asking, book).run(limit)
        known = book.labels()
    relevant = sum(one.relevant for one in known)
    counts = {"labels": len(known), "relevant": relevant, "irrelevant": len(known) - relevant}
    if frame.json:
        frame.emit({"given": given, **counts, "pairs_left": asking.left, "file": str(book.path)})
    else:
        _conclude(frame, counts, book.path)
    return None


def _asking(frame: Frame, tadasu: Tadasu, runner: asyncio.Runner, book: LabelBook, questions: Path | None) -> Asking:
    from tadasu.app.labelling import Asking, pool_of_questions, pool_of_runs, read_questions

    if questions is None:
        pool = pool_of_runs(tadasu.container)
    else:
        wanted = read_questions(questions)

        def show(done: int, total: int) -> None:
            if done == total or done % 25 == 0:
                text = "{done} of {total} questions searched"
                write_line(sys.stderr, frame.say(text, done=done, total=total))

        pool = runner.run(pool_of_questions(tadasu, wanted, on_progress=show))
    return Asking(tadasu.container, pool, known=book.pairs())


class _Loop:
    """Asks until there is nothing left, enough, or the person has had enough."""

    def __init__(self, frame: Frame, tadasu: Tadasu, runner: asyncio.Runner, asking: Asking, book: LabelBook) -> None:
        self._frame, self._tadasu, self._runner = frame, tadasu, runner
        self._asking, self._book = asking, book
        self._console: Console = frame.err() if frame.json else frame.out()
        known = book.labels()
        self._yes, self._no = sum(one.relevant for one in known), sum(not one.relevant for one in known)
        self._given: list[tuple[Asked, str]] = []
        self._again: list[Asked] = []

    def run(self, limit: int | None) -> int:
        """Ask; give back how many labels there are from this session."""
        self._say("Does the passage answer the question?", style="bold")
        while limit is None or len(self._given) < limit:
            asked = self._again.pop() if self._again else self._runner.run(self._asking.next())
            if asked is None:
                self._say("There are no more pairs. Ask more questions, then label again.")
                break
            self._show(asked)
            key = self._answer()
            if key == _QUIT:
                break
            if key == _UNDO:
                self._undo(asked)
            elif key in {_YES, _NO}:
                self._keep(asked, key)
        return len(self._given)

    def _keep(self, asked: Asked, key: str) -> None:
        from tadasu.app.labels import LabelLine
        from tadasu.core.grades import Level

        pair, passage = asked.pair, asked.passage
        self._book.add(
            LabelLine(
                question=pair.question,
                passage=pair.passage_id,
                document=passage.document_id,
                source=passage.source,
                label=int(key == _YES),
                picked="uncertain" if pair.level is Level.MEDIUM else "random",
                stratum=pair.level.value,
                share=round(asked.share, 6),
                probability=round(pair.probability, 6),
                at=self._tadasu.container.clock.now().isoformat(timespec="seconds"),
            )
        )
        self._count(key, 1)
        self._given.append((asked, key))
        self._asking.answered(asked)

    def _undo(self, asked: Asked) -> None:
        self._again.append(asked)
        if not self._given or not self._book.undo():
            self._say("There is nothing to undo.")
            return
        before, key = self._given.pop()
        self._count(key, -1)
        self._asking.taken_back(before)
        self._again.append(before)
        self._say("The last label is taken back.")

    def _count(self, key: str, by: int) -> None:
        if key == _YES:
            self._yes += by
        else:
            self._no += by

    def _show(self, asked: Asked) -> None:
        from tadasu.app.labelling import ENOUGH

        console = self._console
        console.print()
        text = "{done} labels ({yes} yes, {no} no); {left} to go"
        if self._yes + self._no == 1:
            text = "{done} label ({yes} yes, {no} no); {left} to go"
        left = max(0, ENOUGH - self._yes - self._no)
        self._say(text, style="dim", done=self._yes + self._no, yes=self._yes, no=self._no, left=left)
        console.print(clean(asked.pair.question), style="bold", soft_wrap=True)
        passage = asked.passage
        where = " › ".join([passage.source, *passage.headings])
        page = self._frame.say("page {page}", page=passage.page) if passage.page is not None else ""
        console.print(clean(" · ".join(filter(None, (where, page, passage.date)))), style="cyan", soft_wrap=True)
        self._passage(asked)

    def _passage(self, asked: Asked) -> None:
        from rich.text import Text

        passage, scores = asked.passage, asked.pair.strip_scores
        ranked = sorted(range(len(scores)), key=lambda at: -scores[at])[:_MARKED]
        marked = {at for at in ranked if scores[at] >= _MARK_FROM} if len(scores) == len(passage.strips) else set()
        coloured = self._console.is_terminal
        shown = Text()
        for at, strip in enumerate(passage.strips):
            words = clean(strip.of(passage.text))
            bare = words.rstrip()
            if at in marked:
                shown.append(bare if coloured else f"»{bare}«", style="bold yellow")
                shown.append(words[len(bare) :])
            else:
                shown.append(words)
        self._console.print(shown, soft_wrap=not coloured)

    def _answer(self) -> str:
        keys = self._frame.say("y yes  n no  s skip  u undo  q quit")
        self._console.print(f"[{keys}] ", end="", markup=False)
        while True:
            key = unicodedata.normalize("NFKC", _key()).lower()
            if key in {_YES, _NO, _SKIP, _UNDO, _QUIT}:
                self._console.print(key)
                return key

    def _say(self, text: str, *, style: str | None = None, **values: object) -> None:
        self._console.print(self._frame.say(text, **values), style=style, soft_wrap=True, markup=False)


def _key() -> str:
    """One key of a terminal, or the next letter of a pipe; q at its end."""
    if sys.stdin.isatty():
        try:
            return typer.getchar()
        except EOFError:
            return _QUIT
    while letter := sys.stdin.read(1):
        if not letter.isspace():
            return letter
    return _QUIT


def _conclude(frame: Frame, counts: dict[str, int], path: Path) -> None:
    from tadasu.answering.grading.fitting import missing_labels
    from tadasu.app.labelling import ENOUGH

    console = frame.out()
    console.print()
    text = "{labels} labels in {path}: {relevant} relevant, {irrelevant} not."
    if counts["labels"] == 1:
        text = "{labels} label in {path}: {relevant} relevant, {irrelevant} not."
    console.print(frame.say(text, path=path, **counts), style="bold", soft_wrap=True, markup=False)
    relevant, irrelevant = missing_labels(counts["relevant"], counts["irrelevant"])
    if relevant or irrelevant:
        text = (
            "At least {relevant} more relevant ones and {irrelevant} others are needed before `tadasu calibrate` can "
            "use them."
        )
        words = frame.say(text, relevant=relevant, irrelevant=irrelevant)
    elif counts["labels"] < ENOUGH:
        words = frame.say("{left} more make a good start; `tadasu label` goes on.", left=ENOUGH - counts["labels"])
    else:
        words = frame.say("That is a good start: run `tadasu calibrate`.")
    console.print(words, soft_wrap=True, markup=False)
