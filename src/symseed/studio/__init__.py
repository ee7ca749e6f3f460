"""Studio: a local page that starts, shows, stops and resumes searches; it reads run folders and sends signals."""

from __future__ import annotations
