"""`tadasu cache clear`: forget the scores that are remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tadasu.cli.exits import Exit
from tadasu.cli.frame import Frame

if TYPE_CHECKING:
    from tadasu.app.container import Container


def clear(frame: Frame) -> Exit | None:
    """Forget the scores that graders have given.

    Answers stay the same: what is asked again is scored again. Never needed after documents, models or thresholds
    change, because a score is looked up by what it was given for.

    \b
    Example:
      tadasu cache clear
    """
    with frame.opened() as (tadasu, runner):
        removed = runner.run(_clear(tadasu.container))
        engine = tadasu.settings.cache.engine
    if frame.json:
        frame.emit({"engine": engine or None, "removed": removed})
    elif not engine:
        frame.out().print(frame.say("The score cache is off."))
    else:
        frame.out().print(frame.say("Forgotten: {count} scores.", count=removed))
    return None


async def _clear(container: Container) -> int:
    from tadasu.errors import InputInvalid, ProviderUnreachable, StoreUnwritable
    from tadasu.runtime.cache import CountedCache

    cache = container.cache
    if cache is None:
        return 0
    if not isinstance(cache, CountedCache):
        raise InputInvalid(
            where="cache clear", reason="this cache cannot be emptied from here", fix="Empty it with its own tools."
        )
    removed = await cache.clear()
    trouble = getattr(cache, "trouble", "")
    if trouble and container.settings.cache.engine == "sqlite":
        raise StoreUnwritable(path=container.workspace.scores_file, reason=trouble)
    if trouble:
        raise ProviderUnreachable(provider=container.settings.cache.engine, reason=trouble)
    return removed
