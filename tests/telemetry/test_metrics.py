from __future__ import annotations

import urllib.request
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from tadasu.telemetry.metrics import MOST_VALUES, OTHER, Family, Meters

CUPS = Family("cups", "Cups of tea.", ("kind",))
POTS = Family("pots", "Pots.")
WAITS = Family("wait_seconds", "Waits.", ("kind",), (0.1, 0.3, 1.0))
DEPTH = Family("queue_depth", "Who waits.", falls=True)
ALL = (CUPS, POTS, WAITS, DEPTH)


def values(meters: Meters) -> dict[tuple[str, str], float]:
    """(sample name, its label values joined) → value."""
    return {(name, ",".join(labels.values())): value for name, labels, value in meters.samples()}


def test_what_is_added_is_shown_under_its_labels() -> None:
    meters = Meters(ALL)
    meters.add(CUPS, "sencha")
    meters.add(CUPS, "sencha", amount=2.5)
    meters.add(CUPS, "緑茶")
    meters.mention(CUPS, "mugicha")
    shown = values(meters)
    assert shown["cups_total", "sencha"] == 3.5
    assert shown["cups_total", "緑茶"] == 1.0
    assert shown["cups_total", "mugicha"] == 0.0
    assert shown["pots_total", ""] == 0.0  # a family without labels is there from the start


def test_a_counter_never_falls_and_a_gauge_may() -> None:
    meters = Meters(ALL)
    with pytest.raises(ValueError, match="never falls"):
        meters.add(POTS, amount=-1)
    meters.move(DEPTH, by=3)
    meters.move(DEPTH, by=-1)
    assert values(meters)["queue_depth", ""] == 2.0
    meters.put(DEPTH, value=7)
    assert values(meters)["queue_depth", ""] == 7.0


@given(st.lists(st.floats(0, 5), max_size=30))
@settings(max_examples=40)
def test_a_bucket_holds_all_that_is_not_above_its_border(seconds: Sequence[float]) -> None:
    meters = Meters(ALL)
    for one in seconds:
        meters.observe(WAITS, "a", seconds=one)
    shown = {labels["le"]: value for name, labels, value in meters.samples() if name == "wait_seconds_bucket"}
    borders = {"0.1": 0.1, "0.3": 0.3, "1.0": 1.0, "+Inf": float("inf")}
    assert shown == (
        {name: sum(one <= border for one in seconds) for name, border in borders.items()} if seconds else {}
    )
    assert values(meters).get(("wait_seconds_count", "a"), 0.0) == len(seconds)
    assert values(meters).get(("wait_seconds_sum", "a"), 0.0) == pytest.approx(sum(seconds))


def test_a_label_that_grows_without_end_is_cut_off_and_nothing_is_lost() -> None:
    meters = Meters(ALL)
    for number in range(MOST_VALUES + 200):
        meters.add(CUPS, f"kind-{number}")
    meters.add(CUPS, "kind-0")
    shown = {labels["kind"]: value for name, labels, value in meters.samples() if name == "cups_total"}
    assert len(shown) == MOST_VALUES + 1
    assert shown[OTHER] == 200.0
    assert shown["kind-0"] == 2.0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 3)), max_size=20), st.integers(0, 20))
@settings(max_examples=40)
def test_counting_on_from_a_state_is_counting_all(events: Sequence[tuple[str, float]], cut: int) -> None:
    whole, first, second = Meters(ALL), Meters(ALL), Meters(ALL)

    def count(meters: Meters, part: Sequence[tuple[str, float]]) -> None:
        for kind, seconds in part:
            meters.add(CUPS, kind)
            meters.observe(WAITS, kind, seconds=seconds)

    count(whole, events)
    count(first, events[:cut])
    second.restore(first.state())
    count(second, events[cut:])
    assert values(second) == pytest.approx(values(whole))


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"cups": [], "pots": [], "wait_seconds": [], "queue_depth": [], "more": []},
        {"cups": [[["a", "b"], [1.0]]], "pots": [], "wait_seconds": [], "queue_depth": []},
        {"cups": [], "pots": [], "wait_seconds": [[["a"], [1.0]]], "queue_depth": []},
    ],
)
def test_a_state_of_other_families_is_refused_whole(state: dict[str, list[list[list[object]]]]) -> None:
    meters = Meters(ALL)
    with pytest.raises(ValueError, match="other families"):
        meters.restore(state)
    assert values(meters) == values(Meters(ALL))


def test_the_exposition_is_read_back_and_served_as_it_is() -> None:
    meters = Meters(ALL)
    meters.add(CUPS, 'a "quoted"\nname\\')
    meters.observe(WAITS, "a", seconds=0.3)
    read = {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(meters.text())
        for sample in family.samples
    }
    assert read["cups_total", frozenset({'a "quoted"\nname\\'})] == 1.0
    assert read["wait_seconds_bucket", frozenset({"0.3", "a"})] == 1.0
    server = meters.serve(host="127.0.0.1", port=0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as reply:
            assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
            assert reply.read().decode() == meters.text()
    finally:
        server.close()
    with pytest.raises(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=1)
