"""Which strips are kept, and why the others are not: the decision before any budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tadasu.answering.refinement.anaphora import antecedents
from tadasu.answering.refinement.code import code_blocks
from tadasu.answering.refinement.strips import ScoredStrip, is_heading, score_strips, table_heads
from tadasu.answering.refinement.tables import announces, named_rows, short_lists, small_tables
from tadasu.core.documents import Origin, Passage, Strip
from tadasu.core.grades import Level
from tadasu.core.refining import EvidenceOrder
from tadasu.core.retrieved import GradedPassage
from tadasu.core.runs import StripFate
from tadasu.text.faq import question_of
from tadasu.text.injection import spoken_spans


@dataclass(frozen=True, slots=True)
class RefinementSettings:
    """How much refinement takes away; mild by default (DESIGN §3.1). `strength.of_strength` gives named sets of these.

    A strip is kept, with `neighbours` strips on either side, where its score is at least `strip_threshold`, and its
    score times its passage's probability (that the passage is relevant and the strip answers) at least a share of the
    best strip's of all passages: `shares` by language, for scores of different languages spread differently; the
    lowest of them for any other language. Of every HIGH passage at least the `keep_at_least` best strips are kept, and
    of every passage where none is HIGH. With `units` a small table or a short list is kept whole with any part of it.
    `token_budget` bounds the tokens of all kept strips together, which stand in `order`. A strip that holds another
    whole, the other being at least `near_duplicate` of its length, stands for it, unless they differ in a number or a
    negation.
    """

    strip_threshold: float = 0.2
    shares: Mapping[str, float] = field(default_factory=dict)
    neighbours: int = 1
    units: bool = True
    token_budget: int = 1024
    keep_at_least: int = 1
    near_duplicate: float = 0.9
    order: EvidenceOrder = EvidenceOrder.DOCUMENT

    def __post_init__(self) -> None:
        if not 0.0 <= self.strip_threshold <= 1.0 or not 0.0 < self.near_duplicate <= 1.0:
            raise ValueError("strip_threshold lies in [0, 1] and near_duplicate in (0, 1]")
        if self.neighbours < 0 or self.token_budget < 0 or self.keep_at_least < 0:
            raise ValueError("neighbours, token_budget and keep_at_least are 0 or more")
        if not all(0.0 <= share <= 1.0 for share in self.shares.values()):
            raise ValueError("shares lie in [0, 1]")

    def share(self, language: str) -> float:
        """Of the best strip's, for passages in `language`."""
        return self.shares.get(language, min(self.shares.values(), default=0.0))


@dataclass(frozen=True, slots=True)
class Choice:
    """What selection says of one strip.

    `companion` marks a heading or a table's head row, kept for the strip at index `serves` of the same passage;
    a neighbour `serves` the selected strip beside it. `rank` is the passage's place among all (0 is best).
    """

    scored: ScoredStrip
    fate: StripFate
    detail: str
    rank: int
    serves: int
    companion: bool = False

    @property
    def kept(self) -> bool:
        """Whether the strip goes on to packing."""
        return self.fate in (StripFate.SELECTED, StripFate.NEIGHBOUR)


def unique(passages: Sequence[GradedPassage]) -> list[GradedPassage]:
    """Each passage once, with its best grade, best first; ties keep the order given."""
    best: dict[str, GradedPassage] = {}
    for graded in passages:
        seen = best.get(graded.passage.id)
        if seen is None or graded.probability > seen.probability:
            best[graded.passage.id] = graded
    return sorted(best.values(), key=lambda graded: -graded.probability)


def select(passages: Sequence[GradedPassage], *, settings: RefinementSettings, question: str = "") -> list[Choice]:
    """One choice per strip of each passage, passages in the order given (best first).

    Of a passage that goes on, a table row with a cell that `question` states is selected whatever its score.
    """
    border = _border(passages, settings)
    none_high = all(graded.grade.level is not Level.HIGH for graded in passages)
    choices: list[Choice] = []
    for rank, graded in enumerate(passages):
        at_least = settings.keep_at_least if none_high or graded.grade.level is Level.HIGH else 0
        choices.extend(_select_one(graded, question, rank=rank, at_least=at_least, border=border, settings=settings))
    return choices


def _border(passages: Sequence[GradedPassage], settings: RefinementSettings) -> float:
    """What a strip's score times its passage's probability has to reach."""
    share = settings.share(passages[0].passage.language) if passages else 0.0
    if not share:
        return 0.0
    return share * max((score * one.probability for one in passages for score in one.grade.strip_scores), default=0.0)


def hostile(passage: Passage) -> frozenset[int]:
    """The strips of a web passage that speak to a model, by index; none of our own documents.

    Pages of the web come here without such text. This holds for those that another search brings.
    """
    if passage.origin is not Origin.WEB:
        return frozenset()
    spans = spoken_spans(passage.text)
    return frozenset(
        index
        for index, strip in enumerate(passage.strips)
        if any(start < strip.end and strip.start < end for start, end in spans)
    )


