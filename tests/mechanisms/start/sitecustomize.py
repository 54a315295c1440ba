"""Python runs this before all else in a process whose PYTHONPATH has this folder.

It puts one switch of `switches.py` in its place, as soon as the module is loaded that it belongs
to: before any other module can have taken a name from it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

SWITCHES = Path(__file__).parent.parent / "switches.py"


class Loader(importlib.abc.Loader):
    """Loads a module as Python would, then switches one thing in it."""

    def __init__(self, original: Any, switch: Any) -> None:
        self._original = original
        self._switch = switch

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """As Python would."""
        made: ModuleType | None = self._original.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """As Python would, and then the switch."""
        self._original.exec_module(module)
        *path, name = self._switch.name.split(".")
        place: Any = module
        for part in path:
            place = getattr(place, part)
        setattr(place, name, self._switch.instead(getattr(place, name)))
        with Path(os.environ["SETPOINT_SWITCHED"]).open("a", encoding="utf-8") as noted:
            noted.write(f"{os.getpid()}\n")


def _switching(find: Any, switch: Any) -> Any:
    """Find modules as before, but the one that has something to be switched with a loader of ours.

    Not a finder of its own: pytest puts one before all others, which asks Python's directly.
    """

    def find_spec(_cls: Any, name: str, path: Any = None, target: Any = None) -> Any:
        spec = find(name, path, target)
        if spec is not None and name == switch.module:
            spec.loader = Loader(spec.loader, switch)
        return spec

    return classmethod(find_spec)


def _install(name: str) -> None:
    spec = importlib.util.spec_from_file_location("setpoint_switches", SWITCHES)
    if spec is None or spec.loader is None:
        raise ImportError(name=str(SWITCHES))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    python = importlib.machinery.PathFinder
    python.find_spec = _switching(python.find_spec, module.SWITCHES[name])  # type: ignore[method-assign]


if os.environ.get("SETPOINT_WITHOUT"):
    _install(os.environ["SETPOINT_WITHOUT"])
