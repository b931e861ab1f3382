"""The steps of ``tadasu-train heads``: rows, training, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from training.heads import finish, make_claims
from training.heads.loop import HeadPlan, HeadTraining
from training.heads.network import SupportNetwork
from training.heads.pairs import ClaimEncoder
from training.heads.trunk import read_student

_SMOKE_PASSAGES = 25


def run(
    plan: HeadPlan,
    *,
    claims: Path,
    rows: Path,
    out: Path,
    model: Path,
    encoder: Path,
    version: str,
    say: Callable[[str], None],
    anew: bool = False,
    begin_with: Path | None = None,
    smoke: bool = False,
) -> None:
    """Make the rows that are not there, train or go on, and write the files beside ``model.onnx`` in `model`."""
    make_claims.write_all(claims, say=say, most=_SMOKE_PASSAGES if smoke else 0)
    network = SupportNetwork(read_student(model, encoder=encoder), plan.shape, seed=plan.seed)
    training = HeadTraining(network, plan, ClaimEncoder.load(encoder), rows=claims, out=out)
    if anew:
        training.forget()
    resumed = training.resume()
    if not resumed and begin_with is not None:
        training.begin_with(begin_with)
    say(f"{'going on with' if resumed else 'training'} the support head: {plan.minutes:g} minutes, seed {plan.seed}")
    training.run(say)
    finish.write(out, model, claims=claims, rows=rows, encoder=encoder, version=version, say=say, smoke=smoke)
