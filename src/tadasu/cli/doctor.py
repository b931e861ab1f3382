"""`tadasu doctor`: is everything in place?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame, clean

if TYPE_CHECKING:
    from tadasu.app.findings import Finding
    from tadasu.app.tadasu import Tadasu


def doctor(
    frame: Frame,
    *,
    offline: Annotated[bool, typer.Option("--offline", help="Do not call the chat service.")] = False,
) -> Exit | None:
    """Check that everything is in place.

    Looks at models, index, runs, settings, keys and services, and says what to do about what is wrong.

    \b
    Example:
      tadasu doctor
    """
    import asyncio

    from tadasu.app.findings import Health

    findings = asyncio.run(_diagnose(frame, network=not offline))
    broken = any(finding.health is Health.ERROR for finding in findings)
    if frame.json:
        frame.emit({"healthy": not broken, "findings": [finding_object(frame, finding) for finding in findings]})
    else:
        _show(frame, findings)
    return Exit.UNEXPECTED if broken else None


async def _diagnose(frame: Frame, *, network: bool) -> tuple[Finding, ...]:
    from tadasu.app.doctor import diagnose

    opened: list[Tadasu] = []

    def open_workspace() -> Tadasu:
        opened.append(frame.open())
        return opened[-1]

    try:
        return await diagnose(open_workspace, network=network)
    finally:
        for tadasu in opened:
            await tadasu.close()


def finding_object(frame: Frame, finding: Finding) -> dict[str, str]:
    """The JSON of a finding: ``check``, ``status``, ``message``, ``advice``."""
    return {
        "check": finding.check,
        "status": finding.health.value,
        "message": frame.say(finding.template, **finding.details),
        "advice": frame.say(finding.advice_template, **finding.details),
    }


def _show(frame: Frame, findings: tuple[Finding, ...]) -> None:
    from tadasu.app.findings import Health

    console = frame.out()
    marks = {Health.OK: ("ok", "green"), Health.WARNING: ("warning", "yellow"), Health.ERROR: ("error", "red")}
    for finding in findings:
        word, style = marks[finding.health]
        told = finding_object(frame, finding)
        console.print(f"{frame.say(word):<8} {clean(told['message'])}", style=style, soft_wrap=True)
        if told["advice"] and finding.health is not Health.OK:
            console.print(f"         {clean(told['advice'])}", soft_wrap=True)
