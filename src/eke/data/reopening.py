"""Reopening the table of a dataset from its reference.

Whether a file is still the one that answers were given about is checked at once. Its columns were
checked when the dataset was created, and the same file has the same ones, so that the engine that
reads it is loaded when something is first counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

from eke.data.files import DataFile, file_from_document, file_to_document
from eke.data.fingerprint import Fingerprint, check_fingerprint
from eke.data.late_source import LateSource
from eke.data.source import ROW_KEY, Columns, Source, check_columns
from eke.domain import Domain
from eke.errors import DataError
from eke.privacy.unit import Unit

_SECRETS = ("size", "mtime_ns", "sha256", ROW_KEY)
_ELSEWHERE = ("memory", "ibis", "postgresql", "spark", "view")


def reopen_source(
    reference: Mapping[str, object],
    domain: Domain,
    unit: Unit | None = None,
    *,
    data: object = None,
    columns: Columns = "all",
) -> Source:
    """The table that a reference is about; `data` gives it again, or its new place.

    Privacy: what fails here depends on the file as a whole, and on nothing in it.
    """
    check_columns(columns)
    if reference.get("kind") in _ELSEWHERE:
        source: Source = _late("opening").open_source(reference, domain, unit, data=data)
        return source
    file, fingerprint = known_file(reference, data)
    key = {ROW_KEY: reference[ROW_KEY]} if ROW_KEY in reference else {}
    return LateSource(
        {**file_to_document(file), **fingerprint.to_document(), **key},
        lambda: _late("file_source").reopened_file(
            reference, file, fingerprint, domain, unit, columns=columns
        ),
    )


def known_file(
    reference: Mapping[str, object], data: object = None
) -> tuple[DataFile, Fingerprint]:
    """The file that a reference is about, which has not changed since."""
    known = Fingerprint.from_document(reference)
    file = file_from_document({k: v for k, v in reference.items() if k not in _SECRETS})
    if data is not None:
        file = _moved(file, data)
    elif not Path(file.path).is_file():
        raise DataError(f"there is no file {file.path}; if it was moved, say where with data=path")
    return file, check_fingerprint(file.path, known)


def _moved(file: DataFile, data: object) -> DataFile:
    if isinstance(data, (str, Path)):
        return file_from_document({**file_to_document(file), "path": str(data)})
    if type(data) is type(file):
        return data
    raise DataError("this dataset was created from a file; data= must be the path of that file")


def _late(module: str) -> ModuleType:
    """A module that takes long to load."""
    return import_module(f"eke.data.{module}")
