"""What a wheel contains is listed, and every package that builds and tests use has hashes."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

from symseed import files

ROOT = Path(__file__).parents[1]
METADATA = """Metadata-Version: 2.4
Name: symseed
Version: 0.2.0
License-Expression: BSD-3-Clause
Requires-Dist: numpy>=1.24
Requires-Dist: torch>=2.2; extra == "torch"
"""


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "supply" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_pinned_package_has_hashes_of_its_archives() -> None:
    script = ROOT / "supply" / "hashes.py"
    done = subprocess.run([sys.executable, script, "--check"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = (ROOT / "constraints.hashes").read_text().replace("\\\n", " ").splitlines()[1:]
    assert len(lines) > 100
    assert all(re.search(r" --hash=sha256:[0-9a-f]{64}", line) for line in lines)


def test_the_archives_of_every_group_of_tools_are_compared() -> None:
    groups = files.toml_values((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (named,) = re.findall(r"^GROUPS_OF_TOOLS = (.+)$", makefile, re.MULTILINE)
    assert named.split() == sorted(groups)


def test_archives_of_supported_platforms_are_taken_and_others_left() -> None:
    hashes = _loaded("hashes")
    digest = {name: hashlib.sha256(name.encode()).hexdigest() for name in (
        "my_tool-1.2.tar.gz", "my_tool-1.2-py3-none-any.whl", "my_tool-1.2-cp311-cp311-manylinux_2_17_x86_64.whl",
        "my_tool-1.2-cp39-abi3-win_amd64.whl", "my_tool-1.2-cp314-cp314t-win_amd64.whl", "my_tool-1.2.1.tar.gz",
        "my_tool-1.2-cp311-cp311-musllinux_1_2_x86_64.whl",
    )}  # fmt: skip
    page = "".join(f'<a href="../../files/{name}#sha256={found}">{name}</a>' for name, found in digest.items())
    names = {found: name for name, found in digest.items()}
    assert [names[found] for found in hashes._archives(page, "my-tool", "1.2")] == [*digest][:4]


def test_a_wheel_is_listed_with_its_files_what_is_compiled_in_and_what_it_needs(tmp_path: Path) -> None:
    wheel = tmp_path / "symseed-0.2.0-cp312-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("symseed/__init__.py", "x")
        archive.writestr("symseed-0.2.0.dist-info/METADATA", METADATA)
    found = _loaded("contents").contents(wheel)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert found["metadata"]["component"]["licenses"] == [{"expression": "BSD-3-Clause"}]
    parts = {one["name"]: one for one in found["components"]}
    assert set(parts) == {"nanobind", "robin-map", "numpy", "symseed/__init__.py", "symseed-0.2.0.dist-info/METADATA"}
    assert parts["symseed/__init__.py"]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"x").hexdigest()}]
    assert parts["numpy"]["licenses"]
    references = [one["bom-ref"] for one in found["components"]]
    assert len(references) == len(set(references))
    assert set(found["dependencies"][0]["dependsOn"]) <= set(references)
