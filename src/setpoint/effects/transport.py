"""Which transport sends a message; each is made once, when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setpoint.effects.sending import Transport
    from setpoint.model.delivery import Delivery
    from setpoint.model.effect import Effect
    from setpoint.model.task import Task


Functions = Mapping[tuple[str, str], Callable[..., Any]]


class Transports:
    """The transports of one process."""

    def __init__(self, functions: Callable[[], Functions]) -> None:
        self._look_up = functions
        self._made: dict[object, Transport] = {}

    def __call__(self, delivery: Delivery) -> Transport:
        """The one for this message; an error when its function is nowhere to be found."""
        own = (delivery.task, delivery.effect)
        plain = delivery.kind == "publish" and delivery.content.get("server") is not None
        name: object = own if delivery.kind in ("call", "publish") and not plain else delivery.kind
        if name not in self._made:
            self._made[name] = self._make(delivery, own)
        return self._made[name]

    def _make(self, delivery: Delivery, own: tuple[str, str]) -> Transport:
        if delivery.kind in ("http", "slack"):
            from setpoint.effects.http import HttpSender

            return HttpSender()
        if delivery.kind == "email":
            from setpoint.effects.email import EmailSender

            return EmailSender()
        if delivery.kind == "publish" and delivery.content.get("server") is not None:
            from setpoint.effects.publish import kafka_publisher

            return kafka_publisher()
        # Found only now: for most messages no task file needs to be read.
        functions = self._look_up()
        if own not in functions:
            raise UsageError(
                f"effect {own[1]} of task {own[0]} calls a function that the project does not have",
                next_step="put the task's effect back, or: setpoint effects resolve "
                f"{delivery.key[:12]} --sent",
            )
        if delivery.kind == "call":
            from setpoint.effects.call import FunctionCaller

            return FunctionCaller(functions[own])
        from setpoint.effects.publish import FunctionPublisher

        return FunctionPublisher(functions[own])


def functions_of(tasks: Iterable[Task]) -> Functions:
    """The functions that the effects of tasks call, by task and effect."""
    return {
        (task.name, effect.name): effect.function
        for task in tasks
        for effect in task.effects
        if effect.function is not None
    }


def function_of(task: str, effect: Effect) -> Functions:
    """The function of one effect, if it has one."""
    return {} if effect.function is None else {(task, effect.name): effect.function}
