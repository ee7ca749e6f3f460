"""Constraints: conditions on every expression of a search space.

A constraint is expressed in six kinds of rule (`Relation`, `Limit`, ..., `Dimensional`), which the core compiles into
tables for one walker. Sampling and evolution therefore apply the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from symseed import _core
from symseed.errors import SettingsError, SpaceError, check_at_least, cut
from symseed.language.library import Library
from symseed.language.tokens import ALIASES, OPERATORS, TokenKind
from symseed.space import dimensions as units
from symseed.space.dimensions import NUMBER, Dimension, UnitLike

Relationship = _core.Relationship
_NO_LIMIT = 2**31 - 1
"""The largest limit that the core can hold, far above the number of tokens of any formula."""


@dataclass(frozen=True, slots=True)
class Relation:
    """No target stands in the relationship to an effector."""

    relationship: Relationship
    targets: tuple[int, ...]
    effectors: tuple[int, ...]

    @property
    def native(self) -> _core.Relation:
        """The rule as the core reads it."""
        return _core.Relation(self.relationship, self.targets, self.effectors)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` of the tokens in one expression."""

    tokens: tuple[int, ...]
    most: int

    @property
    def native(self) -> _core.Limit:
        """The rule as the core reads it."""
        return _core.Limit(self.tokens, min(self.most, _NO_LIMIT))


@dataclass(frozen=True, slots=True)
class Need:
    """At least one of the tokens in each expression."""

    tokens: tuple[int, ...]

    @property
    def native(self) -> _core.Need:
        """The rule as the core reads it."""
        return _core.Need(self.tokens)


@dataclass(frozen=True, slots=True)
class Dimensional:
    """Each expression has the physical dimension of the target."""

    terminals: tuple[tuple[int, ...], ...]
    """Exponents of each token's dimension; those of operators are ignored."""
    target: tuple[int, ...]
    constants_are_free: bool

    @property
    def native(self) -> _core.Dimensional:
        """The rule as the core reads it."""
        return _core.Dimensional(np.array([*self.terminals, self.target], dtype=np.int32), self.constants_are_free)


@dataclass(frozen=True, slots=True)
class Size:
    """At most `most` tokens in one argument of an operator."""

    operator: int
    argument: int
    most: int

    @property
    def native(self) -> _core.Size:
        """The rule as the core reads it."""
        return _core.Size(self.operator, self.argument, min(self.most, _NO_LIMIT))


@dataclass(frozen=True, slots=True)
class Nest:
    """Below an outer token, no path downwards holds more than `most` inner ones."""

    outer: tuple[int, ...]
    inner: tuple[int, ...]
    most: int

    @property
    def native(self) -> _core.Nest:
        """The rule as the core reads it."""
        return _core.Nest(self.outer, self.inner, min(self.most, _NO_LIMIT))


Rule: TypeAlias = Relation | Limit | Need | Dimensional | Size | Nest


class Constraint(Protocol):
    """A condition that forbids expressions."""

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return the constraint as rules over the library's ids; none if it does not concern these tokens."""

    def describe(self) -> str:
        """Return the constraint in words."""


@dataclass(frozen=True, slots=True)
class Relational:
    """No target token may stand in a relationship to an effector token, e.g. no `exp` below `exp`."""

    relationship: Relationship
    targets: tuple[str, ...]
    effectors: tuple[str, ...]

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return one relation, or none if either side is not in the library."""
        targets, effectors = _ids(library, self.targets), _ids(library, self.effectors)
        is_terminal = all(library[i].arity == 0 for i in effectors)
        if effectors and is_terminal and self.relationship is not Relationship.SIBLING:
            raise SettingsError(
                f"The effectors of `{self.relationship.name}` must be operators, but {', '.join(self.effectors)} "
                "take no arguments."
            )
        return [Relation(self.relationship, targets, effectors)] if targets and effectors else []

    def describe(self) -> str:
        """Return the constraint in words."""
        how = self.relationship.name.lower().replace("_", " ")
        return f"[{', '.join(self.targets)}] never {how} of [{', '.join(self.effectors)}]"


@dataclass(frozen=True, slots=True)
class NoInverses:
    """An operator never stands directly below its inverse, e.g. no `log(exp(x))`."""

    pairs: tuple[tuple[str, str], ...] = (
        ("exp", "log"),
        ("sqrt", "square"),
        ("inv", "inv"),
        ("neg", "neg"),
        ("sin", "asin"),
        ("cos", "acos"),
        ("tan", "atan"),
        ("sinh", "asinh"),
        ("cosh", "acosh"),
        ("tanh", "atanh"),
        ("cube", "cbrt"),
        ("expm1", "log1p"),
    )

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return a relation in each direction for the pairs that the library has."""
        relations: dict[Relation, None] = {}
        for pair in self.pairs:
            for outer, inner in (pair, pair[::-1]):
                effectors, targets = _ids(library, (outer,)), _ids(library, (inner,))
                if effectors and targets:
                    relations[Relation(Relationship.CHILD, targets, effectors)] = None
        return list(relations)

    def describe(self) -> str:
        """Return the constraint in words."""
        return "no operator directly below its inverse"


