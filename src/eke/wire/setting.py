"""Settings of a connection: how accurate its answers are, and what clients of PostgreSQL expect.

    SET eke.within = 100        how far an answer may be off; '2 %' of the value itself
    SET eke.confidence = 0.95
    SET eke.policy = top_up     the dataset's own unless set
    SET eke.groups_of = 1000    how many records a group needs to be so accurate
    SET eke.spend = off         free answers only
    SET eke.intervals = on      further columns with the ends of the intervals

`SHOW eke.last_cost` tells what the last answer cost. Settings of PostgreSQL that clients send by
themselves are kept and shown; they change nothing here, where dates and numbers have one form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eke.errors import ServiceError
from eke.service.answer_setting import ANSWER_SETTINGS, checked_setting, within_of
from eke.wire.report import Trouble
from eke.wire.words import Statement, Word

_KEPT = {
    "application_name": "",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "datestyle": "ISO, MDY",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "extra_float_digits": "1",
    "idle_in_transaction_session_timeout": "0",
    "intervalstyle": "postgres",
    "jit": "off",
    "lock_timeout": "0",
    "row_security": "on",
    "search_path": '"$user", public',
    "statement_timeout": "0",
    "timezone": "UTC",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "xmloption": "content",
}
_FIXED = {
    "in_hot_standby": "off",
    "integer_datetimes": "on",
    "is_superuser": "off",
    "lc_collate": "C",
    "lc_ctype": "C",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "server_encoding": "UTF8",
    "server_version": "15.0",
    "server_version_num": "150000",
    "standard_conforming_strings": "on",
}
REPORTED = {  # names as PostgreSQL writes them; told at the beginning, and when they change
    "application_name": "application_name",
    "client_encoding": "client_encoding",
    "datestyle": "DateStyle",
    "default_transaction_read_only": "default_transaction_read_only",
    "in_hot_standby": "in_hot_standby",
    "integer_datetimes": "integer_datetimes",
    "intervalstyle": "IntervalStyle",
    "is_superuser": "is_superuser",
    "server_encoding": "server_encoding",
    "server_version": "server_version",
    "session_authorization": "session_authorization",
    "standard_conforming_strings": "standard_conforming_strings",
    "timezone": "TimeZone",
}
_MOST_LETTERS = 1000
_MOST_SAVEPOINTS = 100


@dataclass(slots=True)
class ConnectionSettings:
    """The settings of one connection; what a transaction sets can be taken back."""

    user: str
    values: dict[str, str] = field(init=False)
    _begun: dict[str, str] = field(init=False)
    _before: dict[str, str] | None = field(default=None, init=False)  # of a transaction
    _local: set[str] = field(default_factory=set, init=False)
    _savepoints: list[tuple[str, dict[str, str]]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.values = {
            **_KEPT,
            **_FIXED,
            **ANSWER_SETTINGS,
            "eke.last_cost": "0",
            "session_authorization": self.user,
        }
        self._begun = dict(self.values)

    def begin_with(self, given: Mapping[str, str]) -> None:
        """What the client wants from the beginning; `RESET` comes back to it."""
        for name, value in given.items():
            self.change(name, value)
        self._begun = dict(self.values)

    def copy(self) -> ConnectionSettings:
        """The same values, whatever is set later."""
        same = ConnectionSettings(self.user)
        same.values = dict(self.values)
        return same

    # -- statements ----------------------------------------------------------------------------

    def set(self, statement: Statement) -> list[str]:
        """SET name = value; gives back the names that changed."""
        words = list(statement.words[1:])
        scope = words.pop(0).lower if words and words[0].lower in ("session", "local") else ""
        if _names(words[:1]) == ["transaction"] or _names(words[:2]) == ["characteristics", "as"]:
            return []
        if _names(words[:2]) == ["time", "zone"]:
            name, given = "timezone", words[2:]
        elif _names(words[:1]) == ["names"]:
            name, given = "client_encoding", words[1:]
        else:
            name, given = _setting_name(words)
        if not given:
            raise Trouble("42601", "write SET name = value, for example SET eke.within = 100")
        if scope == "local" and self._before is None:
            return []  # its transaction is this statement, and over with it
        (self._local.add if scope == "local" else self._local.discard)(name.lower())
        if len(given) == 1 and given[0].kind == "name" and given[0].lower == "default":
            return self.reset(name)
        return self.change(name, _joined(given))

    def change(self, name: str, value: str) -> list[str]:
        """Set one of them; a value that makes no sense is refused at once, and changes nothing."""
        key = name.lower()
        if key not in self.values:
            raise Trouble(
                "42704",
                f'unrecognized configuration parameter "{name[:63]}"',
                f"settings of eke are {', '.join(ANSWER_SETTINGS)}",
            )
        if key in _FIXED or key in ("eke.last_cost", "session_authorization"):
            raise Trouble("55P02", f'parameter "{key}" cannot be changed')
        if len(value) > _MOST_LETTERS:
            raise Trouble("22023", f'the value of "{key}" is too long')
        self.values[key] = _checked(key, value)
        return [key]

    def reset(self, name: str) -> list[str]:
        """The value from the beginning; of all of them for ALL."""
        key = name.lower()
        if key == "all":
            changed = [key for key in self.values if self.values[key] != self._begun[key]]
            cost = self.values["eke.last_cost"]
            self.values = {**self._begun, "eke.last_cost": cost}
            return changed
        if key not in self.values:
            raise Trouble("42704", f'unrecognized configuration parameter "{name[:63]}"')
        self.values[key] = self._begun[key]
        return [key]

    def show(self, name: str) -> str:
        """The value of one of them."""
        value = self.values.get(name.lower())
        if value is None:
            raise Trouble("42704", f'unrecognized configuration parameter "{name[:63]}"')
        return value

    # -- transactions --------------------------------------------------------------------------

    def begin(self) -> None:
        """A transaction begins: what is set in it may be taken back."""
        if self._before is None:
            self._before = dict(self.values)

    def end(self, *, commits: bool) -> None:
        """It ends: what was set LOCAL is over, and all of it if the transaction is rolled back."""
        before, self._before = self._before, None
        if before is not None:
            cost = self.values["eke.last_cost"]
            undone = self._local if commits else before.keys()
            self.values |= {name: before[name] for name in undone}
            self.values["eke.last_cost"] = cost
        self._local = set()
        self._savepoints = []

    def save(self, name: str) -> None:
        """A savepoint: settings come back to it."""
        if len(self._savepoints) >= _MOST_SAVEPOINTS:
            raise Trouble("53400", f"a transaction has at most {_MOST_SAVEPOINTS} savepoints")
        self._savepoints.append((name, dict(self.values)))

    def back_to(self, name: str, *, releases: bool = False) -> None:
        """Back to a savepoint, or only forget it, and all after it."""
        names = [saved for saved, _ in self._savepoints]
        if name not in names:
            raise Trouble("3B001", f'savepoint "{name[:63]}" does not exist')
        place = len(names) - 1 - names[::-1].index(name)
        if not releases:
            cost = self.values["eke.last_cost"]
            self.values = {**self._savepoints[place][1], "eke.last_cost": cost}
        del self._savepoints[place if releases else place + 1 :]

    # -- what they mean ------------------------------------------------------------------------

    @property
    def only_free(self) -> bool:
        return self.values["eke.spend"] == "off"

    @property
    def intervals(self) -> bool:
        return self.values["eke.intervals"] == "on"

    @property
    def notices(self) -> bool:
        """Whether the client wants to hear of anything but warnings and errors."""
        return self.values["client_min_messages"].lower() not in ("warning", "error", "fatal")

    @property
    def policy(self) -> str | None:
        return self.values["eke.policy"] or None

    @property
    def within(self) -> float | str | None:
        return within_of(self.values["eke.within"])

    @property
    def confidence(self) -> float | None:
        text = self.values["eke.confidence"]
        return float(text) if text else None

    @property
    def groups_of(self) -> int | None:
        text = self.values["eke.groups_of"]
        return int(text) if text else None


def options_of(text: str) -> dict[str, str]:
    """The settings in a client's `options`, as in -c eke.within=100; a backslash keeps a space."""
    parts = [part.replace("\0", " ") for part in text.replace("\\ ", "\0").split()]
    given: dict[str, str] = {}
    while parts:
        part = parts.pop(0)
        if part == "-c" and parts:
            part = parts.pop(0)
        elif part.startswith(("--", "-c")):
            part = part[2:]
        name, equals, value = part.partition("=")
        if not equals:
            raise Trouble("42601", "options are given as -c name=value")
        given[name.replace("-", "_")] = value
    return given


