"""The pictures of the page in `docs/figures/studio`: `python docs/studio_pictures.py`, with playwright and a Chromium.

They show the table `planets` before a search, and a search of `weight_loss` that has ended. The environment variable
`SYMSEED_BROWSER` names the browser, unless `chromium` does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

OUT = Path(__file__).parent / "figures" / "studio"
BROWSER = os.environ.get("SYMSEED_BROWSER") or shutil.which("chromium") or "chromium"
EXPRESSIONS = "20000"


def main() -> None:
    """Draw the pictures."""
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        symseed = [sys.executable, "-m", "symseed"]
        fit = [*symseed, "fit", "weight_loss", "-y", "weight_kg", "--set", f"max_evals={EXPRESSIONS}", "--time", "none"]
        subprocess.run([*fit, "--output-directory", folder, "--json"], check=True, stdout=subprocess.DEVNULL)
        command = [*symseed, "studio", folder, "--no-browser", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as play:
            assert server.stdout is not None
            link = server.stdout.readline().removeprefix("The page is at ").strip()
            browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(link)
            page.get_by_role("button", name="planets", exact=True).click()
            page.get_by_role("button", name="Start").wait_for()
            page.screenshot(path=OUT / "start.png")
            page.locator("nav a").first.click()
            page.locator(".front tbody tr").first.wait_for()
            page.wait_for_timeout(500)
            page.screenshot(path=OUT / "run.png")
            browser.close()
            server.terminate()
    print(*sorted(path.name for path in OUT.iterdir()))


if __name__ == "__main__":
    main()
