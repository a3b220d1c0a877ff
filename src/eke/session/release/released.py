"""Release: the tables of a workload after they were measured.

Marginals agree with each other. Ranges and single questions are measured and recovered apart from
them; `session.ask` puts everything together.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.arrays import FloatArray
from eke.domain import Domain, plain_label
from eke.errors import QueryError
from eke.history import Assertion, Measurement
from eke.planning import ReleasePlan, Workload, consistent_tables, whole_tables
from eke.planning.workload.agreement import Kind
from eke.planning.workload.equations import Equation, equations_of
from eke.planning.workload.programs import Norm
from eke.planning.workload.release import Table
from eke.privacy.record_loss import NANO
from eke.query import Query
from eke.question import table_caveats
from eke.session.answer import html
from eke.session.release.adjusted import Adjustment, adjusted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedTable:
    """One table of a release, or one question of it: estimated answers with standard errors.

    Attributes:
        attributes: the names of its axes.
        along: what is asked along each: cells, ranges or prefixes.
        values: the estimated answers, an array.
        standard_error: that of each value, or one number for all.
        labels: those along each axis.
        question: a single question in words; None for a table.
    """

    attributes: tuple[str, ...]
    along: tuple[str, ...]
    values: FloatArray
    standard_error: FloatArray
    labels: tuple[tuple[Any, ...], ...]
    question: str | None = None

    def __repr__(self) -> str:
        over = self.question or ", ".join(self.attributes) or "the total"
        return f"ReleasedTable({over}; {self.values.size:,} answers)"

    def to_pandas(self) -> pd.DataFrame:
        """One row for each answer: its labels, its value, its standard error."""
        import pandas as pd  # noqa: PLC0415 - slow to load

        columns: dict[str, Any] = {}
        if self.question is not None:
            columns["question"] = [self.question]
        for axis, labels in enumerate(self.labels):
            place = [1] * len(self.labels)
            place[axis] = len(labels)
            index = np.broadcast_to(np.arange(len(labels)).reshape(place), self.values.shape)
            columns[self.attributes[axis]] = [labels[i] for i in index.ravel()]
        columns["value"] = np.ravel(self.values)
        columns["standard_error"] = np.ravel(
            np.broadcast_to(self.standard_error, self.values.shape)
        )
        return pd.DataFrame(columns)


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """The tables of a workload, all of one release. Made by `session.release`.

    Its marginals agree with each other.

    Attributes:
        workload: what was asked for.
        tables: all tables; a single question is one with its `question` in words.
        cost: by how much the dataset's loss grew.
        measure: "epsilon" or "rho".
        sequence: the ledger entry that holds the noisy answers.
        strategy: the name of what was measured.
        rmse: the expected error of all questions.
        plan: None when it was read again from a ledger or a server.
        total: the number of records where it is public; all tables then add up to it.
        caveats: what bins, bounds and rules of the domain leave open, besides the noise.
        equations: what public facts said of these tables when they were released.
        adjustment: how the values were adjusted; None for those that were released.

    Example:
        >>> release = session.release(session.plan(eke.all_marginals(domain, 2), budget=0.5))
        >>> release.table("sex", "smoker").to_pandas().columns.tolist()
        ['sex', 'smoker', 'value', 'standard_error']
        >>> release.whole()[("sex", "smoker")].shape
        (2, 3)
        >>> session.ask(eke.count(sex="F", smoker=True), within=400).free
        True
    """

    workload: Workload
    tables: tuple[ReleasedTable, ...]
    cost: float
    measure: str
    sequence: int
    strategy: str
    rmse: float
    plan: ReleasePlan | None = None
    total: int | None = None
    caveats: tuple[str, ...] = ()
    equations: tuple[Equation, ...] = ()
    adjustment: Adjustment | None = None

    def __repr__(self) -> str:
        made = "" if self.adjustment is None else f", {self.adjustment.kind}"
        return f"Release({len(self.tables)} tables, cost {self.measure} {self.cost:.6g}{made})"

    def _repr_html_(self) -> str:
        listed = [(repr(table), float(np.max(table.standard_error))) for table in self.tables]
        body = html.table(("table", "largest standard error"), listed)
        paid = f"Paid {self.measure} {self.cost:.6g}."
        return html.framed(repr(self), body, " ".join([paid, *self.caveats]))

    def table(self, *attributes: str) -> ReleasedTable:
        """The table over some attributes; of none of them, the total."""
        wanted = set(attributes)
        for table in self.tables:
            same = set(table.attributes) == wanted and len(table.attributes) == len(attributes)
            if same and table.question is None:
                return table
        raise QueryError(
            f"the release has no table over {', '.join(attributes) or 'nothing (the total)'}; "
            "`tables` lists those it has"
        )

    def adjusted(self, kind: Kind = "consistent", norm: Norm = "l2") -> Release:
        """The release with answers that hang together, nearest to those that were released.

        It costs nothing: only released values are looked at. Whatever the workload, `consistent`
        answers are those of one table of counts. `nonnegative` ones also have no cell below zero,
        `whole` ones come from whole counts; both are biased, since small counts become too large on
        average. What exactly holds, and how far values moved, is in the result's `adjustment`.

        Args:
            kind: "consistent", "nonnegative" or "whole".
            norm: what is near: "l2", "l1" or "linf". For whole counts, what is near before they
                are rounded.

        Example:
            >>> session.release(session.plan([["sex"], eke.count(sex="F")], budget=0.3)).adjusted(
            ...     "whole"
            ... ).adjustment.guarantee
            'All answers are those of one table of whole counts, none of them negative.'
        """
        if self.adjustment is not None:
            raise QueryError("this release is adjusted already; adjust the one that was released")
        given = [np.asarray(table.values, np.float64) for table in self.tables]
        answers, adjustment = adjusted(
            self.workload, given, kind, norm, total=self.total, equations=self.equations
        )
        tables = tuple(
            replace(table, values=values)
            for table, values in zip(self.tables, answers, strict=True)
        )
        return replace(self, tables=tables, adjustment=adjustment)

    def consistent(
        self, norm: Norm = "l2", *, nonnegative: bool = False
    ) -> dict[tuple[str, ...], FloatArray]:
        """The marginals nearest to the released ones that agree with each other.

        `norm` says what is near: "l1", "l2" or "linf". With `nonnegative`, small counts become too
        large on average. Where the number of records is public, all of them add up to it, and they
        meet the public facts that held when they were released.
        """
        return consistent_tables(
            *self._marginals(),
            norm,
            nonnegative=nonnegative,
            total=self.total,
            equations=self.equations,
        )

    def whole(self) -> dict[tuple[str, ...], NDArray[np.int64]]:
        """The marginals as whole numbers, none negative, with one total: the public one, if any.

        Small counts become too large on average. Public facts are met before numbers are rounded.
        """
        marginals = self._marginals()
        return whole_tables(*marginals, total=self.total, equations=self.equations).tables

    def _marginals(self) -> tuple[dict[tuple[str, ...], FloatArray], dict[str, int]]:
        if not self.workload.is_marginal:
            raise QueryError("only whole marginals are made consistent this way; use adjusted()")
        domain = self.workload.domain
        sizes = dict(zip(domain.names, domain.shape, strict=True))
        return {table.attributes: table.values for table in self.tables}, sizes


def release_text(
    plan: ReleasePlan,
    released: Sequence[Measurement],
    cost: int,
    total: int | None = None,
    facts: Sequence[Assertion] = (),
) -> str:
    """What the ledger stores of a release besides its measurements: its tables, exactly.

    `total` is the number of records, where that is public; `facts` are what else is.
    """
    targets = [target.attributes for target in plan.workload.targets]
    equations = equations_of(facts, targets, plan.workload.domain)
    recovered = plan.recover([np.array(one.values) for one in released], total)
    document: dict[str, Any] = {
        "release": released[0].sequence,
        "total": total,
        "cost_nano": cost,
        "measure": plan.measure.name,
        "strategy": plan.strategy,
        "rmse": plan.rmse,
        "tables": [
            {
                "attributes": list(table.attributes),
                "along": list(table.along),
                "values": _packed(table.values),
                "variance": _packed(table.variance),
            }
            for table in recovered
        ],
    }
    if equations:
        document["equations"] = [
            {
                "attributes": list(equation.attributes),
                "coefficients": _packed(equation.coefficients),
                "value": equation.value,
            }
            for equation in equations
        ]
    return json.dumps(document, sort_keys=True)


def release_caveats(workload: Workload) -> tuple[str, ...]:
    """What the domain leaves open of the tables and questions of a workload."""
    columns = {name for target in workload.targets for name in target.attributes}
    return table_caveats(workload.domain, columns, workload.queries)


def release_of(
    workload: Workload,
    text: str,
    plan: ReleasePlan | None = None,
    caveats: tuple[str, ...] = (),
) -> Release:
    """The release that a stored text holds; `caveats` are those that the workload does not know."""
    stored = json.loads(text)
    stored_tables, targets = [_kept(one) for one in stored["tables"]], len(workload.targets)
    tables = [_labelled(table, workload.domain) for table in stored_tables[:targets]]
    tables += [
        _single(table, query)
        for table, query in zip(stored_tables[targets:], workload.queries, strict=True)
    ]
    return Release(
        workload,
        tuple(tables),
        stored["cost_nano"] / NANO,
        stored["measure"],
        int(stored["release"]),
        stored["strategy"],
        float(stored["rmse"]),
        plan,
        stored.get("total"),
        (*release_caveats(workload), *caveats),
        tuple(
            Equation(tuple(one["attributes"]), _unpacked(one["coefficients"]), float(one["value"]))
            for one in stored.get("equations", ())
        ),
    )


def _packed(values: ArrayLike) -> Mapping[str, Any]:
    """Numbers as a short text, to the last bit."""
    whole = np.asarray(values, "<f8")
    return {"shape": list(whole.shape), "f8": base64.b64encode(whole.tobytes()).decode("ascii")}


def _kept(document: Mapping[str, Any]) -> Table:
    return Table(
        tuple(document["attributes"]),
        tuple(document["along"]),
        _unpacked(document["values"]),
        _unpacked(document["variance"]),
    )


def _unpacked(packed: Mapping[str, Any]) -> FloatArray:
    values = np.frombuffer(base64.b64decode(packed["f8"]), "<f8").astype(np.float64)
    return values.reshape(packed["shape"])


def _labelled(table: Table, domain: Domain) -> ReleasedTable:
    labels = tuple(
        _labels(domain, name, along)
        for name, along in zip(table.attributes, table.along, strict=True)
    )
    return ReleasedTable(
        table.attributes,
        table.along,
        np.asarray(table.values),
        np.sqrt(table.variance),
        labels,
    )


def _single(table: Table, query: Query) -> ReleasedTable:
    value, error = np.reshape(table.values, ()), np.sqrt(np.reshape(table.variance, ()))
    return ReleasedTable(query.attributes, (), value, error, (), query.description)


def _labels(domain: Domain, name: str, along: str) -> tuple[Any, ...]:
    labels = domain[name].labels
    if along == "cells":
        return tuple(labels)
    if along == "prefixes":
        return tuple(f"up to {_word(label)}" for label in labels)
    places = range(len(labels))
    return tuple(f"{_word(labels[i])} to {_word(labels[j])}" for i in places for j in places[i:])


def _word(label: Any) -> str:
    """A label within a longer one: a bin with its edges, what is missing by that word."""
    if label is None:
        return "missing"
    return str(plain_label(label))
