"""A grader behind HTTP, chosen in tadasu.toml: the real chain, with the service well, failing and gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadasu import AnswerStatus, Reason, Tadasu, Verdict
from tadasu.app.doctor import diagnose
from tadasu.app.findings import Health
from tadasu.app.workspace import create_workspace
from tadasu.core.grades import Level
from tadasu.core.runs import Run
from tadasu.core.usage import Outcome, Stage
from tadasu.errors import SettingsInvalid
from tadasu.testing.scorer_server import Manner, ScorerServer

pytestmark = pytest.mark.enable_socket

ENGLISH = "How long is the warranty of the PT-300?"
JAPANESE = "LD-90の保証期間はどのくらいですか？"
QUESTIONS = [(ENGLISH, "36 months"), (JAPANESE, "24か月")]
DOCUMENTS = {
    "warranty.md": "# Warranty of the PT-300\n\nThe warranty of the PT-300 is 36 months from delivery.\n",
    "保証.md": "# LD-90の保証\n\nLD-90の保証期間は納入から24か月です。\n",
    "canteen.md": "# Canteen\n\nThe canteen opens at noon.\n",
}


def scoring(question: str, text: str) -> float:
    """Whether the text is about the thing that is asked about."""
    return next((0.97 for name in ("PT-300", "LD-90") if name in question and name in text), 0.02)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("remote")
    create_workspace(root, "")
    documents = root / "documents"
    documents.mkdir(exist_ok=True)
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, "utf-8")
    tadasu = Tadasu.open(root)
    assert tadasu.sync.ingest(documents).added == 3
    tadasu.sync.close()
    return root


@pytest.fixture(autouse=True)
def searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TADASU_CORRECTION__MAX_SEARCHES", "0")
    monkeypatch.setenv("TADASU_LIMITS__ATTEMPTS", "1")


async def asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, question: str, url: str, scorer: str = "rerank", **more: str
) -> Run:
    settings = {
        "GRADING__GRADER": "scorer",
        "GRADING__SCORER": scorer,
        "SCORER__SCALE": "probability",
        "SCORER__BASE_URL": url,
    }
    for name, value in (settings | more).items():
        monkeypatch.setenv(f"TADASU_{name}", value)
    tadasu = Tadasu.open(root)
    try:
        return await tadasu.ask(question)
    finally:
        await tadasu.close()


@pytest.mark.parametrize("scorer", ["rerank", "http"])
@pytest.mark.parametrize(("question", "holds"), QUESTIONS)
async def test_a_service_grades_and_the_run_tells(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, question: str, holds: str, scorer: str
) -> None:
    with ScorerServer(scoring=scoring) as server:
        url = server.base_url if scorer == "rerank" else server.score_url
        run = await asked(workspace, monkeypatch, question, url, scorer, CACHE__ENGINE="")
    assert run.rounds[0].verdict is Verdict.CORRECT
    assert holds in run.answer.text
    [call] = [call for call in run.calls if call.stage is Stage.GRADE]
    assert (call.provider, call.outcome, call.items) == (scorer, Outcome.OK, 3)
    assert "the grades are not calibrated" in run.warnings


@pytest.mark.parametrize(("question", "holds"), QUESTIONS)
async def test_a11_a_service_that_fails_is_grader_failed_and_opened_by_the_settings(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, question: str, holds: str
) -> None:
    with ScorerServer([Manner.FAULT], scoring=scoring) as server:
        run = await asked(workspace, monkeypatch, question, server.base_url)
        assert run.rounds[0].verdict is Verdict.GRADER_FAILED
        assert run.answer.reason is Reason.GRADER_FAILED
        assert {one.grade.level for one in run.rounds[0].candidates} == {Level.UNGRADED}
        assert "HTTP 500" in run.rounds[0].error
        opened = await asked(workspace, monkeypatch, question, server.base_url, CORRECTION__GRADER_FAILED="open")
    assert opened.answer.status is AnswerStatus.ANSWERED
    assert holds in opened.answer.text
    assert any("could not be graded" in warning for warning in opened.warnings)


async def test_a11_a_failure_is_not_remembered_and_a_score_is(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScorerServer([Manner.FAULT, Manner.MISSING, Manner.WELL], scoring=scoring) as server:
        verdicts = [
            (await asked(workspace, monkeypatch, ENGLISH, server.base_url, SCORER__MODEL="remembered"))
            .rounds[0]
            .verdict
            for _ in range(4)
        ]
        sent = [len(body["documents"]) for body in server.requests]
    assert sent == [3, 3, 1], "the lost one is asked for again, then nothing is"
    assert verdicts[0] is Verdict.GRADER_FAILED
    assert verdicts[2:] == [Verdict.CORRECT] * 2


async def test_a_service_that_fails_once_is_asked_again_and_both_attempts_are_in_the_run(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"LIMITS__ATTEMPTS": "3", "LIMITS__BACKOFF_S": "0.01", "CACHE__ENGINE": ""}
    with ScorerServer([Manner.FAULT, Manner.WELL], scoring=scoring) as server:
        run = await asked(workspace, monkeypatch, ENGLISH, server.base_url, **more)
    assert run.verdict is Verdict.CORRECT
    calls = [(call.attempt, call.outcome) for call in run.calls if call.provider == "rerank"]
    assert calls == [(1, Outcome.FAILED), (2, Outcome.OK)]


async def test_a_service_that_stays_away_is_left_alone_and_the_run_says_what_it_last_said(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"LIMITS__ATTEMPTS": "5", "LIMITS__BACKOFF_S": "0.01", "LIMITS__BREAKER_FAULTS": "2", "CACHE__ENGINE": ""}
    with ScorerServer([Manner.FAULT] * 9, scoring=scoring) as server:
        run = await asked(workspace, monkeypatch, ENGLISH, server.base_url, **more)
        assert len(server.requests) == 2
    assert run.verdict is Verdict.GRADER_FAILED
    assert "HTTP 500" in run.rounds[0].error
    assert "it is tried again in" in run.rounds[0].error


async def test_an_undeclared_scale_is_refused_with_what_to_write(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TADASU_GRADING__GRADER", "scorer")
    monkeypatch.setenv("TADASU_GRADING__SCORER", "rerank")
    monkeypatch.setenv("TADASU_SCORER__BASE_URL", "http://127.0.0.1:9")
    tadasu = Tadasu.open(workspace)
    with pytest.raises(SettingsInvalid, match=r"scorer\.scale is not set"):
        await tadasu.ask(ENGLISH)
    await tadasu.close()


@pytest.mark.parametrize("manner", [Manner.WELL, Manner.REFUSED])
async def test_doctor_says_whether_the_service_grades(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, manner: Manner
) -> None:
    monkeypatch.setenv("TADASU_GRADING__GRADER", "scorer")
    monkeypatch.setenv("TADASU_GRADING__SCORER", "rerank")
    monkeypatch.setenv("TADASU_SCORER__SCALE", "probability")
    monkeypatch.setenv("TADASU_CACHE__ENGINE", "")
    with ScorerServer([manner], scoring=scoring) as server:
        monkeypatch.setenv("TADASU_SCORER__BASE_URL", server.base_url)
        tadasu = Tadasu.open(workspace)
        found = {one.check: one for one in await diagnose(lambda: tadasu)}
        await tadasu.close()
    if manner is Manner.WELL:
        assert "grading" not in found
        assert found["calibration"].health is Health.WARNING
    else:
        assert "calibration" not in found
        assert found["grading"].health is Health.ERROR
        assert "HTTP 401" in str(found["grading"].details["reason"])
        assert "[scorer]" in found["grading"].advice_template


@pytest.mark.parametrize("manner", [Manner.FAULT, Manner.REFUSED, Manner.NAN, Manner.BEYOND, Manner.MISSING])
@pytest.mark.parametrize(("question", "holds"), QUESTIONS)
async def test_a11_what_could_not_be_graded_is_warned_of_and_never_said_to_be_missing(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, question: str, holds: str, manner: Manner
) -> None:
    monkeypatch.setenv("THE_KEY", "hunter2-secret")
    with ScorerServer([manner], scoring=scoring) as server:
        run = await asked(
            workspace, monkeypatch, question, server.base_url, CACHE__ENGINE="", SCORER__KEY_VARIABLE="THE_KEY"
        )
    lost = sum(one.grade.level is Level.UNGRADED for one in run.rounds[0].candidates)
    [warning] = [one for one in run.warnings if "could not be graded" in one]
    assert warning.startswith(f"{lost} of 3 passages could not be graded: ")
    assert warning.endswith("(`tadasu doctor` says more)")
    assert "hunter2-secret" not in warning
    # The first passage sent is the one that holds the answer.
    assert run.answer.reason is Reason.GRADER_FAILED
    assert holds not in run.answer.text
    said = {"en": "the answer may stand in one of them", "ja": "答えはそこにあるかもしれません"}
    assert said[run.language] in run.answer.text
