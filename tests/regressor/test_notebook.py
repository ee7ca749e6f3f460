"""A real kernel executes cells: the fit is updated in place, and pictures show without magic."""

from __future__ import annotations

from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")

CELLS = {
    "unfitted": """
import numpy as np
from symseed import SymbolicRegressor
rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3.0, (40, 2))
y = X[:, 0] * X[:, 1] + 1.5 + rng.normal(0.0, 0.2, 40)
model = SymbolicRegressor(max_evals=20_000, max_time=None, random_state=0)
model
""",
    "fitted": "model.fit(X, y)",
    "silent": "model.set_params(verbosity=0).fit(X, y);",
    "picture": "model.plot_front()",
    "inline": "%matplotlib inline\nmodel.plot_front()",
    "several": "SymbolicRegressor(max_evals=600, verbosity=0).fit(X, np.c_[y, y]).plot_tree()",
}


@pytest.fixture(scope="module")
def executed() -> tuple[dict[str, list[Any]], list[Any]]:
    """The outputs of the cells, and the updates that the kernel sent on the way."""
    updates = []
    Base: Any = nbclient.NotebookClient

    class Client(Base):  # type: ignore[misc]
        def process_message(self, msg: Any, *arguments: Any) -> Any:
            if msg["msg_type"] == "update_display_data":
                updates.append(msg["content"]["data"]["text/html"])
            return super().process_message(msg, *arguments)

    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    Client(nbformat.v4.new_notebook(cells=cells), timeout=100, kernel_name="python3").execute()
    return dict(zip(CELLS, (cell.outputs for cell in cells), strict=True)), updates


def test_the_diagram_is_shown_before_the_fit(executed: Any) -> None:
    (output,) = executed[0]["unfitted"]
    assert "sk-estimator" in output.data["text/html"]


def test_a_fit_is_updated_in_place_and_settles_into_its_formula(executed: Any) -> None:
    line, table, result = executed[0]["fitted"]
    assert line.output_type == table.output_type == "display_data"
    assert line.data["text/html"].startswith("<p>y = <math")
    assert table.data["text/html"] == ""
    assert result.data["text/html"].startswith("<table ")
    assert any("<progress" in page for page in executed[1])
    assert any(page.startswith("<table ") for page in executed[1])
    assert executed[0]["silent"] == []


def test_a_picture_is_shown_once_with_and_without_magic(executed: Any) -> None:
    for name in ("picture", "inline"):
        (output,) = executed[0][name]
        assert output.data["image/png"]
        assert "text/html" not in output.data
    (output,) = executed[0]["several"]
    assert output.data["text/html"].count("<img ") == 2
