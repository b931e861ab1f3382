"""An answer at once, its correction by a job, and the better answer found from the first run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tadasu import AnswerStatus, Reader, Scope, Tadasu, Verdict
from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.app.assets import models_folder
from tadasu.app.deferred import FIRST_SEARCH_ALONE, correct, unsettled
from tadasu.app.worker import Outcome
from tadasu.app.workspace import create_workspace
from tadasu.core.answers import Reason
from tadasu.core.documents import Origin
from tadasu.core.jobs import JobState, correction_job
from tadasu.core.retrieved import WebPage
from tadasu.core.runs import Deferral, Run, SearchMode
from tadasu.core.usage import Priority
from tadasu.errors import InputInvalid, ProviderUnreachable, RunNotFound
from tadasu.ports import Encoder, Ledger, Standing
from tadasu.runtime.world import FixedWorld
from tadasu.storage.runs import read_run, write_run
from tadasu.storage.spending import SqlSpending
from tests.storage.some_runs import everyday_run

IN_THE_WEB = {
    "en": ("What is the boiling point of gallium?", "Gallium", "The boiling point of gallium is 2,403 °C.", "2,403 °C"),
    "ja": ("ガリウムの沸点は何度ですか？", "ガリウム", "ガリウムの沸点は2403℃です。", "2403℃"),
}
IN_THE_DOCUMENTS = {
    "en": ("How long is the warranty of the PT-300?", "36 months"),
    "ja": ("LD-90の保証期間はどのくらいですか？", "24か月"),
}
languages = pytest.mark.parametrize("language", ["en", "ja"])


class Web:
    """A web of two pages that counts its callers, and is down when told."""

    id = "pages"

    def __init__(self) -> None:
        self.down = False
        self.asked: list[tuple[str, Priority]] = []

    async def search(self, query: str, *, limit: int, language: str, ledger: Ledger) -> Sequence[WebPage]:
        assert isinstance(ledger, Standing)
        self.asked.append((query, ledger.priority))
        if self.down:
            raise ProviderUnreachable(provider="pages", reason="no route")
        return [
            WebPage(f"https://{name}.example.com/gallium", title, snippet=text)
            for name, (_, title, text, _) in IN_THE_WEB.items()
        ][:limit]

    async def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("deferred")
    create_workspace(made, '[deferred]\nattempts = 3\n[web]\nprovider = "folder"\nfolder = "web"\n')
    (made / "web").mkdir()
    (made / "web" / "index.jsonl").write_text("", "utf-8")
    documents = made / "documents"
    (documents / "board").mkdir(parents=True)
    texts = {
        "warranty.md": "# Warranty of the PT-300\n\nThe warranty of the PT-300 is 36 months from delivery.\n",
        "保証.md": "# LD-90の保証\n\nLD-90の保証期間は納入から24か月です。\n",
        "board/merger.md": "# Merger\n\nThe merger with Nordkai costs EUR 99 million.\n",
        "board/.tadasu-access.toml": 'groups = ["board"]\n',
    }
    for name, text in texts.items():
        (documents / name).write_text(text, "utf-8")
    tadasu = Tadasu.open(made)
    tadasu.sync.ingest(documents)
    tadasu.sync.close()
    return made


def opened_at(root: Path, web: Web, world: FixedWorld, **sections: dict[str, object]) -> Tadasu:
    tadasu = Tadasu.open(root, **sections)
    tadasu.container.clock = world
    vars(tadasu.container).update(web=web, encoder=encoder())
    return tadasu


@cache
def encoder() -> Encoder:
    """The encoder that is shipped, loaded once."""
    return OnnxEncoder.load(models_folder() / "encoder", threads=1)


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
def world() -> FixedWorld:
    return FixedWorld()


@pytest.fixture
async def tadasu(root: Path, web: Web, world: FixedWorld) -> AsyncIterator[Tadasu]:
    opened = opened_at(root, web, world)
    opened.workspace.state_file.unlink(missing_ok=True)
    yield opened
    await opened.close()


@languages
async def test_a_good_answer_is_final_at_once(tadasu: Tadasu, web: Web, language: str) -> None:
    question, holds = IN_THE_DOCUMENTS[language]
    run = await tadasu.ask(question, defer=True)
    assert holds in run.answer.text
    assert (run.verdict, run.deferred) == (Verdict.CORRECT, Deferral.NONE)
    assert FIRST_SEARCH_ALONE not in run.warnings
    assert tadasu.container.queue.pending() == 0
    assert tadasu.current(run.id) == run
    assert not tadasu.deferred(run).open
    assert web.asked == []


@languages
async def test_the_better_answer_is_found_from_the_first_run(tadasu: Tadasu, web: Web, language: str) -> None:
    question, _, _, holds = IN_THE_WEB[language]
    first = await tadasu.ask(question, defer=True, session="s-1")
    assert (first.deferred, len(first.rounds)) == (Deferral.PENDING, 1)
    assert first.answer.status is AnswerStatus.ABSTAINED
    assert FIRST_SEARCH_ALONE in first.warnings
    assert web.asked == []
    assert tadasu.current(first.id) == first
    standing = tadasu.deferred(first)
    assert standing.open
    assert standing.job is not None
    assert standing.job.state is JobState.WAITING

    made = await tadasu.work()
    assert [one.outcome for one in made] == [Outcome.DONE]
    better = tadasu.current(first.id)
    assert better == made[0].run
    assert holds in better.answer.text
    assert {one.origin for one in better.answer.citations} == {Origin.WEB}
    assert (better.deferred, better.corrects) == (Deferral.DONE, first.id)
    assert (better.question, better.query, better.session) == (first.question, first.query, "s-1")
    assert better.language == first.language == language
    assert {priority for _, priority in web.asked} == {Priority.LOW}
    assert better.calls
    assert tadasu.trace(first.id) == first
    assert tadasu.current(better.id) == better
    assert not tadasu.deferred(first).open
    assert await tadasu.work() == []


async def test_who_waits_for_an_answer_goes_first(tadasu: Tadasu, web: Web) -> None:
    run = await tadasu.ask(IN_THE_WEB["en"][0])
    assert run.deferred is Deferral.NONE
    assert {priority for _, priority in web.asked} == {Priority.HIGH}


async def test_a_web_that_is_down_leaves_the_first_answer_and_is_tried_again(
    tadasu: Tadasu, web: Web, world: FixedWorld
) -> None:
    first = await tadasu.ask(IN_THE_WEB["en"][0], defer=True)
    web.down = True
    made = await tadasu.work()
    assert [one.outcome for one in made] == [Outcome.FAILED]
    assert "no route" in made[0].reason
    assert tadasu.current(first.id) == first == tadasu.trace("last")
    spending = SqlSpending(tadasu.container.state)
    assert spending.broken_off(tenant=None, begins=None, ends=None).count == 1
    standing = tadasu.deferred(first)
    assert standing.open
    assert standing.job is not None
    assert (standing.job.attempts, standing.job.reason) == (1, made[0].reason)
    assert await tadasu.work() == []
    web.down = False
    world.advance(30.0)
    assert [one.outcome for one in await tadasu.work()] == [Outcome.DONE]
    assert "2,403 °C" in tadasu.current(first.id).answer.text


async def test_what_is_given_up_can_be_begun_anew(tadasu: Tadasu, web: Web, world: FixedWorld) -> None:
    first = await tadasu.ask(IN_THE_WEB["ja"][0], defer=True)
    web.down = True
    outcomes = []
    for _ in range(5):
        outcomes += [one.outcome for one in await tadasu.work()]
        world.advance(10_000.0)
    assert outcomes == [Outcome.FAILED, Outcome.FAILED, Outcome.DEAD]
    assert not tadasu.deferred(first).open
    web.down = False
    tadasu.retry(first.id)
    assert [one.outcome for one in await tadasu.work()] == [Outcome.DONE]
    tadasu.retry(first.id)
    assert await tadasu.work() == []
    with pytest.raises(InputInvalid):
        tadasu.retry(tadasu.current(first.id).id)


async def test_the_same_question_twice_is_two_runs_and_two_corrections(tadasu: Tadasu) -> None:
    first, second = [await tadasu.ask(IN_THE_WEB["en"][0], defer=True) for _ in range(2)]
    assert first.id != second.id
    made = await tadasu.work()
    assert [one.job.subject for one in made] == [first.id, second.id]
    assert tadasu.current(first.id).corrects == first.id
    assert tadasu.current(second.id).corrects == second.id


async def test_two_who_do_the_same_job_leave_one_correction(tadasu: Tadasu) -> None:
    first = await tadasu.ask(IN_THE_WEB["en"][0], defer=True)
    job = correction_job(first.id, reader=first.reader, created_at=first.created_at)
    one, other = await asyncio.gather(correct(tadasu.container, job), correct(tadasu.container, job))
    assert one == other == tadasu.current(first.id)
    assert await correct(tadasu.container, job) == one
    assert len(tadasu.container.runs.latest(limit=9, reader=Reader())) == 2


async def test_workers_side_by_side_share_the_jobs(root: Path, tadasu: Tadasu, world: FixedWorld) -> None:
    asked = [await tadasu.ask(IN_THE_WEB[language][0], defer=True) for language in ("en", "ja") * 3]
    other = opened_at(root, Web(), world)
    made = [one for several in await asyncio.gather(tadasu.work(), other.work()) for one in several]
    assert sorted(one.job.subject for one in made) == sorted(run.id for run in asked)
    assert {one.outcome for one in made} == {Outcome.DONE}
    await other.close()


async def test_a_correction_sees_what_the_asker_could_see_and_no_more(tadasu: Tadasu) -> None:
    question = "How much does the merger with Nordkai and Sudkai cost in yen?"
    hidden = await tadasu.ask(question, defer=True)
    board = Scope(reader=Reader(groups=frozenset({"board"})), source_prefix="documents/board")
    shown = await tadasu.ask(question, defer=True, scope=board)
    jobs = {hidden.id: hidden, shown.id: shown}
    for run in jobs.values():
        if run.deferred is Deferral.NONE:  # good at once: the job is left all the same, for what it may see
            tadasu.container.queue.put(correction_job(run.id, reader=run.reader, created_at=run.created_at))
    made = {one.job.subject: one.run for one in await tadasu.work()}
    plain, secret = made[hidden.id], made[shown.id]
    assert plain is not None
    assert secret is not None
    assert "merger.md" not in repr(plain)
    assert "merger.md" in repr(secret)
    assert (secret.reader, secret.scope) == (shown.reader, board)
    with pytest.raises(RunNotFound):
        tadasu.trace(secret.id)
    assert [one.job.subject for one in tadasu.container.queue.jobs(reader=Reader())] == [hidden.id]


async def test_a_follow_up_is_corrected_as_it_was_understood(tadasu: Tadasu) -> None:
    before = await tadasu.ask(IN_THE_WEB["en"][0], session="s-2")
    first = await tadasu.ask("And of mercury?", history=(before,), session="s-2", defer=True)
    assert "boiling point" in first.query
    await tadasu.work()
    better = tadasu.current(first.id)
    assert better.corrects == first.id
    assert (better.query, better.previous_run, better.session) == (first.query, before.id, "s-2")


@pytest.mark.parametrize(
    ("language", "follow_up", "words"),
    [("en", "And of mercury?", ("boiling point", "mercury")), ("ja", "では水銀は？", ("ガリウム", "水銀"))],
)
async def test_the_web_is_asked_for_a_follow_up_in_the_words_of_the_conversation(
    tadasu: Tadasu, web: Web, language: str, follow_up: str, words: tuple[str, str]
) -> None:
    before = await tadasu.ask(IN_THE_WEB[language][0])
    straight = await tadasu.ask(follow_up, history=(before,))
    assert straight.query
    wanted = web.asked[-1][0]
    first = await tadasu.ask(follow_up, history=(before,), defer=True)
    await tadasu.work()
    assert tadasu.current(first.id).corrects == first.id
    assert web.asked[-1][0] == wanted
    assert all(word in wanted for word in words), wanted


async def test_small_talk_and_what_no_search_would_mend_leave_no_job(
    root: Path, tadasu: Tadasu, world: FixedWorld
) -> None:
    thanks = await tadasu.ask("Thank you!", defer=True)
    assert thanks.deferred is Deferral.NONE
    still = opened_at(root, Web(), world, correction={"max_searches": 0, "max_web_searches": 0})
    run = await still.ask(IN_THE_WEB["en"][0], defer=True)
    assert (run.verdict is Verdict.CORRECT, run.deferred) == (False, Deferral.NONE)
    await still.close()


async def test_a_day_whose_budget_is_spent_puts_the_correction_off_until_the_next(
    root: Path, web: Web, world: FixedWorld, tadasu: Tadasu
) -> None:
    first = await tadasu.ask(IN_THE_WEB["en"][0], defer=True)
    limited = opened_at(root, web, world, budget={"day_calls": len(first.calls), "time_zone": "+09:00"})
    made = await limited.work()
    assert [one.outcome for one in made] == [Outcome.FAILED]
    assert "budget.day_calls" in made[0].reason
    standing = limited.deferred(first)
    assert standing.job is not None
    assert standing.job.due.isoformat() == "2026-01-01T15:00:00+00:00"
    assert web.asked == []
    await limited.close()


async def test_a_run_that_is_gone_is_not_tried_again(tadasu: Tadasu) -> None:
    tadasu.container.queue.put(correction_job("run-gone", reader=Reader(), created_at="2026-01-01T00:00:00.000+00:00"))
    made = await tadasu.work()
    assert [(one.outcome, one.reason) for one in made] == [(Outcome.DEAD, "There is no run run-gone here.")]


def test_a_blocking_program_works_off_what_it_put_off(root: Path) -> None:
    tadasu = Tadasu.open(root)
    first = tadasu.sync.ask(IN_THE_WEB["en"][0], defer=True)
    assert tadasu.sync.deferred(first).open
    assert tadasu.sync.work()
    assert tadasu.sync.current(first.id).corrects == first.id
    tadasu.sync.close()


def verdicts(*path: Verdict, error: str = "why") -> Run:
    run = everyday_run()
    rounds = tuple(replace(run.rounds[0], verdict=verdict, error=error, mode=SearchMode.HYBRID) for verdict in path)
    return replace(run, rounds=rounds)


def test_what_something_outside_kept_from_its_end_is_no_correction() -> None:
    assert unsettled(verdicts(Verdict.AMBIGUOUS, Verdict.SEARCH_FAILED)) == "why"
    assert unsettled(verdicts(Verdict.SEARCH_FAILED, Verdict.AMBIGUOUS)) == "why"
    assert unsettled(verdicts(Verdict.GRADER_FAILED, error="")) == "grader_failed"
    assert unsettled(verdicts(Verdict.SEARCH_FAILED, Verdict.CORRECT)) == ""
    assert unsettled(verdicts(Verdict.AMBIGUOUS, Verdict.INCORRECT)) == ""
    spent = verdicts(Verdict.AMBIGUOUS, Verdict.BUDGET_SPENT)
    assert unsettled(spent) == ""
    nothing = replace(spent.answer, status=AnswerStatus.ABSTAINED, reason=Reason.BUDGET_SPENT, citations=())
    assert unsettled(replace(spent, answer=nothing)) == "why"
    day = "The budget of the day does not allow search 2: …"
    assert unsettled(verdicts(Verdict.AMBIGUOUS, Verdict.BUDGET_SPENT, error=day)) == day


def test_runs_from_before_there_were_deferred_ones_are_read() -> None:
    run = everyday_run()
    record = write_run(run).replace(',"deferred":"none","corrects":""', "")
    assert "deferred" not in record
    assert read_run(record) == run
