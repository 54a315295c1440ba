"""From rows of a committed result to what is sent: `{column}` filled in, nothing else run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from setpoint.errors import EffectFault
from setpoint.model.delivery import Delivery, digest_of
from setpoint.model.effect import SETTINGS, effect_key
from setpoint.model.encoding import text_of
from setpoint.model.idempotency_key import canonical_json

if TYPE_CHECKING:
    from setpoint.model.effect import Effect
    from setpoint.model.window import Window

Row = Mapping[str, Any]

# A value is named in braces; `${NAME}` is the environment's and stays as it is.
PLACE = re.compile(r"\{\{|\}\}|(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")
FUNCTIONS = ("text", "subject", "body", "value", "values", "to")
FREE = ("body", "value", "values")
LINES = ("to", "subject", "topic", "message_key", "url")
LONGEST = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Occasion:
    """The commit that the messages are about."""

    task: str
    window: Window | None
    recorded_at: datetime
    run_id: str | None = None
    by_hand: bool = False

    @property
    def values(self) -> dict[str, Any]:
        """What every message may name."""
        window = self.window
        named = {"task": self.task, "window": window.label if window else "whole table"}
        return named | ({"ds": window.ds, "next_ds": window.next_ds} if window else {})


def letters(effect: Effect, rows: Sequence[Row], occasion: Occasion) -> list[Delivery]:
    """The messages that the rows call for: one for each, or one for all of them."""
    if len(rows) > effect.limit:
        raise EffectFault(
            f"effect {effect.name}: more than {effect.limit:,} rows; nothing was recorded",
            next_step=f"narrow them with where=…, sum them up with summary=…, "
            f"or raise limit={effect.limit}",
        )
    if not effect.each:
        # The summary of no rows is a row of nulls: an empty window has nothing to tell.
        if not rows or (effect.summary and not rows[0].get("rows")):
            return []
        values = {**occasion.values, "rows": len(rows), **(rows[0] if effect.summary else {})}
        given = rows[0] if effect.summary else list(rows)
        writer = _Writer(effect=effect, occasion=occasion, values=values, given=given)
        return [writer.letter((), 0)]
    made: dict[str, Delivery] = {}
    for place, row in enumerate(rows):
        business_id = tuple(_id_value(effect, row, column) for column in effect.each)
        values = {**occasion.values, **row}
        writer = _Writer(effect=effect, occasion=occasion, values=values, given=row)
        letter = writer.letter(business_id, place)
        twin = made.setdefault(letter.key, letter)
        if twin.digest != letter.digest:
            raise EffectFault(
                f"effect {effect.name}: two rows share the business id {letter.business_id} "
                "and say different things; nothing was recorded",
                next_step="name the columns that tell them apart in each=…",
            )
    return list(made.values())


@dataclass(frozen=True, kw_only=True)
class _Writer:
    """Writes one message."""

    effect: Effect
    occasion: Occasion
    values: Mapping[str, Any]
    given: Any
    """The row, or all of them, for functions that make a part of the message."""

    def letter(self, business_id: tuple[Any, ...], place: int) -> Delivery:
        effect, occasion, window = self.effect, self.occasion, self.occasion.window
        content = {name: self.part(name, each) for name, each in effect.template.items()}
        size = len(canonical_json(content))
        if size > LONGEST:
            raise EffectFault(
                f"effect {effect.name}: a message of {size:,} characters; at most {LONGEST:,}",
                next_step="send a summary, or a link to the table",
            )
        return Delivery(
            key=effect_key(occasion.task, window, effect.name, business_id),
            task=occasion.task,
            window_start=window.start if window else None,
            window_end=window.end if window else None,
            effect=effect.name,
            kind=effect.kind,
            business_id=", ".join(text_of(value) or "" for value in business_id),
            content=content,
            digest=digest_of(content),
            honours_key=effect.honours_key,
            resend=effect.resend,
            terms=effect.terms,
            by_hand=occasion.by_hand,
            recorded_at=occasion.recorded_at,
            run_id=occasion.run_id,
            place=place,
        )

    def part(self, name: str, template: Any) -> Any:
        """One part of the message, filled in."""
        if name in SETTINGS:
            return _plain(template)
        if template is None and name in FREE:
            # Nothing said about what to send: the row itself, or all of them.
            row = self.given if isinstance(self.given, Mapping) else {"rows": self.given}
            return _plain({**self.occasion.values, **row} if row is not self.given else row)
        if callable(template) and name in FUNCTIONS:
            filled = self.called(name, template)
        else:
            filled = fill(template, self.values, effect=self.effect.name, encode=name == "url")
        if name in LINES:
            _one_line(self.effect, name, filled)
        return _plain(filled)

    def called(self, name: str, function: Callable[..., Any]) -> Any:
        """What the author's own function makes of the rows."""
        try:
            return function(self.given, self.occasion.window)
        except Exception as error:
            raise EffectFault(
                f"effect {self.effect.name}: its {name} raised {type(error).__name__}: {error}",
                next_step=f"correct the function that makes the {name}",
            ) from error


def fill(template: Any, values: Mapping[str, Any], *, effect: str, encode: bool = False) -> Any:
    """The template with each `{name}` replaced; a text that is nothing but one keeps its type."""
    if isinstance(template, str):
        whole = PLACE.fullmatch(template)
        if whole and whole[1] and not encode:
            return _value(whole[1], values, effect)

        def put(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0][0]
            text = _shown(_value(match[1], values, effect))
            return quote(text, safe="") if encode else text

        return PLACE.sub(put, template)
    if isinstance(template, Mapping):
        return {str(key): fill(each, values, effect=effect) for key, each in template.items()}
    if isinstance(template, (list, tuple)):
        return [fill(each, values, effect=effect) for each in template]
    return template


def _value(name: str, values: Mapping[str, Any], effect: str) -> Any:
    if name not in values:
        raise EffectFault(
            f"effect {effect}: there is no {{{name}}} to fill in",
            next_step=f"it may name: {', '.join(values)}; write {{{{ for a brace",
        )
    return values[name]


def _id_value(effect: Effect, row: Row, column: str) -> Any:
    if column not in row:
        raise EffectFault(
            f"effect {effect.name}: the result has no column {column!r}",
            next_step=f"name in each=… one of: {', '.join(row)}",
        )
    value = row[column]
    if value is None:
        raise EffectFault(
            f"effect {effect.name}: a row has no {column}, so its message has no key",
            next_step=f'leave such rows out with where="{column} IS NOT NULL"',
        )
    return value


def _one_line(effect: Effect, name: str, value: Any) -> None:
    """A line break in a header would begin another header."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and not text.isprintable():
            raise EffectFault(
                f"effect {effect.name}: its {name} holds a line break or control character",
                next_step=f"clean the column that the {name} is made of",
            )
        if isinstance(text, str) and name == "to" and "${" in text:
            raise EffectFault(f"effect {effect.name}: an address holds ${{, which no address has")


def _shown(value: Any) -> str:
    if isinstance(value, (str, int, Decimal, date)) and not isinstance(value, bool):
        return str(value)
    return "" if value is None else json.dumps(_plain(value), ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    """The value as the outbox keeps it: what JSON holds, numbers exact."""
    return json.loads(canonical_json(value), parse_float=Decimal)
