"""Training of the support head, on a budget of minutes; it can be stopped and goes on from its checkpoint.

Everything is drawn from one seed; what the clock cuts off is not the same twice, so two runs are alike, not equal.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from tadasu.testing.splits import Split
from training.feature_evaluation import auc
from training.grader.batches import pad_rows
from training.grader.student import OUTSIDE
from training.heads.claims import ClaimRow, read_rows
from training.heads.network import HeadShape, Support, SupportNetwork, restore, saved
from training.heads.pairs import ClaimBatch, ClaimEncoder, ClaimPair, batches

CHECKPOINT, LOG = "support.pt", "support_log.jsonl"
_POOL = 512
_TELL = 20.0
_ANOTHER = 7919
_TOKENS = 10.0
"""A token's loss is the mean over all tokens, nearly all of which are easy."""


@dataclass(frozen=True, slots=True)
class HeadPlan:
    """How a support head is trained: `minutes` of training, `tokens` of a batch with padding, `rate` at its highest.

    `japanese` is the share of rows in Japanese, `supported` that of rows that are right. A row of more than `short`
    tokens is taken with the chance `long_share`, since twice as many short ones can be read in the same time.
    """

    minutes: float = 60.0
    shape: HeadShape = field(default_factory=HeadShape)
    rate: float = 1.5e-3
    warm_up: float = 0.04
    tokens: int = 3072
    japanese: float = 0.5
    supported: float = 0.45
    short: int = 140
    long_share: float = 0.4
    threads: int = 1
    seed: int = 1
    checkpoint_minutes: float = 3.0
    evaluate_minutes: float = 10.0
    evaluate_rows: int = 150


class ClaimRows:
    """TRAIN rows of a folder, drawn set by set and label by label; takes up files that appear meanwhile."""

    def __init__(self, folder: Path, plan: HeadPlan, *, seed: int) -> None:
        self._folder = folder
        self._plan = plan
        self._random = random.Random(seed)
        self._stamps: dict[Path, int] = {}
        self._rows: dict[tuple[str, int, Path], list[ClaimRow]] = {}
        self._queues: dict[tuple[str, int, Path], list[int]] = {}

    def refresh(self) -> list[str]:
        """Read files that are new or changed; give what was found, for people."""
        found = []
        for path in sorted(self._folder.glob(f"claims_*_{Split.TRAIN.value}.jsonl.gz")):
            stamp = path.stat().st_mtime_ns
            if self._stamps.get(path) == stamp:
                continue
            self._stamps[path] = stamp
            self._rows = {key: rows for key, rows in self._rows.items() if key[2] != path}
            count = 0
            for row in read_rows(path):
                self._rows.setdefault((row.language, row.label, path), []).append(row)
                count += 1
            self._queues = {}
            found.append(f"{path.name}: {count:,} rows")
        return found

    def draw(self) -> ClaimRow:
        """One row: by language, by label, then sets weigh as the root of their size."""
        language = "ja" if self._random.random() < self._plan.japanese else "en"
        label = int(self._random.random() < self._plan.supported)
        keys = [key for key in self._rows if key[:2] == (language, label)]
        if not keys:
            if not self._rows:
                raise FileNotFoundError(f"There are no rows to train on in {self._folder}.")
            return self._next(self._random.choice(list(self._rows)))
        return self._next(self._random.choices(keys, [math.sqrt(len(self._rows[key])) for key in keys])[0])

    def _next(self, key: tuple[str, int, Path]) -> ClaimRow:
        queue = self._queues.get(key)
        if not queue:
            queue = self._queues[key] = self._random.sample(range(len(self._rows[key])), len(self._rows[key]))
        return self._rows[key][queue.pop()]


@dataclass(slots=True)
class HeadProgress:
    """Where a run is."""

    seconds: float = 0.0
    steps: int = 0
    pairs: int = 0


