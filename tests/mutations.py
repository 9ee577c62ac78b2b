"""Which faults a line may have: each an edit of a few characters, found by the syntax tree.

A comparison with the boundary on the other side, an operator or a function exchanged for its counterpart, a number off
by one or halved or doubled, a condition negated, a sign, an option or a statement left out.

Left out on principle is whatever changes only words for people (texts, errors, what `repr` shows), and types; and the
numbers of `Tuning`, found best on public data: whatever they are, what comes of them is proved anew for each plan. So
is what is the same or happens by chance alone: symmetric noise taken off instead of put on, a computed float that meets
its bound to the last digit, a number that keeps finite what `np.where` does not choose.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
LOOSER = (ast.And, ast.Pow, ast.BitAnd)
"""Their counterparts bind less, so the result is put in parentheses."""
COUNTERPARTS = {
    "min": "max",
    "any": "all",
    "floor": "ceil",
    "round_down": "round_up",
    "minimum": "maximum",
    "argmin": "argmax",
    "next_minus": "next_plus",
    "ROUND_FLOOR": "ROUND_CEILING",
}
COUNTERPARTS |= {other: name for name, other in COUNTERPARTS.items()}
FOR_PEOPLE = {"__repr__", "spending", "words", "what", "why", "summary", "source", "indent", "ensure_ascii"}
"""Arguments that change nothing but how something reads; and `strict`, which only finds errors of the program."""
FOR_PROOFS = {"law", "mass", "mix", "probabilities"}
"""Functions with one of these in their name compute exact laws: the tests compare, no release depends on them."""
UNTOUCHED = FOR_PEOPLE | {"strict"}
FLOATS = {"optimal_delta", "log_difference_survival"}
"""Functions of other files that return one."""
FOR_SPEED = {"_WORDS_AT_ONCE", "_WORDS_A_DRAW", "NEGLIGIBLE"}
"""Constants that decide how long something takes, or what is left out of laws."""
SYMMETRIC = {"sample_discrete_laplace", "sample_discrete_gaussian", "sample_discrete_gaussians"}


@dataclass(frozen=True)
class Mutation:
    """One faulty version of a file.

    Args:
        file: relative to the repository.
        number: of the line.
        line: as it is, without what is around it.
        becomes: as it is in the faulty version.
        source: the faulty file.
        statement: numbers of the first and last line of what is executed with it.
    """

    file: str
    number: int
    line: str
    becomes: str
    source: str
    statement: tuple[int, int]


def mutations(path: Path, file: str, defaults: set[tuple[str, str]]) -> list[Mutation]:
    """All of one file, from its first line to its last."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for start, end, text, statement in sorted(set(_Edits(source, starts, defaults).edits)):
        faulty = source[:start] + text.encode() + source[end:]
        ast.parse(faulty)
        number, last = (next(place for place, begin in enumerate(starts) if begin > at) for at in (start, end))
        becomes = faulty.splitlines()[number - 1].decode().strip()
        if last > number and not text:  # an argument with a line of its own
            number, becomes = last, ""
        line = source.splitlines()[number - 1].decode().strip()
        found.append(Mutation(file, number, line, becomes, faulty.decode(), statement))
    return found


def noting_lines(path: Path, file: str) -> str:
    """The source of a file whose functions add (file, line) to the set `executed` before each of their statements.

    Functions that numba compiles are left alone.
    """
    tree = ast.parse(path.read_bytes())
    nodes = list(ast.walk(tree))
    left_alone = {inner for node in nodes if _is_compiled(node) for inner in ast.walk(node)}
    for node in nodes:
        if not isinstance(node, ast.Module | ast.ClassDef) and node not in left_alone:
            for statements in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
                if isinstance(statements, list):
                    for place in range(len(statements), 0, -1):
                        note = f"executed.add(({file!r}, {statements[place - 1].lineno}))"
                        statements[place - 1 : place - 1] = ast.parse(note).body
    return ast.unparse(tree)


def optional_arguments(package: Path) -> set[tuple[str, str]]:
    """(function or class, argument) for whatever in the package may be called without this argument."""
    optional: set[tuple[str, str]] = set()
    required: set[tuple[str, str]] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef):
                arguments = [*node.args.args, *node.args.kwonlyargs]
                given = [None] * (len(node.args.args) - len(node.args.defaults)) + node.args.defaults
                for argument, default in zip(arguments, [*given, *node.args.kw_defaults], strict=True):
                    (optional if default else required).add((node.name, argument.arg))
            elif isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        (optional if part.value else required).add((node.name, part.target.id))
    return optional - required


