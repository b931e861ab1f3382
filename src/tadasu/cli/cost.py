"""`tadasu cost`: what the calls of a period took and cost."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.filters import check_dates
from tadasu.cli.frame import Frame, clean, write_text
from tadasu.errors import InputInvalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from tadasu.app.spending import Spending, Sums
    from tadasu.core.usage import Money

_BY = ("day", "model", "stage", "provider", "tenant")
_FIELDS = (
    "runs", "calls", "failed", "retried", "input_tokens", "output_tokens", "items", "cached", "duration_ms", "unpriced",
)  # fmt: skip


def cost(
    frame: Frame,
    *,
    by: Annotated[str, typer.Option("--by", metavar="|".join(_BY), help="What amounts are added up over.")] = "day",
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="First day. [default: 29 days before the last]")
    ] = "",
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="Last day. [default: today]")] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values, for a spreadsheet.")] = False,
) -> Exit | None:
    """Add up what runs took and cost.

    Every call counts, failed and retried ones too: embedding, search, grading, rewriting, writing, checking. What has
    no known price is counted as unpriced, never as nothing. Days are those of budget.time_zone; amounts are in
    prices.currency. Numbers of one tenant, by tenant those of all.

    \b
    Examples:
      tadasu cost
      tadasu cost --by model --since 2026-01-01
      tadasu cost --by stage --json
    """
    if by not in _BY:
        raise InputInvalid(where="--by", reason=f"{by} is nothing to add up over", fix=f"One of: {', '.join(_BY)}.")
    check_dates(since=since, until=until)
    if since and until and since > until:
        raise InputInvalid(where="--since", reason=f"{since} is after {until}", fix="Name the earlier day first.")
    from tadasu.app.spending import By, spending

    with frame.opened() as (tadasu, _):
        found = spending(tadasu.container, by=By(by), since=since, until=until)
    if frame.json:
        frame.emit(spending_object(found))
    elif as_csv:
        write_text(sys.stdout, _csv(found))
    else:
        _show(frame, found)
    return None


def spending_object(found: Spending) -> dict[str, object]:
    """The JSON: ``period``, ``by``, ``currency``, ``rows``, ``total``, ``broken_off``."""
    period, gone = found.period, found.broken_off
    return {
        "period": {"since": period.since, "until": period.until, "time_zone": period.zone},
        "by": found.by.value,
        "currency": found.money.currency.value,
        "per_usd": found.money.per_usd,
        "rows": [{"name": row.name, **_amounts(found, row)} for row in found.rows],
        "total": _amounts(found, found.total),
        "broken_off": {"count": gone.count, "calls": gone.calls, "cost": found.money.of_usd(gone.usd)},
    }


def _amounts(found: Spending, row: Sums) -> dict[str, object]:
    return {
        **{name: getattr(row, name) for name in _FIELDS},
        "usd": row.usd,
        "cost": found.money.of_usd(row.usd),
    }


def _csv(found: Spending) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([found.by.value, *_FIELDS, "usd", f"cost_{found.money.currency.value.lower()}"])
    for row in found.rows:
        writer.writerow([_harmless(row.name), *_amounts(found, row).values()])
    return out.getvalue()


def _harmless(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in {"=", "+", "-", "@"} else name


def _show(frame: Frame, found: Spending) -> None:
    console, period = frame.out(), found.period
    console.print(
        frame.say("{since} to {until} ({zone})", since=period.since, until=period.until, zone=period.zone), style="bold"
    )
    if not found.total.runs and not found.broken_off.count:
        text = "Nothing was asked in these days. Ask with {ask}, or look further back with {since}."
        console.print(frame.say(text, ask='tadasu ask "…"', since="--since DATE"))
        return
    console.print(_table(frame, found))
    total = found.total
    text = "together: {cost} · {runs} questions · {calls} calls, {failed} of them failed, {retried} tried again"
    words = frame.say(
        text,
        cost=found.money.shown(total.usd),
        runs=f"{total.runs:,}",
        calls=f"{total.calls:,}",
        failed=f"{total.failed:,}",
        retried=f"{total.retried:,}",
    )
    console.print(words, soft_wrap=True)
    if total.unpriced:
        text = "{count} calls have no known price and are in no amount: name it under [prices] in tadasu.toml."
        console.print(frame.say(text, count=f"{total.unpriced:,}"), style="yellow", soft_wrap=True)
    gone = found.broken_off
    if gone.count:
        text = "Besides, without a run (searches, labels, broken off, under way): {count} times, {cost} at the most."
        console.print(
            frame.say(text, count=f"{gone.count:,}", cost=found.money.shown(gone.usd)), style="dim", soft_wrap=True
        )


def _table(frame: Frame, found: Spending) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(frame.say(found.by.value), overflow="fold", ratio=1)
    columns = [column for column in _COLUMNS if column.always or column.cell(found.total, found.money) != "–"]
    for column in columns:
        table.add_column(frame.say(column.head), justify="right", no_wrap=True)
    for row in found.rows:
        table.add_row(clean(row.name) or "–", *(column.cell(row, found.money) for column in columns))
    return table


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table: always there, or only where some row has something to say."""

    head: str
    cell: Callable[[Sums, Money], str]
    always: bool = False


def _count(number: int) -> str:
    return f"{number:,}" if number else "–"


def _time(row: Sums, _: Money) -> str:
    from tadasu.cli.answer_view import seconds

    return seconds(row.duration_ms)


_COLUMNS = (
    _Column("questions", lambda row, _: f"{row.runs:,}", always=True),
    _Column("calls", lambda row, _: f"{row.calls:,}", always=True),
    _Column("failed", lambda row, _: _count(row.failed)),
    _Column("retried", lambda row, _: _count(row.retried)),
    _Column("tokens in", lambda row, _: _count(row.input_tokens)),
    _Column("out", lambda row, _: _count(row.output_tokens)),
    _Column("cached", lambda row, _: f"{row.cached / max(1, row.items):.0%}" if row.cached else "–"),
    _Column("time", _time, always=True),
    _Column("cost", lambda row, money: money.shown(row.usd), always=True),
    _Column("unpriced", lambda row, _: _count(row.unpriced)),
)