def _select_one(
    graded: GradedPassage, question: str, *, rank: int, at_least: int, border: float, settings: RefinementSettings
) -> list[Choice]:
    scored = score_strips(graded)
    orders = hostile(graded.passage)
    written = [i for i, one in enumerate(scored) if one.strip.text.strip() and i not in orders]
    heads = {i for i in written if is_heading(scored[i].strip, graded.passage)}
    rule = _Rule(settings.strip_threshold, border, graded.probability)
    why = {i: rule.says(scored[i]) for i in written if rule.keeps(scored[i])}
    bodies = [i for i in written if i not in heads] or written
    for i in sorted(bodies, key=lambda i: (-scored[i].score, i))[:at_least]:
        why.setdefault(i, "best strip of its passage")
    strips = [one.strip for one in scored]
    for i, cell in named_rows(strips, question).items() if question and why else ():
        if i in orders:
            continue
        why.setdefault(i, f"its cell {cell!r} stands in the question")
    serves = _serving(scored, graded.passage, why, written=written, heads=heads, settings=settings)
    companions = _companions(scored, written, heads, kept=set(why) | set(serves))
    out: list[Choice] = []
    for i, one in enumerate(scored):
        if i in orders:
            out.append(Choice(one, StripFate.HOSTILE, "speaks to a language model", rank, i))
        elif i in companions:
            fate = StripFate.SELECTED if i in why else StripFate.NEIGHBOUR
            detail = why.get(i, f"stands over strip {companions[i]}")
            out.append(Choice(one, fate, detail, rank, companions[i], companion=True))
        elif i in why:
            out.append(Choice(one, StripFate.SELECTED, why[i], rank, i))
        elif i in serves:
            out.append(Choice(one, StripFate.NEIGHBOUR, serves[i][1], rank, serves[i][0]))
        else:
            detail = rule.says(one) if i in written else "white space only"
            out.append(Choice(one, StripFate.BELOW_THRESHOLD, detail, rank, i))
    return out


def _serving(
    scored: Sequence[ScoredStrip],
    passage: Passage,
    why: Mapping[int, str],
    *,
    written: Sequence[int],
    heads: set[int],
    settings: RefinementSettings,
) -> dict[int, tuple[int, str]]:
    """The strips that are kept for another one's sake: each with the strip it serves, and how."""
    serves: dict[int, tuple[int, str]] = {}
    bodies = [i for i in written if i not in heads]
    for i in heads & why.keys():
        if (below := next((j for j in bodies if j > i), None)) is not None:
            serves[below] = (i, f"first under heading {i}")
    best_first = sorted(why, key=lambda i: (-scored[i].score, i))
    texts = [one.strip.text if i in written else "" for i, one in enumerate(scored)]
    for i in best_first:
        for j in antecedents(texts, i):
            serves.setdefault(j, (i, f"strip {i} points back to it"))
    for i in written:
        asked = question_of(texts, i)
        if asked is not None and asked in why:
            serves.setdefault(i, (asked, f"answers strip {asked}"))
        elif asked is not None and i in why:
            serves.setdefault(asked, (i, f"strip {i} answers it"))
    for i in best_first:
        for j in _around(i, written, settings.neighbours):
            serves.setdefault(j, (i, f"beside strip {i}"))
    strips = [one.strip for one in scored]
    _complete(code_blocks(strips, passage), strips, why, serves)
    if settings.units:
        _complete((*small_tables(strips), *short_lists(strips)), strips, why, serves)
    for i in set(serves).difference(written):
        del serves[i]
    return serves


def _complete(
    units: Iterable[frozenset[int]],
    strips: Sequence[Strip],
    why: Mapping[int, str],
    serves: dict[int, tuple[int, str]],
) -> None:
    """The rest of each unit (table, list, code) with a strip in `why` or `serves`, or announced by one, to `serves`."""
    for rows in units:
        kept = why.keys() | serves.keys()
        announcing = [i for i in kept if i < min(rows) and announces(strips, i, min(rows))]
        for i in sorted(rows - why.keys()) if rows & kept or announcing else ():
            chosen = min(rows & kept, default=max(announcing, default=i))
            serves.setdefault(i, (chosen, f"of one block with strip {chosen}"))


@dataclass(frozen=True, slots=True)
class _Rule:
    """What the strips of one passage have to reach, whose probability is `passage`."""

    threshold: float
    border: float
    passage: float

    def keeps(self, one: ScoredStrip) -> bool:
        """Whether the strip is selected for its score; one that was not scored is not held against its passage."""
        return not one.known or (one.score >= self.threshold and one.score * self.passage >= self.border)

    def says(self, one: ScoredStrip) -> str:
        """The comparison that decided."""
        if not one.known:
            return "the grader scored the passage only"
        joint = one.score * self.passage
        if not self.border or (one.score < self.threshold and joint >= self.border):
            return f"{one.score:.2f} {'<' if one.score < self.threshold else '>='} {self.threshold:.2f}"
        return f"{joint:.3f} with its passage {'<' if joint < self.border else '>='} {self.border:.3f}"


def _around(index: int, written: Sequence[int], reach: int) -> list[int]:
    at = written.index(index)
    near = [at + step * side for step in range(1, reach + 1) for side in (-1, 1)]
    return [written[k] for k in near if 0 <= k < len(written)]


def _companions(
    scored: Sequence[ScoredStrip], written: Sequence[int], heads: set[int], *, kept: set[int]
) -> dict[int, int]:
    """Headings and the head row of a table, each with the kept strip that it explains."""
    bodies = [j for j in written if j not in heads]
    found: dict[int, int] = {}
    for i in sorted(heads):
        below = next((j for j in bodies if j > i), None)
        if below in kept:
            found[i] = below
        elif i in kept:
            found[i] = i
    best: dict[int, int] = {}
    for row, head in table_heads([one.strip for one in scored]).items():
        if row in kept and (head not in best or scored[row].score > scored[best[head]].score):
            best[head] = row
    return found | best