@dataclass(frozen=True, slots=True)
class NoNestedTrigonometry:
    """No trigonometric operator below another, e.g. no `sin(1 + cos(x))`."""

    operators: tuple[str, ...] = ("sin", "cos", "tan")

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return one relation."""
        ids = _ids(library, self.operators)
        return [Relation(Relationship.DESCENDANT, ids, ids)] if ids else []

    def describe(self) -> str:
        """Return the constraint in words."""
        return "no trigonometric operator below another"


@dataclass(frozen=True, slots=True)
class NoLoneConstants:
    """A fitted constant is never the only argument of an operator, nor both: such a subtree is itself a constant."""

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return one relation."""
        targets = tuple(library.ids_of_kind(TokenKind.CONSTANT))
        effectors = tuple(library.ids_of_kind(TokenKind.OPERATOR))
        return [Relation(Relationship.UNIQUE_CHILD, targets, effectors)] if targets and effectors else []

    def describe(self) -> str:
        """Return the constraint in words."""
        return "a constant is never an operator's only kind of argument"


@dataclass(frozen=True, slots=True)
class NeedsInput:
    """Every expression holds at least one variable."""

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return the rule, or none if every terminal is a variable."""
        variables = tuple(library.ids_of_kind(TokenKind.VARIABLE))
        others = [i for i, token in enumerate(library.tokens) if token.arity == 0 and i not in variables]
        return [Need(variables)] if others else []

    def describe(self) -> str:
        """Return the constraint in words."""
        return "at least one variable"


@dataclass(frozen=True, slots=True)
class Repeat:
    """At most `most` of the named tokens, taken together, in one expression."""

    tokens: tuple[str, ...]
    most: int

    def __post_init__(self) -> None:
        """Refuse a limit that cannot be counted."""
        check_at_least("most", self.most, 0)

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return the limit."""
        ids = _ids(library, self.tokens)
        return [Limit(ids, self.most)] if ids else []

    def describe(self) -> str:
        """Return the constraint in words."""
        return f"at most {self.most} of [{', '.join(self.tokens)}]"


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The expression has the target's physical dimension, and none of its parts adds metres to seconds.

    Sums, `min`, `max`, `mod` and `hypot` take arguments of one dimension, and so do `greater` and `atan2`, which give
    pure numbers, as `sign` and `step` do; `cond` and `unless` keep that of their second argument; products, quotients,
    roots and powers combine them; all other operators, `pow` among them, take and give pure numbers, and fixed numbers
    are pure. A user's function is treated like its expansion if that is of one of these kinds, otherwise as a function
    of pure numbers. A fitted constant has whatever dimension is needed, unless `constants_are_free` is off: then it is
    a pure number too. Without free constants, parts whose dimension takes many tokens (more than about six, depending
    on the number of variables and operators) are forbidden.
    """

    variables: tuple[tuple[str, Dimension], ...]
    """Each variable's dimension, by name."""
    target: Dimension
    target_name: str = "y"
    constants_are_free: bool = True

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        X_units: Sequence[UnitLike] | Mapping[str, UnitLike],
        y_units: UnitLike,
        *,
        target_name: str = "y",
        constants_are_free: bool = True,
    ) -> Dimensions:
        """Read units as `dimensions.dimension` does.

        Args:
            names: names of the variables.
            X_units: a list with a unit for each, or a mapping by name; variables that it lacks are pure numbers.
            y_units: unit of the target.
            target_name: name of the target in messages.
            constants_are_free: whether fitted constants have whatever dimension is needed.
        """
        if isinstance(X_units, Mapping):
            for name in X_units:
                if name not in names:
                    raise SettingsError(f"A unit is given for `{name}`, but the variables are {', '.join(names)}.")
            listed = [X_units.get(name) for name in names]
        elif isinstance(X_units, str) or not isinstance(X_units, Sequence) or len(X_units) != len(names):
            raise SettingsError(
                f"`X_units` must be a list with a unit for each of the {len(names)} variables ({', '.join(names)}), "
                f"None for a pure number, or a mapping by name, but it is {cut(X_units)}."
            )
        else:
            listed = list(X_units)
        variables = tuple((name, units.dimension(unit, name)) for name, unit in zip(names, listed, strict=True))
        return cls(variables, units.dimension(y_units, target_name), target_name, constants_are_free)

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return the one rule.

        Raises:
            SpaceError: if no product of powers of the variables has the target's dimension.
        """
        known = dict(self.variables)
        for variable in library.variables:
            if variable.name not in known:
                raise SettingsError(f"The dimension of `{variable.name}` must be given, but there is none.")
        own = {variable.name: known[variable.name] for variable in library.variables}
        if not self.is_possible(library):
            raise SpaceError(
                f"No formula over {_listed(own)} can have the dimension of `{self.target_name}` ({self.target}): no "
                "product of their powers does. Correct the units, add the variable that is missing, or let fitted "
                "constants have units."
            )
        of_tokens = [own[t.name] if t.kind is TokenKind.VARIABLE else NUMBER for t in library.tokens]
        *terminals, target = units.integers([*of_tokens, self.target])
        return [Dimensional(tuple(terminals), target, self.constants_are_free)]

    def is_possible(self, library: Library) -> bool:
        """Return whether a product of powers of the library's variables, or a free constant, can have the dimension."""
        has_free = library.has_constants and self.constants_are_free
        known = dict(self.variables)
        return has_free or units.spans([known[variable.name] for variable in library.variables], self.target)

    def describe(self) -> str:
        """Return the constraint in words."""
        return f"`{self.target_name}` ({self.target}) from {_listed(dict(self.variables))}"


