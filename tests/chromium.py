"""Chromium, for tests that look at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, else Playwright's; while it is open it occupies the event loop."""
    installed = next((path for name in NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        if installed is None and not Path(playwright.chromium.executable_path).exists():
            pytest.fail("pages are tested in Chromium: run `make browser`, as root if need be")
        # Chromium's sandbox does not work for root; elsewhere it stays on.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=installed, args=arguments)
        yield started
        started.close()
