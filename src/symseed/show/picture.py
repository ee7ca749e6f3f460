"""Figures that notebooks display by themselves; the module is loaded only to draw, because it loads matplotlib."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

_SCREEN = 2.0
"""Pixels of a picture for each pixel of its size on the page, so that text is sharp on dense screens."""


class Picture(Figure):
    """A matplotlib figure that needs neither pyplot nor `%matplotlib inline` to be shown as the result of a cell."""

    def _repr_png_(self) -> tuple[bytes, Mapping[str, Any]]:
        """Return the picture and its size on the page, for IPython.

        Only PNG: if matplotlib's own formatter is active, it replaces this one.
        """
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=_SCREEN * self.dpi, facecolor="white")
        width, height = (round(float(inches * self.dpi)) for inches in self.get_size_inches())
        return file.getvalue(), {"width": width, "height": height}


class Pictures(list[Picture]):
    """The pictures of several targets, which a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        """Return all pictures as HTML."""
        return "".join(_image(*picture._repr_png_()) for picture in self)


def _image(png: bytes, size: Mapping[str, Any]) -> str:
    content = base64.b64encode(png).decode()
    return f'<p><img width="{size["width"]}" height="{size["height"]}" src="data:image/png;base64,{content}"></p>'
