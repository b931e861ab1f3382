"""What the student is told of a batch: which passage, where in it, which strip, and what a teacher thinks.

One bit per pair teaches little: that the answer stands *there* teaches most. So beside the passages of a group against
each other, the tokens of a right passage compete for the answer, and every token of every passage is asked whether it
belongs to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from training.grader.batches import Batch
from training.grader.student import OUTSIDE, Scores


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each loss counts; `temperature` divides the teacher's logits and ours."""

    listwise: float = 1.0
    passage: float = 1.0
    place: float = 1.0
    token: float = 1.0
    strip: float = 1.0
    teacher: float = 0.5
    master: float = 1.0
    temperature: float = 2.0


@dataclass(frozen=True, slots=True)
class Told:
    """A batch as tensors."""

    ids: Tensor
    answer: Tensor
    strips: Tensor
    group: Tensor
    label: Tensor
    teacher: Tensor

    @classmethod
    def of(cls, batch: Batch) -> Told:
        """From arrays."""
        return cls(
            ids=torch.from_numpy(batch.ids),
            answer=torch.from_numpy(batch.answer),
            strips=torch.from_numpy(batch.strips).long(),
            group=torch.from_numpy(batch.group),
            label=torch.from_numpy(batch.label),
            teacher=torch.from_numpy(batch.teacher),
        )


def losses(scores: Scores, told: Told, weights: Weights, *, master: Scores | None = None) -> dict[str, Tensor]:
    """Every loss by its name, not yet weighted; zero where the batch says nothing of it.

    `master` is what a deeper student says of the same batch.
    """
    known, asked = told.label >= 0, (told.answer >= 0) & (scores.tokens > OUTSIDE / 2)
    return {
        "listwise": listwise(scores.passages, told),
        "passage": _binary(scores.passages[known], (told.label[known] == 1).float()),
        "place": place(scores.tokens, told),
        "token": _binary(scores.tokens[asked], (told.answer[asked] == 1).float()) * TOKENS,
        "strip": strip(scores.tokens, told),
        "teacher": teacher(scores.passages, told, temperature=weights.temperature),
    } | ({} if master is None else {"master": imitation(scores, master)})


TOKENS = 20.0
"""A token's loss is the mean over all tokens, nearly all of which are easy."""


def total(found: dict[str, Tensor], weights: Weights) -> Tensor:
    """The weighted sum."""
    return torch.stack([getattr(weights, name) * value for name, value in found.items()]).sum()


def listwise(passages: Tensor, told: Told) -> Tensor:
    """Minus the log share of the right passages in the softmax over each group's passages of known label."""
    known = told.label >= 0
    everyone = _group_sums(passages.masked_fill(~known, OUTSIDE), told.group)
    right = _group_sums(passages.masked_fill(told.label != 1, OUTSIDE), told.group)
    counted = right > OUTSIDE / 2
    return (everyone - right)[counted].mean() if bool(counted.any()) else passages.sum() * 0.0


def place(tokens: Tensor, told: Told) -> Tensor:
    """Minus the log share of the answer's tokens, each on its own, in the softmax over a right passage's tokens."""
    # An unknown piece has no logit, though it may stand in an answer.
    inside = (told.answer == 1) & (tokens > OUTSIDE / 2)
    rows = inside.any(dim=1)
    if not bool(rows.any()):
        return tokens.sum() * 0.0
    shares = tokens[rows].log_softmax(dim=1)
    weights = inside[rows].float()
    return -((shares * weights).sum(dim=1) / weights.sum(dim=1)).mean()


def strip(tokens: Tensor, told: Told) -> Tensor:
    """Binary loss on the strips of right passages whose answer is placed; their logits are `strip_logits`."""
    rows = (told.answer == 1).any(dim=1)
    if not bool(rows.any()):
        return tokens.sum() * 0.0
    owner = told.strips[rows]
    strips = int(owner.max()) + 1
    if strips == 0:
        return tokens.sum() * 0.0
    logits = strip_logits(tokens[rows], owner, strips=strips)
    holds = torch.zeros(len(owner), strips + 1).scatter_add_(1, owner + 1, (told.answer[rows] == 1).float())[:, 1:] > 0
    there = logits > OUTSIDE / 2
    return _binary(logits[there], holds[there].float())


def strip_logits(tokens: Tensor, owner: Tensor, *, strips: int) -> Tensor:
    """(rows, strips): the logarithm of the summed exponentials of each strip's tokens; `OUTSIDE` without any."""
    # The largest logit of a row is taken out first; a strip far below it ends near `OUTSIDE`, which is what it means.
    top = tokens.detach().amax(dim=1, keepdim=True)
    sums = torch.zeros(len(tokens), strips + 1).scatter_add_(1, owner + 1, (tokens - top).exp())[:, 1:]
    logits = sums.clamp_min(1e-12).log() + top
    return logits.masked_fill(sums == 0, OUTSIDE)


def teacher(passages: Tensor, told: Told, *, temperature: float) -> Tensor:
    """Divergence of our softmax over a group from the teacher's, over the passages that it scored."""
    scored = ~told.teacher.isnan()
    if int(scored.sum()) < 2:
        return passages.sum() * 0.0
    groups = int(told.group.max()) + 1
    ours = (passages / temperature).masked_fill(~scored, OUTSIDE)
    theirs = torch.where(scored, told.teacher, 0.0) / temperature
    theirs = theirs.masked_fill(~scored, OUTSIDE)
    ours = ours - _group_sums(ours, told.group)[told.group]
    theirs = theirs - _group_sums(theirs, told.group)[told.group]
    parts = (theirs.exp() * (theirs - ours)).masked_fill(~scored, 0.0)
    counted = torch.zeros(groups).scatter_add_(0, told.group, scored.float()) >= 2
    sums = torch.zeros(groups).scatter_add_(0, told.group, parts)
    return sums[counted].mean() * temperature**2 if bool(counted.any()) else passages.sum() * 0.0


def imitation(scores: Scores, master: Scores) -> Tensor:
    """How far the logits of passages and of their words are from the master's (smooth L1, the mean of each)."""
    words = (scores.tokens > OUTSIDE / 2) & (master.tokens > OUTSIDE / 2)
    passages = functional.smooth_l1_loss(scores.passages, master.passages)
    return passages + functional.smooth_l1_loss(scores.tokens[words], master.tokens[words])


def _group_sums(values: Tensor, group: Tensor) -> Tensor:
    """Logarithm of the summed exponentials per group."""
    groups = int(group.max()) + 1
    top = torch.full((groups,), OUTSIDE).scatter_reduce(0, group, values.detach(), "amax")
    return torch.zeros(groups).scatter_add_(0, group, (values - top[group]).exp()).log() + top


def _binary(logits: Tensor, labels: Tensor) -> Tensor:
    if not len(logits):
        return logits.sum() * 0.0
    return functional.binary_cross_entropy_with_logits(logits, labels)
