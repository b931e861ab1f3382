"""Japanese questions about English passages: popqa's two relations, said in Japanese with the name as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tadasu.testing.datasets import normal
from training.grader.rows import Group, Kind
from training.grader.sets import order

TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "occupation": (
        "{subject}の職業は何ですか？",
        "{subject}は何をしている人ですか",
        "{subject} 職業",
        "{subject}の仕事を教えてください。",
        "{subject}という人の職業は？",
    ),
    "place of birth": (
        "{subject}はどこで生まれましたか？",
        "{subject}の出生地はどこですか",
        "{subject} 出身地",
        "{subject}が生まれた都市を教えてください。",
        "{subject}という人はどの街の生まれ？",
    ),
}
"""How each relation is asked for."""

_SWAPPED_SHARE, _SWAPPED_PASSAGES = 0.3, 5


def in_japanese(groups: Sequence[Group], relations: Mapping[str, tuple[str, str]], *, name: str) -> list[Group]:
    """The same groups asked in Japanese, some of them a second time about another person whom no passage names.

    `relations` gives subject and relation of every question by its id.
    """
    subjects = sorted({relations[one.id][0] for one in groups}, key=order)
    made: list[Group] = []
    for group in groups:
        subject, relation = relations[group.id]
        made.append(replace(group, set=name, language="ja", question=_question(group.id, subject, relation)))
        if int(order(f"swap ja\n{group.id}")[:6], 16) / 16**6 < _SWAPPED_SHARE:
            made += _swapped(made[-1], relation, subjects)
    return made


def _question(id_: str, subject: str, relation: str) -> str:
    templates = TEMPLATES[relation]
    return templates[int(order(f"template\n{id_}")[:6], 16) % len(templates)].format(subject=subject)


def _swapped(group: Group, relation: str, subjects: Sequence[str]) -> list[Group]:
    passages = [one for one in group.passages if one.kind is not Kind.ANSWER_REMOVED][:_SWAPPED_PASSAGES]
    said = normal(" ".join(f"{one.title} {one.text}" for one in passages))
    start = int(order(f"other\n{group.id}")[:6], 16) % len(subjects)
    others = [one for one in [*subjects[start:], *subjects[:start]] if normal(one) not in said]
    if not others:
        return []
    changed = tuple(replace(one, label=0, spans=(), kind=Kind.OTHER_ENTITY, teacher=None) for one in passages)
    question = _question(f"{group.id}.swapped", others[0], relation)
    return [replace(group, id=f"{group.id}.swapped", question=question, answers=(), passages=changed)]