class HeadTraining:
    """One run: a network, its plan, the folder of rows, and the folder that checkpoint and log go to."""

    def __init__(
        self, network: SupportNetwork, plan: HeadPlan, encoder: ClaimEncoder, *, rows: Path, out: Path
    ) -> None:
        self.network = network
        self.plan = plan
        self.progress = HeadProgress()
        self._before: HeadProgress | None = None
        self._encoder = encoder
        self._folder = rows
        self._out = out
        self._draw_anew(plan.seed)
        self._random = random.Random(plan.seed)
        trained = list(network.trained().values())
        self._optimizer = torch.optim.AdamW(trained, lr=plan.rate, betas=(0.9, 0.98), weight_decay=0.0)
        self._told: dict[str, float] = {}
        out.mkdir(parents=True, exist_ok=True)

    @property
    def checkpoint(self) -> Path:
        """The file to resume from."""
        return self._out / CHECKPOINT

    def forget(self) -> None:
        """Remove checkpoint and log, to begin anew."""
        self.checkpoint.unlink(missing_ok=True)
        (self._out / LOG).unlink(missing_ok=True)

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one."""
        if not self.checkpoint.is_file():
            return False
        kept = torch.load(self.checkpoint, weights_only=True)
        restore(self.network, kept["network"])
        self._optimizer.load_state_dict(kept["optimizer"])
        self.progress = HeadProgress(**kept["progress"])
        self._before = HeadProgress(**kept["before"]) if kept.get("before") else None
        # What was read before is not read again first.
        self._draw_anew(self.plan.seed + self.progress.steps)
        return True

    def begin_with(self, checkpoint: Path) -> None:
        """Take over the numbers of an earlier run; rates, rows and time begin anew, and checkpoints tell of it."""
        kept = torch.load(checkpoint, weights_only=True)
        restore(self.network, kept["network"])
        self._before = HeadProgress(**kept["progress"])
        self._draw_anew(self.plan.seed + _ANOTHER)

    def _draw_anew(self, seed: int) -> None:
        self._rows = ClaimRows(self._folder, self.plan, seed=seed)

    def run(self, say: Callable[[str], None]) -> None:
        """Train until the minutes are over."""
        torch.set_num_threads(self.plan.threads)
        began = time.monotonic() - self.progress.seconds
        saved_at = evaluated_at = told_at = time.monotonic()
        for batch in self.batches(say):
            self.step(batch)
            now = time.monotonic()
            self.progress.seconds = now - began
            if now - told_at > _TELL:
                say(self._line())
                told_at = now
            if now - saved_at > 60 * self.plan.checkpoint_minutes:
                self.save()
                saved_at = now
            if now - evaluated_at > 60 * self.plan.evaluate_minutes:
                self.evaluate(say)
                evaluated_at = time.monotonic()
            if self.progress.seconds >= 60 * self.plan.minutes:
                break
        self.save()
        self.evaluate(say)

    def batches(self, say: Callable[[str], None]) -> Iterator[ClaimBatch]:
        """Batches without end."""
        while True:
            for line in self._rows.refresh():
                say(f"  took up {line}")
            pool: list[ClaimPair] = []
            while len(pool) < _POOL:
                pair = self._encoder.pair(self._rows.draw())
                if pair is None or (len(pair.ids) > self.plan.short and self._random.random() > self.plan.long_share):
                    continue
                pool.append(pair)
            yield from batches(pool, tokens=self.plan.tokens, seed=self.plan.seed + self.progress.steps)

    def step(self, batch: ClaimBatch) -> dict[str, float]:
        """One step; gives the losses."""
        self.network.train()
        for group in self._optimizer.param_groups:
            group["lr"] = self.plan.rate * self.rate_share()
        found = self.losses_of(batch)
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(torch.stack(list(found.values())).sum())
        torch.nn.utils.clip_grad_norm_(list(self.network.trained().values()), 1.0)
        self._optimizer.step()
        self.progress.steps += 1
        self.progress.pairs += len(batch.label)
        told_now = {name: float(value.detach()) for name, value in found.items()}
        for name, value in told_now.items():
            self._told[name] = value if name not in self._told else 0.98 * self._told[name] + 0.02 * value
        return told_now

    def losses_of(self, batch: ClaimBatch) -> dict[str, Tensor]:
        """Every loss of a batch by its name, weighted."""
        with torch.autocast("cpu", torch.bfloat16):
            scores = self.network(torch.from_numpy(batch.ids))
        return losses(scores, batch)

    def rate_share(self) -> float:
        """Share of the highest learning rate: up in a line, then down in a line to the end of the time."""
        passed = min(self.progress.seconds / (60 * self.plan.minutes), 1.0)
        if passed < self.plan.warm_up:
            return passed / self.plan.warm_up + 1e-2
        return max((1.0 - passed) / (1.0 - self.plan.warm_up), 1e-2)

    def save(self) -> None:
        """Write the checkpoint; whoever reads it meanwhile sees the last one."""
        half = self.checkpoint.with_suffix(".part")
        kept: dict[str, Any] = {"network": saved(self.network), "optimizer": self._optimizer.state_dict()}
        kept["before"] = asdict(self._before) if self._before else None
        kept |= {"progress": asdict(self.progress), "plan": json.loads(json.dumps(asdict(self.plan)))}
        torch.save(kept, half)
        half.replace(self.checkpoint)

    def evaluate(self, say: Callable[[str], None]) -> dict[str, dict[str, float]]:
        """Figures on a sample of CALIBRATE rows; told, and added to the log."""
        rows = sample(self._folder, rows=self.plan.evaluate_rows)
        if not rows:
            return {}
        began = time.monotonic()
        found = figures(*scored(rows, self._encoder, torch_scorer(self.network)))
        self.note(found)
        say(f"  on CALIBRATE ({time.monotonic() - began:.0f} s):\n{brief(found)}")
        return found

    def note(self, found: dict[str, dict[str, float]]) -> None:
        """Add figures to the log of the run."""
        line: dict[str, Any] = {**asdict(self.progress), "losses": {k: round(v, 4) for k, v in self._told.items()}}
        with (self._out / LOG).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({**line, "figures": found}) + "\n")

    def _line(self) -> str:
        one = self.progress
        told = "  ".join(f"{name} {value:.3f}" for name, value in self._told.items())
        speed = one.pairs / max(one.seconds, 1.0)
        return f"  {one.seconds / 60:5.1f} of {self.plan.minutes:g} min, {one.pairs:,} pairs ({speed:.1f}/s): {told}"


def losses(scores: Support, batch: ClaimBatch) -> dict[str, Tensor]:
    """By pair, by place of the wrong words, and by token, each with its weight."""
    label, wrong = torch.from_numpy(batch.label).float(), torch.from_numpy(batch.wrong)
    pair = functional.binary_cross_entropy_with_logits(scores.pairs, label)
    known = (wrong >= 0) & (scores.tokens > OUTSIDE / 2)
    marked = (wrong == 1) & known
    nothing = scores.tokens.sum() * 0.0
    token = place = nothing
    if bool(known.any()):
        token = functional.binary_cross_entropy_with_logits(scores.tokens[known], marked[known].float()) * _TOKENS
    rows = marked.any(dim=1)
    if bool(rows.any()):
        weights = marked[rows].float()
        shares = scores.tokens[rows].log_softmax(dim=1)
        place = -((shares * weights).sum(dim=1) / weights.sum(dim=1)).mean()
    return {"pair": 2.0 * pair, "place": 0.5 * place, "token": 0.5 * token}


Scorer = Callable[[NDArray[np.int64]], NDArray[np.float32]]
"""Padded ids to one logit of support per row."""


def torch_scorer(network: SupportNetwork) -> Scorer:
    """The network itself, in 16 bits."""

    def score(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        network.eval()
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            found: NDArray[np.float32] = network(torch.from_numpy(ids)).pairs.float().numpy()
        return found

    return score


def sample(folder: Path, *, rows: int, split: Split = Split.CALIBRATE, seed: int = 7) -> list[ClaimRow]:
    """At most `rows` rows of every set in `folder`, always the same ones; never of TEST."""
    if split is Split.TEST:
        raise ValueError("TEST rows are measured by benchmarks, never here")
    chosen: list[ClaimRow] = []
    for path in sorted(folder.glob(f"claims_*_{split.value}.jsonl.gz")):
        everyone = list(read_rows(path))
        chosen += random.Random(seed).sample(everyone, min(rows, len(everyone)))
    return chosen


def scored(
    rows: Sequence[ClaimRow], encoder: ClaimEncoder, scorer: Scorer, *, at_once: int = 16
) -> tuple[list[ClaimRow], NDArray[np.float64]]:
    """The rows that fit, and their logits."""
    pairs = [(row, pair) for row in rows if (pair := encoder.pair(row)) is not None]
    order = sorted(range(len(pairs)), key=lambda index: len(pairs[index][1].ids))
    logits = np.zeros(len(pairs))
    for start in range(0, len(order), at_once):
        chunk = order[start : start + at_once]
        logits[chunk] = scorer(pad_rows([pairs[index][1].ids for index in chunk]))
    return [row for row, _ in pairs], logits


def figures(rows: Sequence[ClaimRow], logits: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Per language and set, and per kind of wrong claims against the right ones of the sets where it occurs."""
    labels = np.array([row.label for row in rows], dtype=np.int8)
    found: dict[str, dict[str, float]] = {}
    for language in sorted({row.language for row in rows}):
        here = np.array([row.language == language for row in rows])
        found[f"all {language}"] = _figures(logits[here], labels[here])
        for name in sorted({row.set for row in rows if row.language == language}):
            some = np.array([row.set == name for row in rows])
            found[f"{name} {language}"] = _figures(logits[some], labels[some])
        for kind in sorted({row.kind for row in rows if row.language == language and row.label == 0}):
            sets = {row.set for row in rows if row.kind == kind and row.label == 0}
            fits = (row.kind == kind if row.label == 0 else row.set in sets for row in rows)
            chosen = here & np.fromiter(fits, dtype=bool, count=len(rows))
            found[f"{language} {kind}"] = _figures(logits[chosen], labels[chosen])
    return found


def _figures(logits: NDArray[np.float64], labels: NDArray[np.int8]) -> dict[str, float]:
    right, wrong = logits[labels == 1], logits[labels == 0]
    if not len(right) or not len(wrong):
        return {"rows": float(len(labels))}
    balanced = (float((right > 0).mean()) + float((wrong <= 0).mean())) / 2
    told = {"rows": float(len(labels)), "auc": auc(logits, labels), "balanced": balanced}
    return {name: round(value, 4) for name, value in told.items()}


def brief(found: dict[str, dict[str, float]]) -> str:
    """Figures on one line a set."""
    return "\n".join(f"    {n:<24} " + "  ".join(f"{k} {v:g}" for k, v in one.items()) for n, one in found.items())
