"""The style of all figures: colours, fonts, and labels as literal text; matplotlib is loaded only to draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from symseed.errors import SettingsError
from symseed.text import one_line

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The palette of Okabe and Ito, without its pale yellow: distinct with any kind of colour blindness."""
GREY = "#555555"
EDGE = "#999999"
GRID = "#eeeeee"
PAPER = "#ffffff"
MISSING = "□"
"""Drawn in place of a character that no installed font has, or that moves the text around it."""

_FONT = "DejaVu Sans"  # comes with matplotlib
_OTHER_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Hiragino Sans", "PingFang SC", "Microsoft YaHei", "Yu Gothic"),
    *("Malgun Gothic", "WenQuanYi Zen Hei", "Noto Sans Devanagari", "Noto Sans Thai", "Arial Unicode MS"),
)
"""Fonts for characters that the first font lacks, used if they are installed."""
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": EDGE,
    "axes.formatter.limits": (-4, 5),
    "axes.formatter.use_mathtext": False,
    "axes.labelcolor": GREY,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 100,
    "font.size": 9,
    "savefig.dpi": 150,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "symseed",  # otherwise ids in the file would be random
    "text.parse_math": False,  # names are not formulas
    "text.usetex": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
}


@contextmanager
def style() -> Iterator[None]:
    """Context that draws in the package's style, and restores matplotlib's settings afterwards.

    Raises:
        SettingsError: if matplotlib is missing.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise SettingsError("Plots need matplotlib, which is not installed. Run `pip install matplotlib`.") from error
    with matplotlib.rc_context({**_STYLE, "font.family": _fonts()}):
        yield


def label(text: str, most: int) -> str:
    """Return a text on one line, of at most `most` characters, each of which can be drawn."""
    from matplotlib import font_manager

    line = one_line(text, most)
    if line.isascii() and line.isprintable():
        return line or MISSING
    fonts = [font_manager.get_font(font_manager.findfont(name)) for name in _fonts()]
    can_be_drawn = (letter.isprintable() and any(font.get_char_index(ord(letter)) for font in fonts) for letter in line)
    return "".join(letter if can else MISSING for letter, can in zip(line, can_be_drawn, strict=True)) or MISSING


def spread(places: Sequence[float], gap: float, top: float = 100.0) -> list[float]:
    """Move places apart until each is `gap` from the next, keeping their order, none above `top` or below 0."""
    order = sorted(range(len(places)), key=lambda index: -places[index])
    moved = list(places)
    ceiling = top
    for index in order:
        moved[index] = min(moved[index], ceiling)
        ceiling = moved[index] - gap
    floor = 0.0
    for index in reversed(order):
        moved[index] = max(moved[index], floor)
        floor = moved[index] + gap
    return moved


def _fonts() -> list[str]:
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [_FONT, *filter(installed.__contains__, _OTHER_FONTS)]
