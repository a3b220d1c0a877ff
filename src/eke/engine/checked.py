"""What the junction measures: its own copies of what it was handed, of exactly known types.

A plan comes from planning, a step of an adaptive release from a publisher, and both could be
anything: a subclass whose price and whose answers tell different stories, an array that is changed
after it was priced, noise of another kind of loss than the ledger's. The junction therefore never
works on what it is handed. It builds every question and law anew from their numbers, in its own
domain, with the checks of their constructors, and prices and measures the copies.
"""

from __future__ import annotations

from eke.domain import Domain
from eke.errors import PrivacyError
from eke.history import RankChoice
from eke.planning import Part, Plan
from eke.privacy.law import DiscreteLaplace, DiscreteLaw, is_drawn
from eke.privacy.measure import Measure
from eke.privacy.measures import measure_of
from eke.privacy.refinement import Earlier
from eke.query import Block, Query, is_known
from eke.query.own import own_fraction


def checked_plan(plan: object, domain: Domain, measure: Measure) -> Plan:
    """The junction's own copy of a plan; an error, before anything is paid, if it has none.

    Privacy: the parts are those of `checked_part`, and the losses are whole numbers that are not
    negative. Demands and purpose are for the record, nothing is priced or measured by them.
    """
    if type(plan) is not Plan:
        raise PrivacyError("only a Plan can be released, and nothing derived from it")
    return Plan(
        tuple(_checked(part, domain, measure) for part in plan.parts),
        plan.row_loss,
        plan.later_loss,
        plan.demands,
        plan.instead_of,
        plan.purpose,
        tuple(checked_choice(choice, domain) for choice in plan.choices),
    )


def _checked(part: object, domain: Domain, measure: Measure) -> Part:
    """The junction's own copy of a part of a plan, which may refine what was measured before.

    Privacy: what it refines is looked up under the ledger's lock (`refined.py`).
    """
    if type(part) is not Part or part.refines is None:
        return checked_part(part, domain, measure)
    place, steps = part.refines.place, part.refines.steps
    if type(place) is not int or type(steps) is not int:
        raise PrivacyError("what is refined is told by its place and the steps of its noise")
    law = checked_law(part.law, measure)
    return Part(checked_query(part.query, domain), law, Earlier(place, steps))


def checked_part(part: object, domain: Domain, measure: Measure) -> Part:
    """The junction's own copy of a question and its noise.

    Privacy: prices and exact answers follow from the numbers in this copy alone. Nobody else holds
    its arrays, and they are read-only.
    """
    if type(part) is not Part:
        raise PrivacyError("only parts of a plan can be measured, and nothing derived from them")
    return Part(checked_query(part.query, domain), checked_law(part.law, measure))


def checked_choice(choice: object, domain: Domain) -> RankChoice:
    """The junction's own copy of a choice among the steps of a column of its own domain.

    Privacy: which records count, how far one of them moves a score, and the scores themselves
    follow from this copy.
    """
    if type(choice) is not RankChoice:
        raise PrivacyError("only a RankChoice is carried out, and nothing derived from it")
    counted = checked_query(choice.counted, domain).inside
    if counted is None:
        raise PrivacyError("a quantile is chosen among records that one question counts")
    law = choice.law
    if type(law) is not DiscreteLaplace or type(choice.attribute) is not str:
        raise PrivacyError("a choice is drawn with the scale of discrete Laplace noise")
    copy = DiscreteLaplace(law.steps, law.exponent)
    return RankChoice(counted, choice.attribute, own_fraction(choice.share), copy)


def checked_query(query: object, domain: Domain) -> Block:
    """The junction's own copy of a question or a block over its own domain.

    Privacy: of exactly known kinds only, and what a block counts inside is exactly a query; then
    their methods are those of this package, and the copy's price and answers follow from its
    numbers.
    """
    if not is_known(query):
        raise PrivacyError(
            "only a Query, a Marginal or a Kronecker can be measured, and nothing derived from them"
        )
    if query.inside is not None and type(query.inside) is not Query:
        raise PrivacyError("the cells of a block count one question, and nothing derived from it")
    _check_domain(query.domain, domain)
    return query.rebuilt(domain)


def checked_law(law: object, measure: Measure) -> DiscreteLaw:
    """The same law, built anew, if its loss is counted as the ledger counts."""
    if not is_drawn(law):
        raise PrivacyError("only discrete laws are drawn; put the noise on a grid by choose_grid")
    copy = type(law)(law.steps, law.exponent)
    if measure_of(copy) is not measure:
        raise PrivacyError(f"this table's losses are in {measure}; the noise's are not")
    return copy


def _check_domain(theirs: Domain, ours: Domain) -> None:
    if theirs is not ours and (type(theirs) is not Domain or theirs != ours):
        raise PrivacyError("the plan asks about another domain than this table's; plan again here")