def _names(words: Sequence[Word]) -> list[str]:
    return [word.lower for word in words]


def _setting_name(words: Sequence[Word]) -> tuple[str, list[Word]]:
    """The name, which may have dots, and the words of the value."""
    name, rest = "", list(words)
    while rest and (rest[0].kind in ("name", "quoted") or rest[0].text == "."):
        if rest[0].lower == "to" and name:
            break
        name += rest.pop(0).lower
    if not name or not rest or rest[0].lower not in ("=", "to"):
        raise Trouble("42601", "write SET name = value, for example SET eke.within = 100")
    return name, rest[1:]


def _joined(words: Sequence[Word]) -> str:
    """The value as it is kept: a string without quotes, several with commas, a number as it is."""
    text = ""
    for word in words:
        text += ", " if word.text == "," else word.value
    return text


def _checked(key: str, value: str) -> str:
    text = value.strip()
    encoding = text.strip("'").lower().replace("-", "")
    if key == "client_encoding" and encoding not in ("utf8", "unicode", ""):
        raise Trouble("22023", "texts are sent in UTF-8 only; use SET client_encoding = 'UTF8'")
    if key == "client_encoding":
        return "UTF8"
    if key in ANSWER_SETTINGS:
        try:
            return checked_setting(key, text)
        except ServiceError as problem:
            raise Trouble("22023", str(problem)) from None
    return value
