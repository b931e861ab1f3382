"""What a language model said about a passage: three scores, what is wrong with it, what to do with it (DESIGN §3.2)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tadasu.core.grades import Grade, Level, Recommendation
from tadasu.text.normalize import fold
from tadasu.text.replies import Reply, fields, number_in_unit, read_reply, yes_or_no

TIER = "llm"
HIGH, MEDIUM = 0.75, 0.50
"""Borders of the mean of the three scores."""
RELEVANT, FACTUAL = 0.65, 0.70
"""A passage below either of them is MEDIUM at the most, whatever its mean."""

_SCORES = ("relevance", "factuality", "completeness")
_NAMES = {
    "passage": "id", "passage_id": "id", "passageid": "id", "識別子": "id", "パッセージ": "id",
    "関連性": "relevance", "関連度": "relevance",
    "事実性": "factuality", "正確性": "factuality", "信頼性": "factuality",
    "完全性": "completeness", "網羅性": "completeness", "十分性": "completeness",
    "issue": "issues", "問題点": "issues", "問題": "issues", "recommended_action": "recommendation",
    "推奨": "recommendation", "推奨事項": "recommendation", "提案": "recommendation",
    "is_relevant": "relevant", "isrelevant": "relevant", "binary": "relevant", "score": "relevant",
    "verdict": "relevant", "answer": "relevant", "関連": "relevant", "判定": "relevant",
}  # fmt: skip
_RECOMMENDATIONS = {
    **{one.value: one for one in Recommendation},
    "keep": Recommendation.USE, "採用": Recommendation.USE, "使用": Recommendation.USE, "利用": Recommendation.USE,
    "use_with_caution": Recommendation.USE_WITH_CARE, "注意して使用": Recommendation.USE_WITH_CARE,
    "注意して利用": Recommendation.USE_WITH_CARE,
    "reject": Recommendation.DISCARD, "除外": Recommendation.DISCARD, "破棄": Recommendation.DISCARD,
    "不採用": Recommendation.DISCARD,
    "review": Recommendation.MANUAL_REVIEW, "要確認": Recommendation.MANUAL_REVIEW,
    "人による確認": Recommendation.MANUAL_REVIEW,
}  # fmt: skip
_NO_ISSUE = frozenset({"", "none", "n/a", "-", "null", "[]", "なし", "特になし", "ありません"})
_MOST_ISSUES, _LONGEST_ISSUE = 5, 200


@dataclass(frozen=True, slots=True)
class Assessment:
    """Scores in [0, 1]. `factuality` and `completeness` are None where the model said a plain yes or no instead."""

    relevance: float
    factuality: float | None = None
    completeness: float | None = None
    issues: tuple[str, ...] = ()
    recommendation: Recommendation | None = None

    @property
    def scores(self) -> tuple[float, ...]:
        """Those that were given, relevance first."""
        return tuple(one for one in (self.relevance, self.factuality, self.completeness) if one is not None)

    @property
    def mean(self) -> float:
        """Mean of the scores that were given."""
        return round(math.fsum(self.scores) / len(self.scores), 9)

    @property
    def held_back(self) -> str:
        """Why the passage is MEDIUM at the most; empty where nothing holds it back."""
        if self.relevance < RELEVANT:
            return f"its relevance is below {RELEVANT:g}"
        if self.factuality is not None and self.factuality < FACTUAL:
            return f"its factuality is below {FACTUAL:g}"
        return ""

    @property
    def level(self) -> Level:
        """HIGH, MEDIUM or LOW by the mean, and by what holds it back."""
        if self.mean >= HIGH and not self.held_back:
            return Level.HIGH
        return Level.MEDIUM if self.mean >= MEDIUM else Level.LOW

    def grade(self, passage_id: str, *, grader: str) -> Grade:
        """As the grade of a passage; its probability is the mean, which nothing was fitted on."""
        return Grade(
            passage_id=passage_id,
            level=self.level,
            probability=self.mean,
            reason=self._reason(),
            grader=grader,
            tier=TIER,
            signals=dict(zip(_SCORES, self.scores, strict=False)),
            recommendation=self.recommendation,
            issues=self.issues,
        )

    def _reason(self) -> str:
        if self.factuality is None:
            return f"the language model said {'yes' if self.relevance else 'no'}, without scores"
        parts = [", ".join(f"{name} {score:.2f}" for name, score in zip(_SCORES, self.scores, strict=True))]
        if self.mean >= HIGH and self.held_back:
            parts.append(f"at most MEDIUM: {self.held_back}")
        if self.recommendation is not None:
            parts.append(f"advice: {self.recommendation.value.replace('_', ' ')}")
        return "; ".join((*parts, *self.issues))

    def to_bytes(self) -> bytes:
        """For a cache."""
        advice = self.recommendation.value if self.recommendation is not None else None
        row = [self.relevance, self.factuality, self.completeness, list(self.issues), advice]
        return json.dumps(row, ensure_ascii=False).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Assessment | None:
        """What `to_bytes` gave; None for anything else."""
        try:
            relevance, factuality, completeness, issues, advice = json.loads(data)
            made = cls(
                relevance, factuality, completeness, tuple(map(str, issues)), Recommendation(advice) if advice else None
            )
            return made if all(number_in_unit(score) is not None for score in made.scores) else None
        except (ValueError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class Readings:
    """What one reply said, by the id of the passage in the prompt: each asked-for id is in exactly one of both."""

    found: Mapping[str, Assessment]
    faults: Mapping[str, str]


def read_assessments(said: str, shown: Mapping[str, str]) -> Readings:
    """The rows of a reply about the passages `shown` (text by id).

    Rows belong to passages by id, wherever they stand. One that names no asked-for id is ignored; two that name the
    same id and differ are both ignored. A reply about a single passage may also be a plain yes or no.
    """
    reply = read_reply(said)
    rows: dict[str, list[Assessment | str]] = {}
    strangers: list[str] = []
    for name, row in _rows(reply, shown):
        if name in shown:
            rows.setdefault(name, []).append(_assessed(row))
        else:
            strangers.append(name)
    found: dict[str, Assessment] = {}
    faults: dict[str, str] = {}
    for name in shown:
        one = _agreed(rows.get(name, []), strangers)
        if isinstance(one, str):
            faults[name] = one
        else:
            found[name] = one
    if len(shown) == 1 and not found and not rows and (verdict := _plain_verdict(reply, *shown.values())) is not None:
        return Readings({name: Assessment(float(verdict)) for name in shown}, {})
    return Readings(found, faults)


def _rows(reply: Reply, shown: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    for written in reply.objects:
        row = _named(written)
        if "id" in row:
            if not row.keys().isdisjoint((*_SCORES, "relevant", "scores")):
                yield _id(row["id"]), row
            continue
        for key, value in row.items():
            if _id(key) in shown:
                yield _id(key), _named(value) if isinstance(value, Mapping) else {"relevant": value}
    for line in reply.lines:
        if (read := _line(line, shown)) is not None:
            yield read


def _line(line: str, shown: Mapping[str, str]) -> tuple[str, Mapping[str, object]] | None:
    """A row written as a line: the id, three scores with or without names, then anything; or the id and yes or no."""
    name, rest = _first_word(line)
    if name not in shown:
        return None
    parts = fields(rest) if len(fields(rest)) > 1 else rest.split()
    scores = [_labelled(part, _SCORES[index]) for index, part in enumerate(parts[:3])]
    if len(scores) == 3 and all(number_in_unit(value) is not None for _, value in scores):
        row: dict[str, object] = dict(scores)
        others = [_labelled(part, "")[1] for part in parts[3:]]
        row["recommendation"] = next((part for part in others if _advice(part) is not None), None)
        row["issues"] = [part for part in others if _advice(part) is None]
        return name, row
    return (name, {"relevant": rest}) if yes_or_no(rest) is not None else None


def _first_word(line: str) -> tuple[str, str]:
    words = line.lstrip("|[(\"'` ")
    if words[:2].lower() == "id":
        words = words[2:].lstrip(":=# ")
    at = next((index for index, character in enumerate(words) if not character.isalnum()), len(words))
    return _id(words[:at]), words[at:].lstrip("|])\"'`,:;=\t -")


def _labelled(part: str, otherwise: str) -> tuple[str, str]:
    """``relevance: 0.5`` or ``relevance 0.5`` as a pair; what has no name of a score is called `otherwise`."""
    words = part.replace("=", ":").replace(":", " ").split(maxsplit=1)
    if len(words) == 2 and _name(words[0]) in (*_SCORES, "issues", "recommendation"):
        return _name(words[0]), words[1]
    return otherwise, part


def _named(row: Mapping[str, object]) -> dict[str, object]:
    """`row` by our names; scores that stand in an object of their own within it are lifted out."""
    flat = {_name(key): value for key, value in row.items()}
    for key, value in list(flat.items()):
        if isinstance(value, Mapping) and key in {"scores", "grade", "ratings", "assessment", "relevant"}:
            flat = {**{_name(inner): one for inner, one in value.items()}, **flat}
    return flat


def _name(key: str) -> str:
    plain = fold(key).strip(" *_`\"'").lower().replace(" ", "_").replace("-", "_")
    plain = plain.removesuffix("_score")
    return _NAMES.get(plain, plain)


def _id(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return fold(str(value)).strip(" *_`\"'#<>[]()").lower()


def _assessed(row: Mapping[str, object]) -> Assessment | str:
    """The row's assessment, or what is wrong with it."""
    issues, advice = _issues(row.get("issues")), _advice(row.get("recommendation"))
    given = [name for name in _SCORES if row.get(name) is not None]
    if given in ([], ["relevance"]):
        verdict = yes_or_no(row.get("relevance" if given else "relevant"))
        if verdict is not None:
            return Assessment(float(verdict), issues=issues, recommendation=advice)
    numbers: list[float] = []
    for name in _SCORES:
        number = number_in_unit(row.get(name))
        if number is None:
            if name not in given:
                return f"its row lacks {name}"
            return f"its {name} is no number from 0 to 1: {str(row[name])[:40]!r}"
        numbers.append(number)
    relevance, factuality, completeness = numbers
    return Assessment(relevance, factuality, completeness, issues, advice)


