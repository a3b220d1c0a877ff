"""Guarding: entries that guard claims or lift the guard, and what may still be measured then.

A claim is closed once its probability, given everything released, has come to its threshold. From
then on nothing is charged that could raise it. The probability is the one that `session.claim`
tells: that of the error of the best linear unbiased estimate. This error changes if and only if
its variance is lowered, whatever is measured; and that follows from questions and noise laws, so a
plan is tried out with zeros in the place of what it would measure.

Privacy: all of it is a function of the ledger and of the plan; the data has no part in it. Guarding
never allows anything: it declines what the accountant would have allowed. See
docs/proofs/release.md, §9.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from eke.domain import Domain
from eke.errors import EkeError, LedgerError, QueryError
from eke.history import Measurement
from eke.history.guarded import GuardedClaim, holding, lifted
from eke.inference import Inference
from eke.inference.kept import Kept
from eke.ledger import Entry
from eke.planning import Plan
from eke.privacy.law import Gaussian
from eke.query import Block

if TYPE_CHECKING:
    from eke.ledger import Book, Ledger  # slow to load, and needed by writers only

GUARD = "guard"
LIFT = "lift"
GUARDING = frozenset({GUARD, LIFT})
"""The kinds of entries about guarded claims."""
MOST_GUARDS = 64
"""In force at once: every closed one is looked at before each charge."""
_LESS = 1.0 - 1e-9
"""Of the variance, so that rounding does not count as having learned something."""


def guards_after(
    claims: Sequence[GuardedClaim], domain: Domain, entry: Entry
) -> tuple[GuardedClaim, ...]:
    """All claims ever guarded after one more entry; unknown forms release nothing."""
    try:
        if entry.kind == LIFT:
            number = entry.payload["entry"]
            if type(number) is not int or number not in {one.sequence for one in holding(claims)}:
                raise LedgerError("the ledger lifts what was never guarded")
            return lifted(claims, number, entry.sequence)
        told = GuardedClaim.from_document(domain, entry.payload, entry.sequence, entry.at)
    except (LookupError, TypeError, ValueError, ArithmeticError, EkeError) as problem:
        raise LedgerError("the ledger guards a claim of an unknown form") from problem
    return (*claims, told)


def guard(ledger: Ledger, domain: Domain, claim: GuardedClaim) -> int:
    """Guard a claim from now on; the number of the ledger's entry.

    Privacy: touches no data and costs nothing. What is charged before this entry was allowed.
    """
    if claim.query.domain != domain:
        raise QueryError("the claim is over another domain than this dataset's")
    with ledger.exclusive() as book:
        if len(holding(_written(book, domain))) >= MOST_GUARDS:
            raise QueryError(f"at most {MOST_GUARDS} claims are guarded at once; lift one first")
        return book.note(GUARD, claim.to_document()).sequence


def lift(ledger: Ledger, domain: Domain, sequence: int, by: str) -> None:
    """Guard what an entry says no longer; both entries stay in the ledger."""
    with ledger.exclusive() as book:
        if sequence not in {claim.sequence for claim in holding(_written(book, domain))}:
            raise QueryError(
                f"entry {sequence} guards no claim that is in force; list them to see the numbers "
                "of those that do"
            )
        book.note(LIFT, {"entry": sequence, "by": by})


def _written(ledger: Ledger | Book, domain: Domain) -> tuple[GuardedClaim, ...]:
    claims: tuple[GuardedClaim, ...] = ()
    for entry in ledger.entries():
        if entry.kind in GUARDING:
            claims = guards_after(claims, domain, entry)
    return claims


def claim_probability(claim: GuardedClaim, inference: Inference) -> float | None:
    """How probable the claim is by what was released; None while that does not determine it."""
    posterior = inference.posterior(claim.query)
    if posterior is None:
        return None
    return min(max(posterior.probability(above=claim.lower, below=claim.upper), 0.0), 1.0)


def is_closed(claim: GuardedClaim, inference: Inference) -> bool:
    """True once the claim is as probable as its threshold."""
    probability = claim_probability(claim, inference)
    return probability is not None and probability >= claim.threshold


def claims_at_risk(
    plan: Plan, claims: Iterable[GuardedClaim], inference: Inference
) -> tuple[GuardedClaim, ...]:
    """The closed claims that carrying out the plan could make more probable.

    What is measured beside the parts, or kept in no form that inference reads, could be about
    anything. Privacy: values are never looked at, those of the plan are zeros here.
    """
    closed = _closed(claims, inference)
    if not closed or plan.flat_loss:
        return closed
    known = [
        Measurement(
            part.query,
            part.law,
            (0.0,) * part.query.cells,
            refines=part.refines,
            before=() if part.refines is None else (0.0,) * part.query.cells,
        )
        for part in plan.parts
    ]
    return _lowered(closed, known, inference)


def claims_touched(
    blocks: Iterable[Block], claims: Iterable[GuardedClaim], inference: Inference
) -> tuple[GuardedClaim, ...]:
    """The closed claims that accurate answers to all of these would make more probable.

    A formula is paid for in steps; nothing is paid for the first where a later one could be
    declined. Whatever is measured for it follows from accurate answers to its blocks.
    """
    closed = _closed(claims, inference)
    known = [
        Measurement(block.without_constant(), Gaussian(1.0), (0.0,) * block.cells)
        for block in blocks
        if closed
    ]
    return _lowered(closed, known, inference)


def _closed(claims: Iterable[GuardedClaim], inference: Inference) -> tuple[GuardedClaim, ...]:
    """The closed claims about which more can be learned."""
    closed = (claim for claim in holding(claims) if is_closed(claim, inference))
    return tuple(claim for claim in closed if _variance(claim, inference) > 0.0)


def _lowered(
    closed: tuple[GuardedClaim, ...], known: Sequence[Measurement], inference: Inference
) -> tuple[GuardedClaim, ...]:
    if not closed:
        return ()
    after = inference.view()
    after.extend_all(known)
    if Kept() in after.kept[len(inference.kept) :] or _aside(after, len(inference.rows)):
        return closed
    return tuple(
        claim for claim in closed if _variance(claim, after) < _LESS * _variance(claim, inference)
    )


def _aside(after: Inference, first: int) -> bool:
    """True when a row from `first` on is used for its own question only (`SetAside`).

    It may be next to the claim, or a number of people in it: how near, inference does not know.
    """
    return any(row >= first for row in after.regression.aside.rows())


def _variance(claim: GuardedClaim, inference: Inference) -> float:
    """That of the error of what is known; only closed claims are determined for certain."""
    posterior = inference.posterior(claim.query)
    return float("inf") if posterior is None else posterior.variance
