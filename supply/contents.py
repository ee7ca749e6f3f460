"""What wheels contain, as CycloneDX: `python supply/contents.py dist/*.whl` writes `NAME.cdx.json` beside each.

The list has the files of the wheel with their hashes, what is compiled into the core or was added by auditwheel, and
the packages that the wheel needs when it runs, each with its licence.
"""

from __future__ import annotations

import email.parser
import hashlib
import importlib.metadata
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

COMPILED = {"nanobind": "BSD-3-Clause", "robin-map": "MIT"}
"""What is compiled into the core, with the licences; robin-map comes with nanobind. `licenses/` has their texts."""


def _component(kind: str, name: str, version: str = "", **more: Any) -> dict[str, Any]:
    """A component; its reference is unique by kind, name and version."""
    reference = f"{kind}:{name}@{version}" if version else f"{kind}:{name}"
    return {"type": kind, "bom-ref": reference, "name": name, **({"version": version} if version else {}), **more}


def _installed(name: str) -> tuple[str, str]:
    """The version and the licence of a package, as far as it is installed here."""
    try:
        found = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return "", ""
    classes = [
        line.rpartition(" :: ")[2] for line in found.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    return found["Version"], found["License-Expression"] or ", ".join(classes) or (found["License"] or "").split("\n")[
        0
    ]


def _licence(text: str) -> dict[str, Any]:
    if not text:
        return {}
    is_expression = re.fullmatch(r"[\w.+-]+(?: (?:AND|OR|WITH) [\w.+-]+)*", text)
    return {"licenses": [{"expression": text}] if is_expression else [{"license": {"name": text}}]}


def contents(wheel: Path) -> dict[str, Any]:
    """Return the list for a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        about = email.parser.Parser().parsestr(archive.read(metadata).decode())
        files = {name: archive.read(name) for name in sorted(archive.namelist()) if not name.endswith("/")}
    name, version = about["Name"], about["Version"]
    own = _component(
        "library", name, version, **_licence(about["License-Expression"] or ""), purl=f"pkg:pypi/{name}@{version}"
    )
    compiled = [
        _component("library", part, _installed(part)[0], **_licence(licence), scope="required")
        for part, licence in COMPILED.items()
    ]
    needed = []
    for line in about.get_all("Requires-Dist") or []:
        requirement, _, condition = line.partition(";")
        package = re.match(r"[\w.-]+", requirement)
        if package and "extra" not in condition:
            at, licence = _installed(package[0])
            purl = f"pkg:pypi/{package[0]}" + (f"@{at}" if at else "")
            needed.append(_component("library", package[0], at, **_licence(licence), purl=purl, scope="required"))
    parts = [
        _component("file", path, hashes=[{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}])
        for path, content in files.items()
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [*compiled, *needed, *parts],
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": sorted({one["bom-ref"] for one in [*compiled, *needed]})},
        ],
    }


def main() -> None:
    """Write a list for each wheel."""
    for name in sys.argv[1:]:
        wheel = Path(name)
        wheel.with_suffix(".cdx.json").write_text(json.dumps(contents(wheel), indent=2) + "\n")


if __name__ == "__main__":
    main()
