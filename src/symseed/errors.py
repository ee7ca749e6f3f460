"""The package's exceptions; each message says what was expected, what was found, and what to do."""

from __future__ import annotations


class SymseedError(Exception):
    """Base of every exception that this package raises on purpose."""


class SettingsError(SymseedError, ValueError):
    """A setting is out of its range, unknown, or contradicts another."""


class DataError(SymseedError, ValueError):
    """Data of the wrong shape or type, or with values that cannot be used."""


class ParseError(SymseedError, ValueError):
    """A text is not an expression of the library."""


class SpaceError(SymseedError, ValueError):
    """A search space that admits no expression."""
