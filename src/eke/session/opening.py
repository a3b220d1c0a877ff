"""Creating and opening protected datasets: `eke.create` and `eke.open`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eke.data import TableCheck
from eke.data.reopening import reopen_source
from eke.data.source import Columns
from eke.domain import Domain, domain_to_document, read_domain
from eke.engine import CHECKPOINT_ENDING, Checkpoint, Vault
from eke.errors import DomainError, LedgerError, PrivacyError
from eke.ledger import HighWaterMark, Ledger
from eke.planning import policy_named
from eke.privacy.budget import Limit
from eke.privacy.unit import Unit
from eke.query import check_neighbours
from eke.session.beginning import beginning_of, unit_of
from eke.session.session import Session
from eke.session.settings import FORMAT, domain_of, user_name
from eke.sql import check_functions

DEFAULT_POLICY = "top_up"


def create(
    path: str | os.PathLike[str],
    data: Any,
    domain: Domain | str | os.PathLike[str],
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    neighbours: str = "add_remove",
    unit: Unit | None = None,
    policy: str = DEFAULT_POLICY,
    table: str | None = None,
    analyst: str | None = None,
    check: TableCheck | None = None,
) -> Session:
    """A new protected dataset: one file with domain, limit, history and ledger.

    The table is referenced, not copied. The limit for everything ever released is either `epsilon`
    or `rho`.

    Args:
        path: where the dataset is kept; it must be new. For several machines it is an address
            instead, `postgresql://host/base?dataset=adult`.
        data: the table: a CSV, Parquet or DuckDB file, a pandas or polars frame, an Arrow table, a
            table of PostgreSQL or Spark, a `View`.
        domain: the `Domain`, or a file that describes it.
        epsilon: the limit under pure differential privacy, with Laplace noise.
        rho: the limit under zero-concentrated differential privacy, with Gaussian noise.
        neighbours: "add_remove" or "replace_one"; which tables must be hard to tell apart.
        unit: a `Unit`, when one person may have several rows.
        policy: how questions are paid for: "top_up", "direct" or "look_ahead"; see
            docs/how-to/choose-accuracy.md#policies.
        table: which table of a DuckDB file or a database.
        analyst: who asks in this session; by default the user's name.
        check: what `eke.check` said of the same table, domain and unit. Without it, a domain with a
            rule `never` takes a scan of its own.

    Raises:
        PrivacyError: when there is not exactly one limit, or the unit does not fit.
        DomainError: when the table contradicts a rule `never` of the domain, or a derived column
            cannot be read.
        DataError: when the table cannot be read as declared.
        LedgerError: when there is something at `path` already.

    Privacy: with neighbours="replace_one" the number of rows is public and is stored in the file
    (when no rule of the domain drops rows).

    Example:
        >>> eke.create("zcdp.eke", people, domain, rho=0.1)
        Session(4 attributes, 3,000 cells; rho 0 spent of 0.1, 0.1 remaining)
    """
    # An engine, and what reads the versions of packages: opening a dataset needs none of it.
    from importlib.metadata import version  # noqa: PLC0415

    from eke.data import check_table, open_source  # noqa: PLC0415
    from eke.data.view import ViewTable  # noqa: PLC0415

    limit = Limit.of(epsilon, rho)
    relation = check_neighbours(neighbours)
    policy_named(policy)
    if unit is not None and not isinstance(unit, Unit):
        raise PrivacyError('unit must be an eke.Unit, e.g. eke.Unit("patient", rows=3)')
    if unit is not None and relation == "replace_one":
        raise PrivacyError(
            "replace_one makes the number of rows public, which cannot be combined with a unit of"
            " several rows; use neighbours='add_remove'"
        )
    declared = domain if isinstance(domain, Domain) else read_domain(Path(domain))
    check_functions(declared)
    if isinstance(data, ViewTable):
        data.promise(unit, relation)
    if declared.has_claims:
        checked = check or check_table(data, declared, unit, table=table)
        if checked.contradictions():
            raise DomainError(f"{'; '.join(checked.contradictions())}. Nothing was created")
    source = open_source(data, declared, unit, table=table)
    public_rows = None
    if relation == "replace_one" and declared.total:
        public_rows = source.counts([()])[0].total
    document = {
        "format": FORMAT,
        "made_by": f"eke {version('eke')}",
        "domain": domain_to_document(declared),
        "attributes": list(declared.names),
        "measure": limit.measure.name,
        "neighbours": relation,
        "unit": None if unit is None else {"column": unit.column, "rows": unit.rows},
        "policy": policy,
        "public_rows": public_rows,
    }
    # The reference holds size and fingerprint of the file: facts about the data, not for export.
    ledger = Ledger.create(path, document, limit.nano, private={"data": source.reference()})
    return _session(ledger, document, source, analyst)


def open_dataset(
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    analyst: str | None = None,
    mark: str | None = None,
    columns: Columns = "all",
) -> Session:
    """A protected dataset made by `create`, verified from its first ledger entry to its last.

    That a file is still the same is checked at once; it is read at the first paid question. What
    follows from a long history is kept in a file beside the dataset, `people.eke-checkpoint`:
    opening then costs what is new. It may be deleted at any time.

    Args:
        path: the dataset.
        data: the table again, when it lived in memory, or its new place when the file moved.
        analyst: who asks in this session; by default the user's name.
        mark: a high-water mark from `session.mark()`: an older ledger than that is refused.
        columns: what the first paid question reads of a file: "all" columns, or those that it
            "needed", and all of them when a later one needs others. The latter is for programs that
            ask one question, as the commands do; with a unit, all are read in any case.

    Raises:
        LedgerError: when there is no dataset, or none of this version.
        LedgerTampered: when the ledger was edited, or is older than the mark.
        DataError: when the table is missing or is another one.

    Example:
        >>> again = eke.open("people.eke", data=people, analyst="ana", mark=session.mark())
        >>> again.verify().intact
        True
    """
    known = None if mark is None else HighWaterMark.from_json(mark)
    ledger = Ledger.open(path, known)
    document = ledger.document
    if document.get("format") != FORMAT:
        raise LedgerError(f"{ledger.place} is not a dataset of this version of eke")
    declared = domain_of(document)
    reference = ledger.private["data"]
    if not isinstance(reference, Mapping):
        raise LedgerError(f"{ledger.place} does not say where its table is; use an intact copy")
    source = reopen_source(reference, declared, unit_of(document), data=data, columns=columns)
    return _session(ledger, document, source, analyst)


def _session(
    ledger: Ledger, document: Mapping[str, Any], source: Any, analyst: str | None
) -> Session:
    beginning = beginning_of(document)
    vault = Vault(ledger, source, beginning, Checkpoint(ledger.beside(CHECKPOINT_ENDING)))
    return Session(
        vault,
        measure=beginning.measure,
        policy=str(document["policy"]),
        analyst=analyst or user_name(),
        settings=document,
    )
