"""The shipped encoder, as it is."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tadasu.answering.retrieval.embedders.card import revision_of
from tadasu.answering.retrieval.embedders.onnx import TITLE_TOKENS, OnnxEncoder
from tadasu.core.vectors import PassageText
from tadasu.errors import ModelUnavailable
from tadasu.ports import Encoder, TokenCounter

MODEL = Path(__file__).resolve().parents[3] / "models" / "encoder"

JAPANESE = (
    "東京は日本の首都であり、世界最大の都市圏のひとつである。",
    "猫は肉食の小さな動物で、古くから人に飼われている。",
    "ノギスは物の厚さや内径を測る測定器である。",
    "富士山は静岡県と山梨県にまたがる日本で一番高い山である。",
)
ENGLISH = (
    "Tokyo is the capital of Japan and one of the largest cities of the world.",
    "The cat is a small carnivorous animal that has long lived with people.",
    "A caliper measures the thickness or the inner diameter of an object.",
    "Mount Fuji is the highest mountain of Japan.",
)


@pytest.fixture(scope="module")
def encoder() -> OnnxEncoder:
    return OnnxEncoder.load(MODEL)


def passages_of(encoder: OnnxEncoder, *texts: str) -> np.ndarray:
    return np.stack([one.passage for one in encoder.encode_passages([PassageText(text) for text in texts])])


def test_it_is_an_encoder_and_a_token_counter(encoder: OnnxEncoder) -> None:
    as_encoder: Encoder = encoder
    as_counter: TokenCounter = encoder
    card = json.loads((MODEL / "card.json").read_text(encoding="utf-8"))
    assert as_encoder.id == f"{card['name']}@{revision_of(card['files'])}"
    assert as_encoder.dimensions == 384
    assert as_counter.count("") == 0
    assert as_counter.count("東京は日本の首都です。") == 7


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("日本の首都はどこですか。", 0),
        ("どんなペットが飼われていますか。", 1),
        ("厚さを測る道具は？", 2),
        ("日本で最も高い山は何ですか。", 3),
        ("What is the capital of Japan?", 0),
        ("Which animal do people keep as a pet?", 1),
        ("Which tool measures how thick something is?", 2),
        ("What is the highest mountain in Japan?", 3),
    ],
)
@pytest.mark.parametrize("passages", [JAPANESE, ENGLISH], ids=["ja", "en"])
def test_a_question_finds_its_passage_in_either_language(
    encoder: OnnxEncoder, passages: tuple[str, ...], question: str, best: int
) -> None:
    query = encoder.encode_queries([question])[0]
    assert int(np.argmax(passages_of(encoder, *passages) @ query)) == best


def test_vectors_have_length_one(encoder: OnnxEncoder) -> None:
    queries = encoder.encode_queries(["首都", "capital", ""])
    assert queries.dtype == np.float32
    assert np.linalg.norm(queries, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    result = encoder.encode_passages([PassageText("東京。大阪。", ((0, 3), (3, 6)))])[0]
    assert result.strips.shape == (2, 384)
    assert np.linalg.norm(result.strips, axis=1) == pytest.approx(np.ones(2), abs=1e-5)


def test_a_passage_has_the_same_bytes_whatever_its_neighbours(encoder: OnnxEncoder) -> None:
    together = passages_of(encoder, *JAPANESE, "短い。", *ENGLISH, "長い文です。" * 80)
    for position, text in ((0, JAPANESE[0]), (4, "短い。"), (5, ENGLISH[0])):
        assert passages_of(encoder, text)[0].tobytes() == together[position].tobytes()
    queries = encoder.encode_queries([*JAPANESE, *ENGLISH])
    assert encoder.encode_queries([JAPANESE[2]])[0].tobytes() == queries[2].tobytes()


def test_results_keep_the_order_of_the_input(encoder: OnnxEncoder) -> None:
    texts = [f"第{number}章。" + "測定器の校正について述べる。" * (number * 7 % 9) for number in range(90)]
    forward = passages_of(encoder, *texts)
    backward = passages_of(encoder, *reversed(texts))
    assert np.array_equal(forward, backward[::-1])


def test_nothing_in_gives_nothing_out(encoder: OnnxEncoder) -> None:
    assert encoder.encode_passages([]) == []
    assert encoder.encode_queries([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00", "\x00\x00\x01", "\u200b", "\ufffd"])
def test_text_without_content_has_a_vector_all_the_same(encoder: OnnxEncoder, text: str) -> None:
    result = encoder.encode_passages([PassageText(text, ((0, len(text)),))])[0]
    assert np.linalg.norm(result.passage) == pytest.approx(1.0, abs=1e-5)
    assert np.isfinite(result.strips).all()


def test_control_characters_and_lone_surrogates_do_no_harm(encoder: OnnxEncoder) -> None:
    plain, with_nul = passages_of(encoder, "東京は首都です。", "東京は\x00首都です。")
    assert plain.tobytes() == with_nul.tobytes()
    broken = encoder.encode_passages([PassageText("首都\ud83dです", ((0, 3), (3, 5)))])[0]
    assert np.isfinite(broken.passage).all()
    assert broken.strips.shape == (2, 384)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("ｻｰﾊﾞｰを再起動する", "サーバーを再起動する"), ("Ｒ＆Ｄ　１２３", "R&D 123"), ("⽣産", "生産"), ("ガス", "ガス")],
)
def test_width_and_look_alikes_make_no_difference(encoder: OnnxEncoder, written: str, meant: str) -> None:
    assert encoder.encode_queries([written])[0].tobytes() == encoder.encode_queries([meant])[0].tobytes()


def test_text_cannot_spell_a_special_token(encoder: OnnxEncoder) -> None:
    assert encoder.count("</s>") > 1
    assert encoder.count("<pad><pad><pad>") > 3


def test_a_strip_is_the_mean_of_its_tokens_in_the_passage(encoder: OnnxEncoder) -> None:
    """One strip over the whole text equals the passage without prefix and special tokens: nearly the same direction."""
    text = "".join(JAPANESE)
    whole = encoder.encode_passages([PassageText(text, ((0, len(text)),))])[0]
    assert float(whole.passage @ whole.strips[0]) > 0.98
    # Weighted by their tokens, the strips add up to the strip over everything.
    borders = [0, *np.cumsum([len(part) for part in JAPANESE]).tolist()]
    spans = tuple(itertools.pairwise(borders))
    parts = encoder.encode_passages([PassageText(text, spans)])[0]
    assert np.array_equal(parts.passage, whole.passage)
    weights, *_ = np.linalg.lstsq(parts.strips.T, whole.strips[0], rcond=None)
    assert (weights > 0).all()
    assert parts.strips.T @ weights == pytest.approx(whole.strips[0], abs=1e-4)


@pytest.mark.parametrize(
    ("sentences", "question", "best"),
    [
        (JAPANESE, "日本の首都はどこですか。", 0),
        (JAPANESE, "厚さを測る道具は何ですか。", 2),
        (tuple(f"{one} " for one in ENGLISH), "What is the capital of Japan?", 0),
        (tuple(f"{one} " for one in ENGLISH), "Which tool measures the thickness of a thing?", 2),
    ],
)
def test_the_strip_that_answers_is_nearest(
    encoder: OnnxEncoder, sentences: tuple[str, ...], question: str, best: int
) -> None:
    borders = [0, *np.cumsum([len(part) for part in sentences]).tolist()]
    spans = tuple(itertools.pairwise(borders))
    strips = encoder.encode_passages([PassageText("".join(sentences), spans)])[0].strips
    assert int(np.argmax(strips @ encoder.encode_queries([question])[0])) == best


def test_half_width_kana_count_for_the_strip_they_stand_in(encoder: OnnxEncoder) -> None:
    follow = "猫は魚を食べる。"

    def strips(first: str) -> np.ndarray:
        text = first + follow
        return encoder.encode_passages([PassageText(text, ((0, len(first)), (len(first), len(text))))])[0].strips

    wide, half = strips("サーバーを再起動する。"), strips("ｻｰﾊﾞｰを再起動する。")
    assert np.array_equal(wide, half)
    assert not np.array_equal(wide[0], wide[1])


def test_a_strip_without_tokens_gets_the_vector_of_the_passage(encoder: OnnxEncoder) -> None:
    result = encoder.encode_passages([PassageText("東京は首都です。\x00", ((0, 8), (8, 9), (9, 9)))])[0]
    assert np.array_equal(result.strips[2], result.passage)


def test_a_title_moves_the_passage_towards_its_topic(encoder: OnnxEncoder) -> None:
    text = "その高さは3776メートルである。"
    bare, titled = encoder.encode_passages([PassageText(text), PassageText(text, title="富士山")])
    query = encoder.encode_queries(["富士山の標高は？"])[0]
    assert float(titled.passage @ query) > float(bare.passage @ query)


def test_a_long_title_leaves_room_for_the_text(encoder: OnnxEncoder) -> None:
    title = "とても長い題名" * 200
    assert encoder.count(title) > 10 * TITLE_TOKENS
    result = encoder.encode_passages([PassageText("猫。" * 400, ((0, 800),), title=title)])[0]
    assert np.isfinite(result.strips).all()


@pytest.mark.parametrize(
    ("filler", "needles", "questions"),
    [
        (
            "測定器は毎年校正する。",
            ("猫は魚を食べて生きる動物である。", "富士山は日本で一番高い山である。"),
            ("猫は何を食べますか。", "日本で一番高い山は？"),
        ),
        (
            "The gauge is calibrated every year. ",
            ("The cat is an animal that eats fish. ", "Mount Fuji is the highest mountain of Japan. "),
            ("What do cats eat?", "Which mountain is the highest in Japan?"),
        ),
    ],
    ids=["ja", "en"],
)
@pytest.mark.parametrize("place", [0, 75, 149])
def test_what_stands_deep_in_a_long_passage_is_not_cut(
    encoder: OnnxEncoder, filler: str, needles: tuple[str, str], questions: tuple[str, str], place: int
) -> None:
    texts = ["".join([*[filler] * place, needle, *[filler] * (149 - place)]) for needle in needles]
    assert all(encoder.count(text) > 2 * 512 for text in texts)
    start = len(filler) * place
    first, second = encoder.encode_passages(
        [PassageText(text, ((start, start + len(needle)),)) for text, needle in zip(texts, needles, strict=True)]
    )
    of_cats, of_hills = encoder.encode_queries(questions)
    assert float((first.strips[0] - second.strips[0]) @ (of_cats - of_hills)) > 0.1
    assert float((first.passage - second.passage) @ (of_cats - of_hills)) > 0.0


def test_a_long_question_is_read_to_its_end(encoder: OnnxEncoder) -> None:
    filler = "参考までに、背景を述べます。" * 120
    cats, hills = encoder.encode_queries([filler + "猫の餌は？" * 60, filler + "富士山の高さは？" * 60])
    passages = passages_of(encoder, JAPANESE[1], JAPANESE[3])
    assert float(passages[0] @ cats) - float(passages[1] @ cats) > float(passages[0] @ hills) - float(
        passages[1] @ hills
    )


def test_many_threads_get_what_one_gets() -> None:
    shared = OnnxEncoder.load(MODEL)
    alone = passages_of(shared, *JAPANESE, *ENGLISH)
    fresh = OnnxEncoder.load(MODEL, threads=2)
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: passages_of(fresh, *JAPANESE, *ENGLISH), range(12)))
    for result in results:
        assert result.tobytes() == alone.tobytes()


def copied(folder: Path, *, without: str) -> Path:
    """A folder like the model's; the file `without` is a copy that may be spoilt."""
    target = folder / "encoder"
    target.mkdir()
    for name in ("model.onnx", "tokenizer.json", "card.json"):
        if name == "model.onnx" and name != without:
            (target / name).symlink_to(MODEL / name)
        else:
            shutil.copy(MODEL / name, target / name)
    return target


def test_a_missing_folder_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no such file") as caught:
        OnnxEncoder.load(tmp_path / "nowhere")
    assert "nowhere" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path, without=name)
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=name):
        OnnxEncoder.load(folder).encode_queries(["首都"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path, without=name)
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(bytes(data))
    with pytest.raises(ModelUnavailable, match="SHA-256"):
        OnnxEncoder.load(folder).encode_queries(["首都"])


@pytest.mark.parametrize(
    "card",
    ["", "[]", "{}", '{"name": "x", "files": 3}', '{"files": {"model.onnx": "a", "tokenizer.json": "b"}}'],
)
def test_a_broken_card_is_no_traceback(tmp_path: Path, card: str) -> None:
    (tmp_path / "card.json").write_text(card, encoding="utf-8")
    with pytest.raises(ModelUnavailable):
        OnnxEncoder.load(tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_no_model_is_named_even_if_the_card_vouches_for_it(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path, without=name)
    (folder / name).write_bytes(b"{}")
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    card["files"][name] = hashlib.sha256(b"{}").hexdigest()
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ModelUnavailable, match=name):
        OnnxEncoder.load(folder).encode_queries(["首都"])
