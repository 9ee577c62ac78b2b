"""Groups of options. Each is declared once, as a dataclass, and spread over the commands that take its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints


def only(*names: str) -> Callable[[str], bool]:
    """In the annotation of a group: the command takes only these options; the others keep their defaults."""
    return lambda name: name in names


def without(*names: str) -> Callable[[str], bool]:
    """In the annotation of a group: the command takes all its options except these."""
    return lambda name: name not in names


def names_of(group: type) -> frozenset[str]:
    """The names of a group's options."""
    return frozenset(field.name for field in fields(group))


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer sees it: each group of options is replaced by its options.

    A command annotates its groups as `Group`, `Annotated[Group, only(...)]` or `Annotated[Group, without(...)]`.
    """
    hints = get_type_hints(command, include_extras=True)
    seen: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        group, *choice = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not is_dataclass(group):
            seen.append(parameter.replace(annotation=hint))
            continue
        taken = [field for field in fields(group) if all(takes(field.name) for takes in choice)]
        groups[parameter.name] = group, [field.name for field in taken]  # type: ignore[assignment]
        kinds = get_type_hints(group, include_extras=True)
        seen += [_parameter(field, kinds[field.name]) for field in taken]

    @wraps(command)
    def spread_command(**typed: Any) -> None:
        for name, (group, options) in groups.items():
            typed[name] = group(**{option: typed.pop(option) for option in options})
        command(**typed)

    spread_command.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined]
    spread_command.__annotations__ = {parameter.name: parameter.annotation for parameter in seen}
    return spread_command


def _parameter(field: Field[Any], kind: object) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
