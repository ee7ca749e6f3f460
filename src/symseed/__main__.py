"""The command line as `python -m symseed`."""

from __future__ import annotations

from symseed.cli.main import main

if __name__ == "__main__":
    main()