@dataclass(frozen=True, slots=True)
class ArgumentSizes:
    """Limits the number of tokens in each argument of an operator, e.g. an exponent to a number or a variable."""

    operator: str
    most: tuple[int, ...]
    """Most tokens of each argument; -1: no limit."""

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return a size for each argument that is limited."""
        ids = _ids(library, (self.operator,))
        for token in (library[i] for i in ids):
            if len(self.most) != token.arity or not all(most == -1 or most >= 1 for most in self.most):
                raise SettingsError(
                    f"The sizes of `{self.operator}` must be {token.arity} whole number(s), each at least 1 or -1 for "
                    f"no limit, but they are {self.most}."
                )
        return [Size(i, argument, most) for i in ids for argument, most in enumerate(self.most) if most != -1]

    def describe(self) -> str:
        """Return the constraint in words."""
        return f"arguments of `{self.operator}` have at most {', '.join(map(str, self.most))} tokens (-1: any number)"


@dataclass(frozen=True, slots=True)
class Nesting:
    """An operator is nested in another at most `most` times, e.g. `exp` in `exp` once: `exp(exp(x))` and no deeper."""

    outer: str
    inner: str
    most: int

    def __post_init__(self) -> None:
        """Refuse a limit that cannot be counted."""
        check_at_least("most", self.most, 0)

    def rules(self, library: Library) -> Sequence[Rule]:
        """Return the one rule, or none if either operator is not in the library."""
        outer, inner = _ids(library, (self.outer,)), _ids(library, (self.inner,))
        return [Nest(outer, inner, self.most)] if outer and inner else []

    def describe(self) -> str:
        """Return the constraint in words."""
        return f"at most {self.most} `{self.inner}` nested in `{self.outer}`"


PAPER: tuple[Constraint, ...] = (NoInverses(), NoNestedTrigonometry(), NoLoneConstants(), NeedsInput())
"""The constraints of the paper's experiments, beside length."""


def _ids(library: Library, names: tuple[str, ...]) -> tuple[int, ...]:
    """Ids of the named tokens; an operator that the library lacks is left out, any other unknown name refused."""
    known = {token.name for token in library.tokens} | set(OPERATORS) | set(ALIASES) | {"const"}
    for name in names:
        if name not in known:
            raise SettingsError(
                f"A constraint names `{name}`, which is neither an operator nor a token of the library."
            )
    return tuple(library.ids(names))


def _listed(dimensions: Mapping[str, Dimension]) -> str:
    return ", ".join(f"`{name}` ({dimension})" for name, dimension in dimensions.items()) or "no variables"