class _Edits(ast.NodeVisitor):
    """Collects (start, end, text, lines of the statement): bytes start to end of the source become the text."""

    def __init__(self, source: bytes, starts: list[int], defaults: set[tuple[str, str]]) -> None:
        self.source, self.starts, self.defaults = source, starts, defaults
        self.edits: list[tuple[int, int, str, tuple[int, int]]] = []
        self.statement = (0, 0)
        tree = ast.parse(source)
        self.known = set(dir(builtins)) | {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        self.floats = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "float"
        } | FLOATS
        self.visit(tree)

    def span(self, node: ast.AST) -> tuple[int, int]:
        at = self.starts[node.lineno - 1] + node.col_offset
        return at, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.AST) -> str:
        return self.source[slice(*self.span(node))].decode()

    def add(self, start: int, end: int, text: str) -> None:
        self.edits.append((start, end, text, self.statement))

    def exchange(self, operator: ast.AST, left: ast.AST, right: ast.AST, whole: ast.AST | None = None) -> None:
        """The operator between two operands for its counterpart."""
        if type(operator) not in OPERATORS:
            return
        old, new = OPERATORS[type(operator)]
        gap_start, gap_end = self.span(left)[1], self.span(right)[0]
        at = self.source.index(old.encode(), gap_start, gap_end)
        if whole is not None and isinstance(operator, LOOSER):
            start, end = self.span(whole)
            before, after = self.source[start:at].decode(), self.source[at + len(old) : end].decode()
            self.add(start, end, f"({before}{new}{after})")
        else:
            self.add(at, at + len(old), new)

    def visit(self, node: ast.AST) -> None:
        before = self.statement
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno
            self.statement = node.lineno, max(node.lineno, last or 0)
        super().visit(node)
        self.statement = before

    def visit_Raise(self, node: ast.Raise) -> None:
        """Words."""

    visit_JoinedStr = visit_Import = visit_ImportFrom = visit_Raise  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name not in FOR_PEOPLE and not FOR_PROOFS & set(node.name.split("_")):
            for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in node.body:
            if not (node.name == "Tuning" and isinstance(part, ast.AnnAssign)):
                self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.add(*self.span(node), "pass")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator, (left, right) in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
            ordered = isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
            if not (ordered and (self.is_computed(left) or self.is_computed(right))):
                self.exchange(operator, left, right)
        self.generic_visit(node)

    def is_computed(self, operand: ast.expr) -> bool:
        """Whether it is a float that comes out of a calculation."""
        if not isinstance(operand, ast.Call):
            return isinstance(operand, ast.Attribute) and operand.attr in self.floats
        name = operand.func.attr if isinstance(operand.func, ast.Attribute) else getattr(operand.func, "id", "")
        return name in self.floats or name in {"exp", "log", "sqrt", "log1p", "expm1"}

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in pairwise(node.values):
            self.exchange(node.op, left, right, node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not (isinstance(node.op, ast.BitOr) and _is_type(node)):
            if not (isinstance(node.right, ast.Call) and ast.unparse(node.right.func) in SYMMETRIC):
                self.exchange(node.op, node.left, node.right, node)
            self.visit(node.left)
            if not (isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant)):
                self.visit(node.right)

    def visit_Assign(self, node: ast.Assign) -> None:
        if ast.unparse(node.targets[0]) not in FOR_SPEED:
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.exchange(node.op, node.target, node.value)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        at = self.span(node)[0]
        self.add(at, at + len("not " if isinstance(node.op, ast.Not) else "-"), "")
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    visit_IfExp = visit_If  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self.negate(test)
        self.generic_visit(node)

    def negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            self.add(*self.span(test), f"not ({self.text(test)})")

    def visit_Name(self, node: ast.Name) -> None:
        if COUNTERPARTS.get(node.id) in self.known:
            self.add(*self.span(node), COUNTERPARTS[node.id])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        of_a_library = isinstance(node.value, ast.Name) and node.value.id in {"math", "np", "down", "up"}
        if node.attr in COUNTERPARTS and (of_a_library or node.attr.startswith("next")):
            end = self.span(node)[1]
            self.add(end - len(node.attr), end, COUNTERPARTS[node.attr])
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in {"abs", "isqrt", "sqrt"}:
            self.add(*self.span(node.func), "")
        self.visit(node.func)
        parts = [*node.args, *node.keywords]
        for place, part in enumerate(parts):
            argument = part.arg if isinstance(part, ast.keyword) else None
            if argument in UNTOUCHED:
                continue
            if (name, argument) in self.defaults and not isinstance(part.value, ast.Constant):
                self.leave_out(node, parts, place)
            if not (name == "where" and isinstance(part, ast.Constant)):
                self.visit(part)

    def leave_out(self, call: ast.Call, parts: list[ast.expr | ast.keyword], place: int) -> None:
        """An argument, with the comma before it or else after it."""
        start, end = self.span(parts[place])
        if place > 0:
            start = self.span(parts[place - 1])[1]
        elif len(parts) > 1:
            end = self.span(parts[1])[0]
        self.add(start, end, "")

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(*self.span(node), str(not value))
        elif isinstance(value, int):
            self.add(*self.span(node), str(value - 1 if value in {1, 2} else value + 1))
        elif isinstance(value, float):
            self.add(*self.span(node), repr(2 * value or 1.0))


def _is_type(node: ast.expr) -> bool:
    """Whether it is a union of types."""
    if isinstance(node, ast.BinOp):
        return _is_type(node.left) or _is_type(node.right)
    return isinstance(node, ast.Name) and node.id[0].isupper()


def _is_compiled(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and "compiled" in map(ast.unparse, node.decorator_list)
