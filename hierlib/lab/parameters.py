"""Parameters of a page: typed, with a meaning and a range, in up to four profiles.

The cell tagged `parameters` holds one `name: type = value  # meaning [range]` per line. It is the `quick` profile and
the page's own help. A range in brackets is checked before anything runs: `[1..]`, `[0..1]`, or `[cpu|cuda]` for a choice
of words.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hierlib.lab.project import UserError, nearest

PROFILES = ("smoke", "quick", "long", "paper")
KEPT = ("long", "paper")  # their records are committed
TYPES: dict[str, type[Any]] = {"int": int, "float": float, "str": str, "bool": bool, "list": list}
RANGE = re.compile(r"\s*\[([^\]]*)\]\s*$")
NUMBER = r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?"
ALLOWED = re.compile(rf"({NUMBER})?\.\.({NUMBER})?|[^|]+(\|[^|]+)+")
NO_LITERAL = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


class Parameter(NamedTuple):
    """One line of the parameters cell."""

    name: str
    type: str
    default: Any
    meaning: str
    allowed: str  # the text between the brackets, empty when anything of the type goes

    def checked(self, value: Any, where: str) -> Any:
        """The value with the right type and range, or one sentence that says what is allowed."""
        kind = TYPES[self.type]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise UserError(f"{where}: {self.name} must be of type {self.type}, got {value!r}")
        sample = self.default[0] if self.type == "list" and self.default else None
        items = value if self.type == "list" else [value]
        for item in items:
            if sample is not None and type(item) is not type(sample) and (type(sample), type(item)) != (float, int):
                raise UserError(f"{where}: {self.name} must be a list of {type(sample).__name__}, got {value!r}")
            if not self.admits(item):
                raise UserError(f"{where}: {self.name} = {item!r} is out of range; allowed is [{self.allowed}]")
        return value

    def admits(self, item: Any) -> bool:
        if not self.allowed:
            return True
        if "|" in self.allowed:
            return str(item) in self.allowed.split("|")
        if not isinstance(item, int | float):
            return False
        low, high = self.allowed.split("..")
        return (not low or item >= float(low)) and (not high or item <= float(high))


def read_parameters(code: str, name: str, first_line: int) -> dict[str, Parameter]:
    """The parameters of a cell that starts at `first_line` of the page `name`, which is only named in complaints."""
    try:
        statements = ast.parse(code).body
    except (SyntaxError, ValueError) as error:
        line = first_line + (getattr(error, "lineno", None) or 1) - 1
        raise UserError(f"{name}, line {line}: the cell tagged `parameters` is not Python") from None
    parameters: dict[str, Parameter] = {}
    lines = code.splitlines()
    for statement in statements:
        where = f"{name}, line {first_line + statement.lineno - 1}"
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            raise UserError(f"{where}: parameter {statement.targets[0].id} needs a type, one of {', '.join(TYPES)}")
        if not isinstance(statement, ast.AnnAssign) or not isinstance(target, ast.Name) or statement.value is None:
            raise UserError(f"{where}: a line of the cell tagged `parameters` reads name: type = value  # meaning [range]")
        comment = lines[(statement.end_lineno or 1) - 1].encode()[statement.end_col_offset or 0 :].decode()
        parameters[target.id] = _parameter(target.id, statement, comment.partition("#")[2].strip(), where)
    if "seed" not in parameters:
        raise UserError(f"{name}: the cell tagged `parameters` must have a line `seed: int = 0`")
    return parameters


def _parameter(name: str, statement: ast.AnnAssign, comment: str, where: str) -> Parameter:
    kind = ast.unparse(statement.annotation)
    if kind not in TYPES:
        raise UserError(f"{where}: parameter {name} needs a type, one of {', '.join(TYPES)}")
    found = RANGE.search(comment)
    meaning, allowed = RANGE.sub("", comment), found[1] if found else ""
    if not meaning:
        raise UserError(f"{where}: parameter {name} needs a comment that says what it is")
    if found and not ALLOWED.fullmatch(allowed):
        raise UserError(f"{where}: [{allowed}] is not a range; write [low..high], [low..] or [word|word]")
    try:
        default = ast.literal_eval(statement.value) if statement.value else None
    except NO_LITERAL:
        raise UserError(f"{where}: the value of {name} must be a plain number, word or list") from None
    parameter = Parameter(name, kind, default, meaning, allowed)
    return parameter._replace(default=parameter.checked(default, where))


def check_profile(profile: str) -> None:
    if profile not in PROFILES:
        raise UserError(f"there is no profile {profile!r}; the profiles are {', '.join(PROFILES)}")


def settle(parameters: Mapping[str, Parameter], changes: Iterable[Mapping[str, Any]], where: str) -> dict[str, Any]:
    """Every parameter's value: the cell's, then what each of the changes says; all checked."""
    values = {name: parameter.default for name, parameter in parameters.items()}
    for change in changes:
        for name, value in change.items():
            if name not in values:
                raise UserError(f"{where}: there is no parameter {name!r}; {nearest(name, values, 'parameters')}")
            values[name] = parameters[name].checked(value, where)
    return values


def read_assignments(parameters: Mapping[str, Parameter], assignments: Iterable[str], page: str) -> dict[str, Any]:
    """`name=value` texts from the command line, each read as its parameter's type; none may come twice."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise UserError(f"-p {assignment}: write name=value, for example -p seed=1")
        if name in values:
            raise UserError(f"-p {assignment}: {name} is given twice")
        kind = parameters[name].type if name in parameters else "str"
        try:
            values[name] = text if kind == "str" else ast.literal_eval(text.capitalize() if kind == "bool" else text)
        except NO_LITERAL:
            shown = text if len(text) <= 40 else f"{text[:40]}..."
            raise UserError(f"{page}: {name} must be of type {kind}, got {shown!r}") from None
    return values
