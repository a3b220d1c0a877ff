"""Linear forms: questions and workloads as they come over the wire, bound to a domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from eke.domain import Domain
from eke.errors import QueryError
from eke.planning import Workload, grouping_sets, workload_from_document
from eke.query import Marginal, Query
from eke.question import formula_from_document, formula_question
from eke.question.posed import Asked
from eke.service.body import FormulaForm, LinearForm, MarginalForm, QueryForm
from eke.service.release_body import WorkloadBody
from eke.sql import parse_grouping_sets

MOST_COEFFICIENTS = 4_000_000
MOST_TABLES = 5000
MOST_QUESTIONS = 1_000_000


def question_of(sql: str | None, query: QueryForm | None, domain: Domain) -> Asked:
    """The question as a session takes it."""
    if query is None:
        if sql is None:
            raise QueryError("give the question as sql or as query")
        return sql
    if isinstance(query, FormulaForm):
        _check_size(query.of, domain)
        queries = [Query.from_document(domain, form.model_dump()) for form in query.of]
        formula = formula_from_document(query.formula, len(queries))
        return formula_question(domain, formula, queries, query.by)
    if isinstance(query, MarginalForm):
        _check_size([query.inside], domain)
        return Marginal.from_document(domain, query.model_dump())
    _check_size([query], domain)
    return Query.from_document(domain, query.model_dump())


def workload_of(tables: WorkloadBody, domain: Domain) -> Workload:
    """The workload that a body asks for, within what one request may ask for."""
    given = tables.model_dump(exclude_none=True, exclude={"sql"})
    _check_size((one.query for one in tables.queries or ()), domain)
    workloads: list[Workload] = []
    if given:
        workloads.append(workload_from_document(domain, given, most=MOST_TABLES))
    if tables.sql is not None:
        workloads.append(grouping_sets(domain, parse_grouping_sets(tables.sql, domain)))
    if not workloads:
        raise QueryError('say what to release, for example {"all_marginals": 2}')
    targets = dict.fromkeys(target for one in workloads for target in one.targets)
    single = workloads[0]
    workload = Workload(domain, tuple(targets), single.queries, single.query_weights)
    if len(workload.targets) > MOST_TABLES or workload.questions > MOST_QUESTIONS:
        raise QueryError(
            f"a release over HTTP has at most {MOST_TABLES:,} tables and {MOST_QUESTIONS:,} answers"
        )
    return workload


def _check_size(forms: Iterable[LinearForm], domain: Domain) -> None:
    """Raise before any memory is taken for what a short text can ask for."""
    total = 0
    for form in forms:
        for term in form.terms:
            total += sum(_size(domain, name) for name in term.factors)
    if total > MOST_COEFFICIENTS:
        raise QueryError(f"a question may have at most {MOST_COEFFICIENTS:,} coefficients")


def _size(domain: Domain, name: str) -> int:
    if name not in domain:
        raise QueryError(domain.unknown(name))
    return domain[name].size


def half_widths(within: float | Iterable[Any] | None) -> float | Mapping[Any, float] | None:
    """The accuracies of a plan as a session takes them."""
    if within is None or isinstance(within, (int, float)):
        return within
    return {tuple(one.attributes): one.within for one in within}
