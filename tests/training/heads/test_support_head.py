"""The support head learns, its part of a file says the same as the network, and the grader's own numbers stay."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is in the `train` group only (make train)")

from tadasu.ports import Claim  # noqa: E402
from tadasu.providers.support import open_support_head  # noqa: E402
from tadasu.testing import datasets  # noqa: E402
from tadasu.testing.splits import Split  # noqa: E402
from training import main  # noqa: E402
from training.encoder_calibration import session  # noqa: E402
from training.grader import evaluate  # noqa: E402
from training.grader.batches import PAD  # noqa: E402
from training.heads import export, finish, loop  # noqa: E402
from training.heads.claims import ClaimRow, path_of, write_rows  # noqa: E402
from training.heads.loop import HeadPlan, HeadTraining  # noqa: E402
from training.heads.network import HeadShape, SupportNetwork, restore, saved  # noqa: E402
from training.heads.pairs import ClaimEncoder, batches, collate  # noqa: E402
from training.heads.trunk import read_student  # noqa: E402

MODELS = Path(__file__).resolve().parents[3] / "models"
ENCODER, GRADER = MODELS / "encoder", MODELS / "grader"
SHAPE = HeadShape(start=4, stop=6, rank=4)
SOURCES = {"en": "{} was built by {} in spring. It stands by a river.", "ja": "{}は春に{}が建てた。川のほとりにある。"}
CLAIMS = {"en": "{} was built by {}.", "ja": "{}は{}が建てました。"}
PLACES = {"en": ("Oslo Mill", "Lima Tower", "Cairo Gate"), "ja": ("京都水車", "奈良の塔", "札幌の門")}
PEOPLE = {"en": ("Anna Lind", "Peter Holm", "Mary Cole"), "ja": ("田中一郎", "鈴木花子", "高橋健")}
LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])


@pytest.fixture(scope="module")
def encoder() -> ClaimEncoder:
    return ClaimEncoder.load(ENCODER)


@pytest.fixture
def network() -> SupportNetwork:
    made = SupportNetwork(read_student(GRADER, encoder=ENCODER), SHAPE)
    with torch.no_grad():
        for moved in made.moved:
            for beside in cast("Any", moved).beside.values():
                beside.up.normal_(0.0, 0.02)
    made.eval()
    return made


def rows() -> list[ClaimRow]:
    found = []
    for language in ("en", "ja"):
        for place in PLACES[language]:
            for person in PEOPLE[language]:
                source = SOURCES[language].format(place, person)
                for other in PEOPLE[language]:
                    claim = CLAIMS[language].format(place, other)
                    at = claim.index(other)
                    wrong = () if other == person else ((at, at + len(other)),)
                    found.append(ClaimRow("mills", "swap", language, "", claim, source, int(not wrong), wrong))
    return found


@LANGUAGES
def test_a_pair_holds_claim_and_source_and_marks_the_wrong_tokens(encoder: ClaimEncoder, language: str) -> None:
    row = next(one for one in rows() if one.language == language and not one.label)
    row = replace(row, question={"en": "Who built it?", "ja": "誰が建てた?"}[language])
    pair = encoder.pair(row)
    assert pair is not None
    assert pair.ids[0] == 0
    assert pair.ids[pair.start - 1] == encoder.separator
    assert (pair.ids == 2).sum() == 3
    assert 0 < (pair.wrong == 1).sum() < len(pair.wrong)
    unknown = encoder.pair(replace(row, wrong=None))
    assert unknown is not None
    assert (unknown.wrong == -1).all()
    assert encoder.pair(replace(row, source=row.source * 60)) is None
    assert encoder.pair(replace(row, sentence="")) is None


def test_batches_hold_every_pair_once(encoder: ClaimEncoder) -> None:
    pairs = [pair for row in rows() if (pair := encoder.pair(row)) is not None]
    made = list(batches(pairs, tokens=400, seed=1))
    assert sum(len(one.label) for one in made) == len(pairs)
    assert all(one.ids.size <= 400 for one in made)


def test_the_head_learns_who_built_what(encoder: ClaimEncoder, network: SupportNetwork, tmp_path: Path) -> None:
    write_rows(path_of("mills", Split.TRAIN, where=tmp_path), rows())
    plan = HeadPlan(shape=SHAPE, rate=3e-3, minutes=1000.0, warm_up=0.0)
    training = HeadTraining(network, plan, encoder, rows=tmp_path, out=tmp_path / "run")
    batch = collate([pair for row in rows()[::9] + rows()[1::9] if (pair := encoder.pair(row)) is not None])
    before = training.step(batch)
    for _ in range(9):
        after = training.step(batch)
    assert after["pair"] < 0.8 * before["pair"]
    assert after["place"] < before["place"]
    training.save()
    again = HeadTraining(SupportNetwork(network.trunk, SHAPE), plan, encoder, rows=tmp_path, out=tmp_path / "run")
    assert again.resume()
    assert again.progress == training.progress
    one, other = (loop.scored(rows()[:6], encoder, loop.torch_scorer(n))[1] for n in (network, again.network))
    assert one.tolist() == other.tolist()
    again.forget()
    assert not again.resume()


def test_a_checkpoint_of_another_shape_is_refused(network: SupportNetwork) -> None:
    with pytest.raises(ValueError, match="another shape"):
        restore(SupportNetwork(network.trunk, HeadShape(5, 6, 4)), saved(network))


def test_the_student_in_the_shipped_file_scores_as_the_file_does() -> None:
    student = read_student(GRADER, encoder=ENCODER)
    running = session(str(GRADER / "model.onnx"))
    encoder = ClaimEncoder.load(ENCODER)
    for row in rows()[::7]:
        pair = encoder.pair(row)
        assert pair is not None
        ids = pair.ids[None]
        logit, tokens = running.run(
            ["passage_logit", "token_logits"], {"input_ids": ids, "attention_mask": ids * 0 + 1}
        )
        with torch.no_grad():
            scores = student(torch.from_numpy(ids))
        assert float(scores.passages) == pytest.approx(float(logit[0]), abs=0.6)
        words = tokens[0] > evaluate.FAR
        assert words.tolist() == (scores.tokens[0].numpy() > evaluate.FAR).tolist()


@pytest.fixture
def written(network: SupportNetwork, tmp_path: Path) -> tuple[Path, dict[str, object]]:
    for name in ("model.onnx", "grader.json", "heads.json"):
        shutil.copy(GRADER / name, tmp_path)
    return tmp_path, export.write_part(network, network.trunk, tmp_path)


def test_the_part_is_small_and_the_whole_says_what_the_network_says(
    network: SupportNetwork, encoder: ClaimEncoder, written: tuple[Path, dict[str, object]]
) -> None:
    folder, told = written
    assert (folder / "support.onnx").stat().st_size < 600_000
    exact = export.graph_of(network, network.trunk, quantised=False).SerializeToString()
    scorers = [finish.onnx_scorer(exact), finish.onnx_scorer(export.whole_bytes(folder, told))]
    pairs = [pair for row in rows() if (pair := encoder.pair(row)) is not None]
    same, small = (np.array([float(score(pair.ids[None])[0]) for pair in pairs]) for score in scorers)
    with torch.no_grad():
        ours = np.array([float(network(torch.from_numpy(pair.ids[None])).pairs) for pair in pairs])
    assert np.abs(same - ours).max() < 1e-3
    assert np.abs(small - ours).max() < 0.25
    batch = collate(pairs[::11])
    padded = scorers[0](batch.ids)
    assert np.allclose(padded, same[::11], atol=1e-3)
    assert (batch.ids == PAD).any()


def test_a_grader_made_of_other_numbers_is_refused(network: SupportNetwork, tmp_path: Path) -> None:
    shutil.copy(GRADER / "model.onnx", tmp_path)
    with torch.no_grad():
        cast("Any", network.trunk.layers[0]).mix.weight.mul_(1.5)
    with pytest.raises(ValueError, match="another student"):
        export.write_part(network, network.trunk, tmp_path)


def test_writing_a_head_leaves_the_grader_as_it_is() -> None:
    card = json.loads((GRADER / "grader.json").read_text(encoding="utf-8"))
    heads = json.loads((GRADER / "heads.json").read_text(encoding="utf-8"))
    assert heads["grader"] == card["id"] == "student-1.1.0-cbe02414"
    assert heads["support"]["of"]["sha256"] == card["files"]["model.onnx"]
    assert (GRADER / "support.onnx").stat().st_size <= export.LIMIT
    data = (GRADER / "model.onnx").read_bytes()
    assert all(0 <= a < b <= len(data) for a, b in heads["support"]["borrowed"])


def test_curves_make_probabilities_and_figures_count_both_sides() -> None:
    claims = rows()
    logits = np.array([3.0 if row.label else -1.0 for row in claims]) + np.linspace(-0.5, 0.5, len(claims))
    curves = finish.curves_of(claims, logits)
    assert set(curves) == {"en", "ja"}
    assert all(factor > 0 for _, factor in curves.values())
    told = loop.figures(claims, logits)
    assert told["all ja"]["auc"] == told["en swap"]["balanced"] == 1.0


@pytest.mark.slow
def test_a_smoke_run_makes_all_files_from_the_shared_sets(tmp_path: Path) -> None:
    if not (datasets.folder() / "jsquad").is_dir():
        pytest.skip(f"the shared data is not at {datasets.folder()}; set TADASU_DATA")
    arguments = ["heads", "--smoke", "--minutes", "0.3", "--threads", "1", "--rows", str(tmp_path)]
    assert main.main(arguments) == 0
    folder = tmp_path / "heads-model"
    card = json.loads((folder / "heads.json").read_text(encoding="utf-8"))
    head = open_support_head(copied(folder, tmp_path))
    likely = head.support_now([Claim(row.sentence, row.source) for row in rows()[:4]])
    assert all(0.0 <= one <= 1.0 for one in likely)
    assert card["support"]["file"] in (folder / "heads.md").read_text(encoding="utf-8")
    assert (GRADER / "model.onnx").read_bytes() == (folder / "model.onnx").read_bytes()
    assert main.main(arguments) == 0


def copied(folder: Path, where: Path) -> Path:
    """The folder where the encoder's tokenizer is found beside it."""
    models = where / "models"
    shutil.copytree(folder, models / "grader")
    (models / "encoder").symlink_to(ENCODER)
    return models / "grader"
