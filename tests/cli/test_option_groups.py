"""Groups of options: declared once, spread over the commands that take them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from fim_private.cli.option_groups import names_of, only, spread, without
from fim_private.cli.question_options import Question


@dataclass(frozen=True, kw_only=True)
class Shape:
    sides: Annotated[int, typer.Option(help="How many.", rich_help_panel="The shape")]
    colour: str = "red"
    filled: Annotated[bool, typer.Option("--filled")] = False


@dataclass(frozen=True, kw_only=True)
class Solid(Shape):
    colour: str = "grey"


def ran(command: object, *arguments: str) -> str:
    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, list(arguments))
    return done.stdout if done.exit_code == 0 else f"exit code {done.exit_code}"


def test_a_command_gets_its_groups_whole() -> None:
    @spread
    def draw(name: str, *, shape: Shape, times: int = 1) -> None:
        """Draw."""
        typer.echo(f"{name} {shape} {times}")

    assert ran(draw, "a", "--sides", "3", "--filled") == "a Shape(sides=3, colour='red', filled=True) 1\n"
    assert ran(draw, "a") == "exit code 2"  # sides have to be typed
    assert list(inspect.signature(draw).parameters) == ["name", "sides", "colour", "filled", "times"]
    assert draw.__doc__ == "Draw."
    assert "How many." in ran(draw, "--help")


def test_a_command_takes_a_part_of_a_group() -> None:
    @spread
    def some(*, shape: Annotated[Shape, only("sides")]) -> None:
        typer.echo(str(shape))

    @spread
    def most(*, shape: Annotated[Shape, without("sides", "colour")]) -> None:
        typer.echo(str(shape))

    assert ran(some, "--sides", "4") == "Shape(sides=4, colour='red', filled=False)\n"
    assert ran(some, "--sides", "4", "--colour", "blue") == "exit code 2"
    assert list(inspect.signature(most).parameters) == ["filled"]


def test_another_default_stands_in_the_place_of_the_first() -> None:
    @spread
    def build(*, shape: Solid) -> None:
        typer.echo(shape.colour)

    assert list(inspect.signature(build).parameters) == [field.name for field in fields(Shape)]
    assert ran(build, "--sides", "1") == "grey\n"
    assert names_of(Solid) == names_of(Shape) == {"sides", "colour", "filled"}


@pytest.mark.parametrize("name", ["mine", "plan"])
def test_the_question_is_asked_by_the_same_options(name: str) -> None:
    from typer.main import get_command

    from fim_private.cli.app import app

    command = get_command(app).get_command(None, name)
    typed = [param.name for param in command.params if param.name in names_of(Question)]
    assert typed == [field.name for field in fields(Question)]
