"""The alerts fire when they should and only then: promtool says so, and says otherwise of rules that are off by a little."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tadasu.app import call_metrics, run_metrics
from tadasu.telemetry.metrics import Family

FOLDER = Path(__file__).parents[2] / "deploy" / "prometheus"
RULES = FOLDER / "tadasu.rules.yml"
DASHBOARD = FOLDER.parent / "grafana" / "tadasu.json"
PAGE = FOLDER.parents[1] / "docs" / "how-to" / "monitor.md"
PROMTOOL = shutil.which("promtool")
FAMILIES: dict[str, Family] = {one.name: one for one in (*run_metrics.FAMILIES, *call_metrics.FAMILIES)}

needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="promtool is not installed (Debian's package prometheus has it): alert rules are not tried"
)


def promtool(*words: str | Path) -> subprocess.CompletedProcess[str]:
    assert PROMTOOL is not None
    return subprocess.run([PROMTOOL, *map(str, words)], capture_output=True, text=True, timeout=300)


def cases(folder: Path) -> list[Path]:
    return sorted((folder / "tests").glob("*.yml"))


@needs_promtool
def test_the_rules_are_in_order() -> None:
    done = promtool("check", "rules", RULES)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_alerts_fire_above_their_limits_and_stay_silent_at_them() -> None:
    done = promtool("test", "rules", *cases(FOLDER))
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
@pytest.mark.parametrize(
    ("case", "rule", "instead"),
    [
        ("web_fallback", "ratio1h > 0.40", "ratio1h > 0.42"),
        ("web_fallback", "ratio1h > 0.40", "ratio1h >= 0.40"),
        ("web_fallback", "increase1h >= 20", "increase1h >= 1"),
        ("grader", "p95_15m > 0.3 ", "p95_15m > 0.31 "),
        ("grader", "p95_15m > 0.3 ", "p95_15m >= 0.3 "),
        ("grader", "count[15m])) >= 20", "count[15m])) >= 1"),
        ("grader", "histogram_quantile(0.95", "histogram_quantile(0.9"),
        ("calls", '"budget_spent"', '"correct"'),
        ("calls", '{provider!="other"}', ""),
        ("calls", "> 0.25", ">= 0.25"),
    ],
)
def test_the_cases_notice_rules_that_are_off_by_a_little(tmp_path: Path, case: str, rule: str, instead: str) -> None:
    text = RULES.read_text("utf-8")
    assert rule in text
    changed = tmp_path / RULES.name
    changed.write_text(text.replace(rule, instead), "utf-8")
    (tmp_path / "tests").mkdir()
    tried = shutil.copy(FOLDER / "tests" / f"{case}.yml", tmp_path / "tests")
    assert promtool("check", "rules", changed).returncode == 0
    done = promtool("test", "rules", tried)
    assert done.returncode != 0
    assert "FAILED" in done.stdout + done.stderr


def expressions() -> list[str]:
    """What the dashboard asks for, with what Grafana fills in."""
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    return [text.replace("$__rate_interval", "5m").replace("$__range", "6h") for text in asked]


@needs_promtool
def test_the_dashboard_asks_what_prometheus_understands(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(expressions())]
    file = tmp_path / "panels.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}), "utf-8")  # JSON is YAML
    done = promtool("check", "rules", file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules)} rules found" in done.stdout


def test_the_dashboard_uses_recorded_names_that_the_rules_make() -> None:
    recorded = set(re.findall(r"record: (\S+)", RULES.read_text("utf-8")))
    asked = {name for text in expressions() for name in re.findall(r"tadasu:\w+:\w+", text)}
    assert asked
    assert asked <= recorded


@pytest.mark.parametrize("file", [RULES, DASHBOARD, PAGE, *cases(FOLDER)], ids=lambda file: file.name)
def test_only_metrics_that_there_are_are_spoken_of(file: Path) -> None:
    spoken = set(re.findall(r"\btadasu_\w+", file.read_text("utf-8")))
    shown = {sample for family in FAMILIES.values() for sample in _samples(family)}
    if file == PAGE:
        shown |= set(FAMILIES)  # a page speaks of a histogram by its own name
        told = {family.name if family.buckets else _samples(family)[0] for family in FAMILIES.values()}
        assert told <= spoken  # and of every metric
    assert spoken
    assert spoken <= shown


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_names_follow_the_conventions(family: Family) -> None:
    assert re.fullmatch(r"tadasu_[a-z][a-z_]*[a-z]", family.name)
    assert not family.name.endswith(("_total", "_count", "_sum", "_bucket", "_ms", "_milliseconds"))
    assert bool(family.buckets) is family.name.endswith("_seconds")
    assert list(family.buckets) == sorted(set(family.buckets))
    assert family.help.endswith(".")
    assert not set(family.labels) & {
        "question",
        "query",
        "run",
        "run_id",
        "url",
        "host",
        "user",
        "session",
        "le",
        "job",
    }


def test_the_graders_limit_is_a_border_of_its_buckets() -> None:
    assert 0.3 in run_metrics.GRADING_SECONDS.buckets
    assert 0.3 in run_metrics.CALL_SECONDS.buckets


def _samples(family: Family) -> tuple[str, ...]:
    if family.buckets:
        return tuple(f"{family.name}_{part}" for part in ("bucket", "count", "sum"))
    return (family.name if family.falls else f"{family.name}_total",)
