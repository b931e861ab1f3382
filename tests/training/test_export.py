"""A T5 scorer from a checkpoint to a grader's score."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tadasu.answering.grading.onnx_classifier import OnnxClassifier, open_scorer
from tadasu.core.scores import ScoreScale
from tadasu.core.vectors import PassageText
from tadasu.ports import ScorerSettings
from tests.training import tiny_t5
from training import checkpoints, export, sentencepiece_file, t5_graph

# What transformers 5.24 (T5ForSequenceClassification, T5ForConditionalGeneration) gives for the tensors and inputs of
# tiny_t5, each input alone and without padding; of the generating one the logits of pieces 5 and 4.
CLASSIFIED = {
    False: [[-0.67105], [-0.23548], [-0.11471]],
    True: [[0.69128, 0.56545, -0.01421], [0.80167, -0.25239, -0.64606], [0.04256, -0.18719, -1.68809]],
}
NEXT_WORDS = {
    False: [[-0.25006, 0.12318], [0.07828, -0.27604], [-0.43864, -0.13346]],
    True: [[1.77801, -0.36094], [0.9353, -0.38009], [1.23975, 0.48865]],
}
PAIRS = {
    "en": ("who ?", ("who lady at the court", "a car has four wheels")),
    "ja": ("誰？", ("紫式部。", "猫である。")),
}
LANGUAGES = pytest.mark.parametrize("language", ["en", "ja"])
GATED = pytest.mark.parametrize("gated", [False, True], ids=["relu", "gated gelu"])


def run(model: bytes, rows: np.ndarray, mask: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["logits"], {"input_ids": rows, "attention_mask": mask})[0])


@GATED
def test_a_classifier_gives_what_the_original_gives(gated: bool) -> None:
    labels = len(CLASSIFIED[gated][0])
    shape = t5_graph.shape_of(tiny_t5.config(gated=gated, labels=labels))
    values = tiny_t5.tensors(gated=gated, labels=labels)
    model = t5_graph.classifier(shape, values).SerializeToString()
    assert run(model, *tiny_t5.ids()) == pytest.approx(np.array(CLASSIFIED[gated]), abs=2e-5)
    small = t5_graph.classifier(shape, values, quantised=True).SerializeToString()
    # Rounding to seven bits shows in a network of sixteen channels.
    assert np.abs(run(small, *tiny_t5.ids()) - np.array(CLASSIFIED[gated])).mean() < 0.1
    assert len(small) < len(model)


@GATED
def test_the_odds_of_the_next_word_are_what_the_original_gives(gated: bool) -> None:
    labels = len(CLASSIFIED[gated][0])
    config = tiny_t5.config(gated=gated, labels=labels)
    values = tiny_t5.tensors(gated=gated, labels=labels)
    model = t5_graph.next_words(t5_graph.shape_of(config), values, [5, 4])
    assert run(model.SerializeToString(), *tiny_t5.ids()) == pytest.approx(np.array(NEXT_WORDS[gated]), abs=2e-5)


@GATED
def test_padding_changes_nothing(gated: bool) -> None:
    shape = t5_graph.shape_of(tiny_t5.config(gated=gated))
    model = t5_graph.classifier(shape, tiny_t5.tensors(gated=gated)).SerializeToString()
    rows, mask = tiny_t5.ids()
    together = run(model, rows, mask)
    for index, length in enumerate(mask.sum(axis=1)):
        alone = run(model, rows[index : index + 1, :length], mask[index : index + 1, :length])
        assert alone[0] == pytest.approx(together[index], abs=1e-5)


def opened(folder: Path) -> OnnxClassifier:
    return open_scorer(ScorerSettings(path=folder))


@LANGUAGES
def test_the_papers_evaluator_becomes_a_scorer_of_probabilities(tmp_path: Path, language: str) -> None:
    question, passages = PAIRS[language]
    source = tiny_t5.write_checkpoint(tmp_path / "t5")
    assert export.main([str(source), str(tmp_path / "out"), "--layout", "crag"]) == 0
    scorer = opened(tmp_path / "out")
    assert scorer.scale is ScoreScale.PROBABILITY
    found = scorer.score_now(question, [PassageText(text) for text in passages])
    tokenizer = sentencepiece_file.read_tokenizer(source / "spiece.model")
    model = (tmp_path / "out" / "model.onnx").read_bytes()
    for text, one in zip(passages, found, strict=True):
        ids = np.array([tokenizer.encode(f"{question} [SEP] {text}").ids])
        raw = float(run(model, ids, np.ones_like(ids))[0, 0])
        assert one.score == pytest.approx(min(1.0, max(0.0, (raw + 1) / 2)), abs=1e-5)
    assert found[0].score != found[1].score


@LANGUAGES
def test_true_against_false_becomes_a_scorer_of_log_odds(tmp_path: Path, language: str) -> None:
    question, passages = PAIRS[language]
    source = tiny_t5.write_checkpoint(tmp_path / "t5", gated=True, labels=1)
    assert export.main([str(source), str(tmp_path / "out"), "--layout", "monot5", "--int8"]) == 0
    scorer = opened(tmp_path / "out")
    assert scorer.scale is ScoreScale.LOGIT
    (found,) = scorer.score_now(question, [PassageText(passages[0])])
    ids = sentencepiece_file.read_tokenizer(source / "spiece.model").encode(
        f"Query: {question} Document: {passages[0]} Relevant:"
    )
    rows = np.array([ids.ids])
    no, yes = run((tmp_path / "out" / "model.onnx").read_bytes(), rows, np.ones_like(rows))[0]
    assert found.score == pytest.approx(yes - no, abs=1e-5)


def test_pairs_need_a_scale_and_keep_their_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tiny_t5.write_checkpoint(tmp_path / "t5", labels=2), tmp_path / "out"
    with pytest.raises(SystemExit):
        export.main([str(source), str(out), "--layout", "pair"])
    assert "--scale" in capsys.readouterr().err
    assert export.main([str(source), str(out), "--layout", "pair", "--scale", "logit"]) == 0
    assert not opened(out).score_now("誰？", [PassageText("紫式部。")])[0].failed
    assert export.main([str(source), str(out), "--layout", "crag"]) == 1
    assert "2 labels" in capsys.readouterr().err


def test_weights_too_large_for_one_file_get_their_own_and_are_checked(tmp_path: Path) -> None:
    source, out = tiny_t5.write_checkpoint(tmp_path / "t5"), tmp_path / "out"
    export.export(source, out, export.LAYOUTS["crag"])
    (whole,) = opened(out).score_now("誰？", [PassageText("紫式部。")])
    export.export(source, out, export.LAYOUTS["crag"], largest_file=1_000)
    assert (out / "model.onnx.data").stat().st_size > 1_000
    first = opened(out)
    assert first.score_now("誰？", [PassageText("紫式部。")])[0].score == pytest.approx(whole.score, abs=1e-6)
    export.export(tiny_t5.write_checkpoint(tmp_path / "t5", seed=9), out, export.LAYOUTS["crag"], largest_file=1_000)
    assert opened(out).id != first.id


def test_a_checkpoint_of_pytorch_is_the_same(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed; `make train` installs it")
    source = tiny_t5.write_checkpoint(tmp_path / "t5")
    safe = checkpoints.read_tensors(source)
    state = {name: torch.from_numpy(value) for name, value in tiny_t5.tensors().items()}
    torch.save(state, source / "pytorch_model.bin")
    (source / "model.safetensors").unlink()
    pickled = checkpoints.read_tensors(source)
    assert pickled.keys() == safe.keys() == state.keys()
    assert all(np.array_equal(pickled[name], safe[name]) for name in safe)


@pytest.mark.parametrize(("kind", "near"), [("F32", 0.0), ("F16", 1e-3), ("BF16", 1e-2)])
def test_smaller_floats_are_read(tmp_path: Path, kind: str, near: float) -> None:
    values = tiny_t5.tensors()
    (tmp_path / "model.safetensors").write_bytes(tiny_t5.safetensors(values, kind=kind))
    read = checkpoints.read_tensors(tmp_path)
    assert all(
        np.abs(read[name] - value).max() <= near * max(1.0, np.abs(value).max()) for name, value in values.items()
    )


def test_shards_are_put_together(tmp_path: Path) -> None:
    values = list(tiny_t5.tensors().items())
    parts = {"one.safetensors": dict(values[:9]), "two.safetensors": dict(values[9:])}
    for name, part in parts.items():
        (tmp_path / name).write_bytes(tiny_t5.safetensors(part))
    told = {"weight_map": {key: name for name, part in parts.items() for key in part}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(told), encoding="utf-8")
    assert checkpoints.read_tensors(tmp_path).keys() == dict(values).keys()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("config.json", None, "config.json"),
        ("config.json", b'{"model_type": "bert"}', "no T5"),
        ("config.json", b'{"model_type": "t5", "d_model": "wide"}', "lacks or breaks"),
        ("model.safetensors", None, "neither"),
        ("model.safetensors", b"\x10\x00\x00\x00\x00\x00\x00\x00{}", "cannot be read"),
        ("model.safetensors", tiny_t5.safetensors({"other": np.zeros((2, 2), np.float32)}), "has no tensor"),
        ("spiece.model", None, "spiece.model"),
        ("spiece.model", b"\x0a\x7f", "SentencePiece"),
        ("spiece.model", b"\x0a\x03\x0a\x01a", "SentencePiece"),
    ],
)
def test_what_is_no_such_checkpoint_is_said_and_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, why: str
) -> None:
    source = tiny_t5.write_checkpoint(tmp_path / "t5")
    if content is None:
        (source / name).unlink()
    else:
        (source / name).write_bytes(content)
    assert export.main([str(source), str(tmp_path / "out"), "--layout", "crag"]) == 1
    assert why in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_distances_fall_into_buckets_as_in_the_paper() -> None:
    shape = t5_graph.shape_of(tiny_t5.config())
    both, back = t5_graph.buckets_of(shape, both_ways=True), t5_graph.buckets_of(shape, both_ways=False)
    at = {away: index for index, away in enumerate(range(-128, 129))}
    assert [int(both[at[away]]) for away in (0, -1, -7, -8, -128, 1, 7, 8, 128)] == [0, 1, 7, 8, 15, 17, 23, 24, 31]
    assert [int(back[at[away]]) for away in (1, 128, 0, -15, -16, -128)] == [0, 0, 0, 15, 16, 31]
    # Farther is never nearer.
    assert (np.diff(back[: at[0] + 1]) <= 0).all()
    assert math.isclose(float(np.diff(both[at[1] :]).min()), 0.0)