def _agreed(readings: list[Assessment | str], strangers: list[str]) -> Assessment | str:
    good = [one for one in readings if isinstance(one, Assessment)]
    if len({one.scores for one in good}) > 1:
        return "the reply grades it more than once, and differently"
    if good:
        return good[0]
    if readings:
        return str(readings[0])
    if strangers:
        return f"the reply has no row for it, and rows for unknown ids ({', '.join(strangers[:3])[:60]})"
    return "the reply has no row for it"


def _plain_verdict(reply: Reply, passage: str) -> bool | None:
    if not reply.objects:
        return yes_or_no(reply.text)
    # An object without an id may be quoted from the passage; ours is all that the model said, and not in the passage.
    if len(reply.objects) > 1 or reply.lines or fold(reply.text) in fold(passage):
        return None
    row = _named(reply.objects[0])
    return yes_or_no(row.get("relevant", row.get("relevance"))) if "id" not in row else None


def _advice(value: object) -> Recommendation | None:
    return _RECOMMENDATIONS.get(fold(str(value)).strip(" .。*`\"'").lower().replace(" ", "_").replace("-", "_"))


def _issues(value: object) -> tuple[str, ...]:
    said = value if isinstance(value, list) else [value]
    lines = [fold(one).strip(" -・*") for one in said if isinstance(one, str)]
    return tuple(line[:_LONGEST_ISSUE] for line in lines if line.lower() not in _NO_ISSUE)[:_MOST_ISSUES]
