"""Screen: where a command prints; it knows the width, the colours and the letters there are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.text import Text

# For terminals that know ASCII only.
_PLAIN = str.maketrans(
    {
        "±": "+/-",
        "–": "-",
        "—": "-",
        "−": "-",
        "×": "*",
        "…": "...",
        "≤": "<=",
        "≥": ">=",
        "²": "^2",
        "ε": "epsilon",
        "δ": "delta",
        "ρ": "rho",
        "·": "-",
        "∞": "inf",
    }
)


# The console on which a bar moves: what is printed to stderr meanwhile must go above the bar.
_moving: list[Console] = []


class Screen:
    """Standard output or standard error, as they are at this moment."""

    def __init__(self, *, stderr: bool) -> None:
        shared = _moving[-1] if stderr and _moving else None
        self.console = shared or Console(stderr=stderr, highlight=False)
        self._stderr = stderr

    @property
    def unicode(self) -> bool:
        """Whether blocks and box lines can be shown."""
        return self.console.encoding.lower().startswith("utf")

    @property
    def width(self) -> int:
        return self.console.width

    def text(self, text: str) -> str:
        """The text with signs that can be shown here."""
        if self.unicode:
            return text
        return text.translate(_PLAIN).encode("ascii", "replace").decode("ascii")

    def escape(self, text: str) -> str:
        """The same, with brackets that Rich does not take for markup."""
        return escape(self.text(text))

    def print(self, markup: str = "", *, indent: int = 0) -> None:
        """Print a paragraph with markup, wrapped to the width; an empty line without any."""
        if not markup:
            self.console.print()
            return
        for line in Text.from_markup(markup, emoji=False).wrap(
            self.console, max(20, self.width - indent)
        ):
            line.rstrip()
            line.pad_left(indent)
            self.console.print(line)

    def line(self, markup: str, *, indent: int = 0) -> None:
        """Print one line with markup however long it is: a path is to be copied whole."""
        text = Text.from_markup(markup, emoji=False)
        text.pad_left(indent)
        self.console.print(text, soft_wrap=True)

    def show(self, drawn: RenderableType) -> None:
        """Print something that Rich can draw, such as a table."""
        self.console.print(drawn)

    def raw(self, text: str) -> None:
        """Print data as it is, without wrapping or colour."""
        print(text, file=sys.stderr if self._stderr else sys.stdout, flush=True)


def output() -> Screen:
    """Where answers go."""
    return Screen(stderr=False)


def errors() -> Screen:
    """Where errors, warnings and progress go."""
    return Screen(stderr=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Within it a terminal shows what is being waited for; pipes and files see nothing."""
    screen = errors()
    if not screen.console.is_terminal:
        yield
        return
    spinner = "dots" if screen.unicode else "line"
    with screen.console.status(screen.escape(what), spinner=spinner):
        yield


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[str, float], None]]:
    """Within it a terminal shows a bar; what it yields is told what is done and how much of it."""
    # Loading the bar takes as long as a light command.
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    screen = errors()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    hidden = not screen.console.is_terminal
    with Progress(*columns, console=screen.console, transient=True, disable=hidden) as bar:
        task = bar.add_task(screen.escape(what), total=1.0)

        def shown(doing: str, done: float) -> None:
            bar.update(task, description=screen.escape(doing.capitalize()), completed=done)

        _moving.append(screen.console)
        try:
            yield shown
        finally:
            _moving.pop()
