"""Draw the loss of a training against its minutes, and the nats of a token on the tables for validation.

python neural/curves.py neural/log.jsonl docs/figures/network/training.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt

VALIDATION = ((1, 8), (1, 64), (2, 64), (3, 16), (3, 64), (3, 256), (5, 128), (7, 128), (9, 256))
"""Columns and rows of the tables for validation, as `train.py` has them, which needs PyTorch."""


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("target", type=Path)
    asked = parser.parse_args()
    lines = [json.loads(line) for line in asked.log.read_text(encoding="utf-8").splitlines()]
    mpl.rcParams.update({"svg.hashsalt": "symseed", "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    learnt = [line for line in lines if "loss" in line]
    axes.plot([line["seconds"] / 60.0 for line in learnt], [line["loss"] for line in learnt], "0.6", label="training")
    judged = [line for line in lines if "validation" in line]
    for place, (columns, rows) in enumerate(VALIDATION):
        minutes, nats = zip(*((line["seconds"] / 60.0, line["validation"][place]) for line in judged), strict=True)
        axes.plot(minutes, nats, label=f"{columns} columns, {rows} rows" if columns > 1 else f"1 column, {rows} rows")
    axes.set_xlabel("minutes")
    axes.set_ylabel("nats of a token")
    axes.set_ylim(0.0, 2.5)
    axes.legend(frameon=False, fontsize=7, ncols=2)
    asked.target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(asked.target, metadata={"Date": None})


if __name__ == "__main__":
    main()
