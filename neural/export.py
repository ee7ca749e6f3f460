"""Write the file that symseed reads from the checkpoint of a training: the averages, with 16 bits; needs symseed.

python neural/export.py build/neural network.safetensors
python neural/export.py build/neural src/symseed/network/network.safetensors     # the one that ships
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

from corpus import SYMBOLS
from safetensors.numpy import load_file

from symseed.network import Network, Shape


def network(folder: Path, commit: str) -> Network:
    """Return the network of a checkpoint, with what its training was."""
    done = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
    training = (
        f"commit {commit}, seed {done['seed']}, {done['tables']} tables in {done['seconds'] / 60.0:.1f} minutes on "
        f"{done['device']}"
    )
    return Network(Shape(**done["shape"]), SYMBOLS, load_file(folder / "averages.safetensors"), training)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--commit", help="that was trained; by default the one that is checked out")
    asked = parser.parse_args()
    head = ["git", "rev-parse", "HEAD"]
    commit = asked.commit or subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    found = network(asked.folder, commit)
    found.save(asked.target)
    print(f"{asked.target}: {asked.target.stat().st_size / 1e6:.2f} MB; {found.training}")


if __name__ == "__main__":
    main()
