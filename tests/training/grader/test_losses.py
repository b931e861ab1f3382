"""Losses of the student, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is in the `train` group only (make train)")

from training.grader.batches import Batch  # noqa: E402
from training.grader.losses import Told, Weights, listwise, losses, place, strip_logits, teacher, total  # noqa: E402
from training.grader.student import OUTSIDE, Scores  # noqa: E402

NAN = float("nan")


def told(label: list[int], group: list[int], *, teachers: list[float] | None = None) -> Told:
    rows = len(label)
    return Told.of(
        Batch(
            ids=np.full((rows, 4), 9, dtype=np.int64),
            answer=np.array([[-1, 0, one == 1, 0] if one >= 0 else [-1] * 4 for one in label], dtype=np.int8),
            strips=np.tile(np.array([-1, 0, 1, 1], dtype=np.int16), (rows, 1)),
            group=np.array(group, dtype=np.int64),
            label=np.array(label, dtype=np.int8),
            teacher=np.array(teachers or [NAN] * rows, dtype=np.float32),
        )
    )


def test_listwise_compares_within_a_group_and_leaves_unknown_passages_and_lone_groups_out() -> None:
    logits = torch.tensor([2.0, 0.0, 5.0, 1.0, 1.0])
    loss = listwise(logits, told([1, 0, -1, 0, 0], [0, 0, 0, 1, 1]))
    assert float(loss) == pytest.approx(np.log(1 + np.exp(-2.0)), abs=1e-4)
    assert float(listwise(logits[3:], told([0, 0], [0, 0]))) == 0.0


def test_places_compete_within_right_passages_only() -> None:
    tokens = torch.tensor([[OUTSIDE, 0.0, 3.0, 0.0], [OUTSIDE, 9.0, 9.0, 9.0]])
    loss = place(tokens, told([1, 0], [0, 0]))
    assert float(loss) == pytest.approx(np.log(1 + 2 * np.exp(-3.0)), abs=1e-4)


def test_strips_are_pooled_and_one_without_tokens_lies_outside() -> None:
    tokens = torch.tensor([[OUTSIDE, 1.0, 2.0, 3.0]])
    logits = strip_logits(tokens, torch.tensor([[-1, 0, 1, 1]]), strips=3)
    expected = [1.0, float(np.log(np.exp(2.0) + np.exp(3.0))), OUTSIDE]
    assert logits[0].tolist() == pytest.approx(expected, abs=1e-4)


def test_a_teacher_is_followed_where_it_spoke_and_nothing_is_lost_by_agreeing() -> None:
    logits = torch.tensor([4.0, 1.0, -3.0], requires_grad=True)
    agreeing = teacher(logits, told([1, 0, -1], [0, 0, 0], teachers=[5.0, 2.0, NAN]), temperature=2.0)
    apart = teacher(logits, told([1, 0, -1], [0, 0, 0], teachers=[2.0, 5.0, NAN]), temperature=2.0)
    assert float(agreeing.detach()) == pytest.approx(0.0, abs=1e-5)
    assert float(apart.detach()) > 0.5
    torch.autograd.backward(apart)
    assert logits.grad is not None
    assert logits.grad[2] == 0.0
    assert float(teacher(logits.detach(), told([1, 0, 0], [0, 0, 0]), temperature=2.0)) == 0.0


def test_every_loss_falls_when_the_right_thing_is_said_louder() -> None:
    what = told([1, 0], [0, 0], teachers=[6.0, -6.0])
    found = []
    for loud in (0.0, 4.0):
        tokens = torch.tensor([[OUTSIDE, -loud, loud, -loud], [OUTSIDE, -loud, -loud, -loud]])
        found.append(losses(Scores(torch.tensor([loud, -loud]), tokens), what, Weights()))
    assert set(found[0]) == {"listwise", "passage", "place", "token", "strip", "teacher"}
    assert all(float(found[1][name]) < float(found[0][name]) for name in found[0])
    assert float(total(found[1], Weights())) < float(total(found[0], Weights()))
