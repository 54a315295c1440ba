"""Sending once from outside a task: the same outbox, the same promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.effects.sending import Dispatcher
from setpoint.effects.transport import Transports, function_of
from setpoint.errors import EffectFault, UsageError
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.outbox import Selection
from setpoint.model.letter import Occasion, letters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from setpoint.ledger.outbox import Outbox
    from setpoint.model.delivery import Delivery
    from setpoint.model.effect import Effect
    from setpoint.model.window import Window


def send_once(
    effect: Effect,
    rows: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    scope: str,
    window: Window | None = None,
    ledger: str | None = None,
    folder: Path | str = ".",
    outbox: Outbox | None = None,
) -> list[Delivery]:
    """Send an effect once for a scope, window and business id, however often this is called.

    Args:
        effect: `email(…)`, `http(…)` or another, with `each=…` naming the business id.
        rows: What the message is made of: a row, or several.
        scope: What takes the place of a task's name in the key: `"signup"`.
        window: The window that the message is about, if there is one.
        ledger: The ledger's URL, such as `sqlite:///outbox.db`; by default that of the project.
        folder: The project's folder, or one inside it; where a relative `ledger` starts.
        outbox: An outbox that is open already.

    Returns:
        The deliveries as they stand now: look at `state`.
    """
    if effect.summary or effect.where:
        raise UsageError(
            f"effect {effect.name}: summary and where ask a committed table, and there is none",
            next_step="give the rows themselves",
        )
    given = [rows] if not isinstance(rows, (list, tuple)) else list(rows)
    if outbox is not None:
        return _send(effect, given, scope, window, outbox)
    root = Path(folder)
    if ledger is None:
        from setpoint.project.project import open_settings

        settings = open_settings(root)
        ledger, root = settings.ledger_url, settings.root
    with open_ledger(ledger, root=root, create=True) as opened:
        return _send(effect, given, scope, window, opened.outbox)


def _send(
    effect: Effect,
    rows: list[Any],
    scope: str,
    window: Window | None,
    outbox: Outbox,
) -> list[Delivery]:
    if not scope:
        raise EffectFault(f"effect {effect.name}: the scope is empty", next_step='scope="signup"')
    made = letters(effect, rows, Occasion(task=scope, window=window, recorded_at=outbox.now()))
    outbox.offer(made, insist=True)
    dispatcher = Dispatcher(outbox, transport=Transports(lambda: function_of(scope, effect)))
    chosen = Selection(task=scope, effect=effect.name, key=made[0].key if len(made) == 1 else None)
    dispatcher.send(chosen)
    found = outbox.of_keys([each.key for each in made])
    return [found[each.key] for each in made]
