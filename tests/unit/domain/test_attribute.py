"""Attributes: codes of every raw value under every rule, labels, numbers and bad declarations."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from eke import domain
from eke.domain import Binned, Boolean, Categorical, Integer, Replace
from eke.domain.rule import is_storable, number_text
from eke.errors import DomainError

loose: Any = domain  # the same package, for declarations that type checkers rightly refuse

NULLS = ["drop", "bucket", "replace"]
OUTSIDES = ["drop", "bucket", "replace", "clamp"]
MISSING: list[Any] = [
    None,
    math.nan,
    np.float64("nan"),
    np.float32("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
]
STRANGE: list[Any] = ["text", "", b"1", [], [1], {}, object(), (0, 1), 1j]


def rule(name, value):
    return Replace(value) if name == "replace" else name


def combinations(outsides):
    return list(product(NULLS, outsides))


# -- every rule ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("null", "outside"), combinations(OUTSIDES[:3]))
@pytest.mark.parametrize(
    ("values", "inside", "others"),
    [
        (("a", "b", "c"), {"a": 0, "b": 1, "c": 2, np.str_("b"): 1}, [1, 0, True, 0.5, "A", "a "]),
        ((7, 3, -1), {7: 0, 3.0: 1, np.int64(-1): 2, Decimal(3): 1}, ["7", 2, 3.5, math.inf]),
        ((True, False), {1: 0, 0.0: 1}, ["True", 2, -1]),
        ((True, False), {True: 0, np.bool_(False): 1}, ["True", 2, -1]),
    ],
)
def test_codes_of_a_categorical(values, inside, others, null, outside):
    attribute = Categorical(
        *values, null=rule(null, values[1]), outside=rule(outside, values[2 % len(values)])
    )
    outcome = {"drop": None, "bucket": len(values)}
    for raw, code in inside.items():
        assert attribute.code(raw) == code
    for raw in MISSING:
        assert attribute.code(raw) == outcome.get(null, 1)
    for raw in [*others, b"1", [], {}, object()]:
        assert attribute.code(raw) == outcome.get(outside, 2 % len(values))


@pytest.mark.parametrize(("null", "outside"), combinations(OUTSIDES[:3]))
def test_codes_of_a_boolean(null, outside):
    attribute = Boolean(null=rule(null, True), outside=rule(outside, 0))
    outcome = {"drop": None, "bucket": 2}
    false: list[Any] = [False, 0, 0.0, -0.0, np.bool_(False), np.int8(0), Decimal(0)]
    true: list[Any] = [True, 1, 1.0, np.bool_(True), Decimal("1.0")]
    assert [attribute.code(raw) for raw in false] == [0] * len(false)
    assert [attribute.code(raw) for raw in true] == [1] * len(true)
    for raw in MISSING:
        assert attribute.code(raw) == outcome.get(null, 1)
    for raw in [2, -1, 0.5, math.inf, "true", *STRANGE]:
        assert attribute.code(raw) == outcome.get(outside, 0)


@pytest.mark.parametrize(("null", "outside"), combinations(OUTSIDES))
@pytest.mark.parametrize(("low", "high"), [(3, 8), (-4, -4), (0, 5)])
def test_codes_of_an_integer(low, high, null, outside):
    attribute = Integer(low, high, null=rule(null, high), outside=rule(outside, low))
    size = high - low + 1
    outcome = {"drop": None, "bucket": size}
    missing = outcome.get(null, size - 1)
    for code in range(size):
        for raw in (
            low + code,
            float(low + code),
            low + code + 0.75,
            Fraction(4 * (low + code) + 1, 4),
        ):
            assert attribute.code(raw) == code
        assert attribute.code(np.int16(low + code)) == code
        assert attribute.code(Decimal(low + code)) == code
    for raw in MISSING:
        assert attribute.code(raw) == missing
    for raw in (
        low - 1,
        low - 0.25,
        -math.inf,
        -(10**400),
        Decimal("-Infinity"),
        np.float32(-1e30),
    ):
        assert attribute.code(raw) == {**outcome, "clamp": 0}.get(outside, 0)
    for raw in (high + 1, high + 1.0, math.inf, 10**400, Decimal("Infinity"), 1e308):
        assert attribute.code(raw) == {**outcome, "clamp": size - 1}.get(outside, 0)
    for raw in STRANGE:  # neither below nor above: clamping has nowhere to go but the NULL rule
        assert attribute.code(raw) == {**outcome, "clamp": missing}.get(outside, 0)


@pytest.mark.parametrize(("null", "outside"), combinations(OUTSIDES))
@pytest.mark.parametrize("edges", [(0, 10, 20, 50), (-1.5, -0.25), (0.1, 0.2, 0.30000000000000004)])
def test_codes_of_bins(edges, null, outside):
    middle = (edges[0] + edges[1]) / 2
    attribute = Binned(edges, null=rule(null, edges[-1]), outside=rule(outside, middle))
    size = len(edges) - 1
    outcome = {"drop": None, "bucket": size}
    missing = outcome.get(null, size - 1)
    for code, (first, last) in enumerate(pairwise(edges)):
        for raw in (first, (first + last) / 2, math.nextafter(last, -math.inf), np.float64(first)):
            assert attribute.code(raw) == code
    assert attribute.code(edges[-1]) == size - 1  # the last bin is closed
    for raw in MISSING:
        assert attribute.code(raw) == missing
    for raw in (math.nextafter(edges[0], -math.inf), -math.inf, -(10**400)):
        assert attribute.code(raw) == {**outcome, "clamp": 0}.get(outside, 0)
    for raw in (math.nextafter(edges[-1], math.inf), math.inf, 10**400):
        assert attribute.code(raw) == {**outcome, "clamp": size - 1}.get(outside, 0)
    for raw in STRANGE:
        assert attribute.code(raw) == {**outcome, "clamp": missing}.get(outside, 0)


# -- shape ---------------------------------------------------------------------------------------


def every_attribute():
    for null, outside in combinations(OUTSIDES[:3]):
        yield Categorical("a", "b", null=rule(null, "a"), outside=rule(outside, "b"))
        yield Boolean(null=rule(null, True), outside=rule(outside, False))
    for null, outside in combinations(OUTSIDES):
        yield Integer(-1, 2, null=rule(null, 0), outside=rule(outside, 1))
        yield Binned([0, 1, 5.5], null=rule(null, 0), outside=rule(outside, 1))


@pytest.mark.parametrize("attribute", list(every_attribute()), ids=repr)
def test_size_labels_bucket_and_drops_follow_from_the_rules(attribute):
    rules = (attribute.null, attribute.outside)
    assert attribute.has_bucket == ("bucket" in rules)
    assert attribute.drops == ("drop" in rules)
    assert attribute.size == len(attribute.labels) == len(attribute.declared) + ("bucket" in rules)
    assert attribute.labels[: len(attribute.declared)] == attribute.declared
    assert (attribute.labels[-1] is None) == attribute.has_bucket
    for code, label in enumerate(attribute.declared):
        raw = label[0] if isinstance(label, tuple) else label
        assert attribute.code(raw) == attribute.declared_code(raw) == code
    texts = [attribute.label_text(code) for code in range(attribute.size)]
    assert len(set(texts)) == attribute.size
    assert (texts[-1] == "missing") == attribute.has_bucket
    twin = type(attribute)(*_arguments(attribute), null=rules[0], outside=rules[1])
    assert attribute == twin
    assert hash(attribute) == hash(twin)


def _arguments(attribute):
    if isinstance(attribute, Categorical):
        return attribute.values
    if isinstance(attribute, Integer):
        return attribute.low, attribute.high
    return (attribute.edges,) if isinstance(attribute, Binned) else ()


def test_defaults_drop_missing_values_and_clamp_numbers():
    assert (Categorical("a").null, Categorical("a").outside) == ("drop", "drop")
    assert (Boolean().null, Boolean().outside) == ("drop", "drop")
    assert (Integer(0, 1).null, Integer(0, 1).outside) == ("drop", "clamp")
    assert (Binned([0, 1]).null, Binned([0, 1]).outside) == ("drop", "clamp")


@pytest.mark.parametrize(
    ("attribute", "numbers"),
    [
        (Boolean(), (0, 1)),
        (Boolean(null="bucket"), (0, 1, 0)),
        (Integer(-1, 2), (-1, 0, 1, 2)),
        (Integer(5, 6, outside="bucket"), (5, 6, 0)),
        (Binned([0, 1, 4]), (Fraction(1, 2), Fraction(5, 2))),
        (Binned([0.1, 0.2], null="bucket"), ((Fraction(0.1) + Fraction(0.2)) / 2, 0)),
    ],
)
def test_numbers_are_what_sums_add_up(attribute, numbers):
    assert attribute.numbers() == numbers
    assert all(type(n) is Fraction for n in attribute.numbers())


def test_categories_have_no_numbers():
    with pytest.raises(DomainError, match="declare it as Integer, Numeric, Binned or Boolean"):
        Categorical(1, 2).numbers()


def test_values_written_by_people_follow_no_rule():
    assert Integer(0, 9).declared_code(3.0) == 3
    assert Integer(0, 9).declared_code(np.int64(3)) == 3
    for value in (3.5, True, 10, -1, "3", None, math.nan, math.inf):
        assert Integer(0, 9).declared_code(value) is None
    assert Categorical(1, 0).declared_code(True) is None
    assert Categorical(True, False).declared_code(True) == 0
    assert Categorical(True, False).declared_code(1) is None
    assert Boolean().declared_code(1) == 1
    assert Binned([0, 1, 2]).declared_code(2) == 1
    assert Binned([0, 1, 2]).declared_code(True) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (10, "10"),
        (10.0, "10"),
        (0.5, "0.5"),
        (-3.25, "-3.25"),
        (1_000_001, "1000001"),
        (1000001.0, "1000001"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e300, "1e+300"),
        (-0.0, "0"),
    ],
)
def test_numbers_read_shortly_and_never_alike(number, text):
    assert number_text(number) == text
    assert float(text) == number


def test_bins_read_as_half_open_ranges_and_the_last_as_closed():
    bins = Binned([0, 0.5, 1_000_000, 1_000_001], null="bucket")
    texts = [bins.label_text(code) for code in range(bins.size)]
    assert texts == ["[0, 0.5)", "[0.5, 1000000)", "[1000000, 1000001]", "missing"]


def test_numpy_and_subclassed_values_become_plain():
    texts = loose.Categorical(np.str_("a"), "b")
    assert [type(v) for v in texts.values] == [str, str]
    assert [type(v) for v in loose.Categorical([np.int64(4), 5]).values] == [int, int]
    assert loose.Integer(np.int64(0), np.int32(9)) == loose.Integer(0, 9)
    assert [type(e) for e in loose.Binned(np.arange(3)).edges] == [int, int, int]
    assert [type(e) for e in loose.Binned(np.linspace(0, 1, 3)).edges] == [float, float, float]
    assert type(loose.Replace(np.float64(1.5)).value) is float


def test_a_list_of_values_may_be_given_as_one_argument():
    assert (
        loose.Categorical(["a", "b"])
        == loose.Categorical(("a", "b"))
        == loose.Categorical("a", "b")
    )


# -- bad declarations ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "advice"),
    [
        (loose.Categorical, "at least one value, e.g."),
        (lambda: loose.Categorical([]), "at least one value"),
        (lambda: loose.Categorical("a", 1), "all texts, all whole numbers"),
        (lambda: loose.Categorical("NO", False), "put quotes around"),
        (lambda: loose.Categorical(True, 1), "all True and False"),
        (lambda: loose.Categorical(1.5, 2.5), "all whole numbers"),
        (lambda: loose.Categorical(None), "all texts"),
        (lambda: loose.Categorical(["a"], ["b"]), "all texts"),
        (lambda: loose.Categorical("a", "b", "a"), "list each once"),
        (lambda: loose.Categorical("a\ud800"), "remove lone surrogates"),
        (lambda: loose.Categorical("a", outside="clamp"), "drop, bucket, never or eke.Replace"),
        (lambda: loose.Categorical("a", null="clamp"), "'drop', 'bucket', 'never' or eke.Replace"),
        (lambda: loose.Categorical("a", null=None), "'drop', 'bucket', 'never' or eke.Replace"),
        (lambda: loose.Categorical("a", null="a"), "eke.Replace"),
        (
            lambda: loose.Categorical("a", null=loose.Replace("b")),
            "declare it or replace by another",
        ),
        (lambda: loose.Categorical(1, null=loose.Replace(True)), "declare it"),
        (lambda: loose.Boolean(outside="clamp"), "drop, bucket, never or eke.Replace"),
        (lambda: loose.Boolean(null=loose.Replace(2)), "declare it"),
        (lambda: loose.Integer(5, 4), "swap them"),
        (lambda: loose.Integer(0.5, 4), "use Numeric for fractions"),
        (lambda: loose.Integer("0", 4), "whole numbers"),
        (lambda: loose.Integer(False, 4), "whole numbers"),
        (lambda: loose.Integer(None, 4), "whole numbers"),
        (lambda: loose.Integer(0, 2**40), "use Numeric with a longer step"),
        (lambda: loose.Integer(2**53 - 5, 2**53), "below 2\\*\\*53"),
        (lambda: loose.Integer(0, 9, null="clamp"), "'drop', 'bucket', 'never' or eke.Replace"),
        (lambda: loose.Integer(0, 9, outside="wrap"), "drop, bucket, clamp, never or eke.Replace"),
        (lambda: loose.Integer(0, 9, null=loose.Replace(10)), "declare it"),
        (lambda: loose.Integer(0, 9, null=loose.Replace(1.5)), "declare it"),
        (lambda: loose.Integer(0, 9, null=loose.Replace(math.nan)), "declare it"),
        (lambda: loose.Binned([]), "at least two edges, e.g."),
        (lambda: loose.Binned([1]), "at least two edges"),
        (lambda: loose.Binned(5), "a list of edges"),
        (lambda: loose.Binned("0123"), "a list of edges"),
        (lambda: loose.Binned([0, 1, 1]), "sort them and list each once"),
        (lambda: loose.Binned([1, 0]), "sort them"),
        (lambda: loose.Binned([0, math.inf]), "follow `outside`"),
        (lambda: loose.Binned([math.nan, 1]), "follow `outside`"),
        (lambda: loose.Binned([0, "1"]), "must be numbers, not str"),
        (lambda: loose.Binned([False, True]), "must be numbers, not bool"),
        (lambda: loose.Binned([0, None]), "must be numbers, not NoneType"),
        (lambda: loose.Binned([0, 10**400]), "write larger ones as 1e20"),
        (lambda: loose.Binned([0, 1], null=loose.Replace(1.5)), "declare it"),
        (lambda: loose.Replace(None), "a text or a number"),
        (lambda: loose.Replace([1]), "a text or a number"),
    ],
)
def test_bad_declarations_raise_with_advice(build, advice):
    with pytest.raises(DomainError, match=advice):
        build()


def test_attributes_are_frozen():
    attributes: list[Any] = [Categorical("a"), Boolean(), Integer(0, 1), Binned([0, 1])]
    for attribute in attributes:
        with pytest.raises(AttributeError):
            attribute.null = "bucket"


def test_storable_texts():
    assert is_storable("naïve ☃ \U0001f600 \x00")
    assert not is_storable("\udfff")
