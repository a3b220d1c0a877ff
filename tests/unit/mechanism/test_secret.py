"""A secret refuses every way out but noise. The canary is looked for in all that is produced."""

import copy
import dataclasses
import io
import json
import logging
import marshal
import math
import operator
import pickle
import pprint
import reprlib
import sys
import traceback
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from eke.errors import PrivacyError, SecretLeak
from eke.mechanism import Secret, reveal_with_noise
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace

CANARY = 918273645
Way = Callable[[Any], object]
Ways = dict[str, Way]


@pytest.fixture
def secret() -> Secret:
    return Secret([CANARY, -CANARY], 0)


@dataclasses.dataclass
class Holder:
    answer: Secret


def with_right(combine: Callable[[Any, Any], object], other: object) -> Way:
    return lambda s: combine(s, other)


def with_left(combine: Callable[[Any, Any], object], other: object) -> Way:
    return lambda s: combine(other, s)


TEXT: Ways = {
    "repr": repr,
    "str": str,
    "ascii": ascii,
    "bytes": bytes,
    "f-string": lambda s: f"{s}",
    "f-string repr": lambda s: f"{s!r}",
    "f-string debug": lambda s: f"{s=}",
    "f-string spec": lambda s: f"{s:d}",
    "format": "{:>10}".format,
    "percent s": lambda s: "%s" % s,  # noqa: UP031
    "percent d": lambda s: "%d" % s,  # noqa: UP031
    "percent r": lambda s: "%r" % (s,),  # noqa: UP031
    "inside a list": lambda s: str([s]),
    "inside a dataclass": lambda s: repr(Holder(s)),
    "join": ",".join,
    "print": lambda s: print(s, file=io.StringIO()),
    "pprint": pprint.pformat,
}
STORE: Ways = {
    "json": json.dumps,
    "json value": lambda s: json.dumps({"answer": s}),
    "json default str": lambda s: json.dumps(s, default=str),
    "json default list": lambda s: json.dumps(s, default=list),
    "json default vars": lambda s: json.dumps(s, default=vars),
    "marshal": marshal.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a holder": lambda s: copy.deepcopy(Holder(s)),
    "asdict": lambda s: dataclasses.asdict(Holder(s)),
    "vars": vars,
    "getstate": lambda s: s.__getstate__(),
    **{
        f"pickle {p}": partial(pickle.dumps, protocol=p) for p in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "pickle of a holder": lambda s: pickle.dumps(Holder(s)),
    "set": lambda s: {s},
    "dict key": lambda s: {s: 1},
}
COMPARE: Ways = {
    "hash": hash,
    "bool": bool,
    "not": operator.not_,
    "if": lambda s: 1 if s else 2,
    **{
        f.__name__: with_right(f, 5)
        for f in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    },
    "reflected eq": lambda s: operator.eq(5, s),
    "eq of itself": lambda s: s == Secret([CANARY, -CANARY], 0),
    "max": lambda s: max(s, 0),
    "sorted": lambda s: sorted([s, s]),
    "list.index": [5].index,
}
LOOK_INSIDE: Ways = {
    "iter": iter,
    "list": list,
    "tuple": tuple,
    "unpack": lambda s: [*s],
    "sum": sum,
    "reversed": reversed,
    "len": len,
    "length_hint": operator.length_hint,
    "in": lambda s: 5 in s,
    "item": lambda s: s[0],
    "slice": lambda s: s[:],
    "next": next,
    "zip": lambda s: list(zip(s, [1, 2], strict=False)),
    "the slot": lambda s: s._exact,
    "object getattribute": lambda s: object.__getattribute__(s, "_exact"),
    "set item": lambda s: operator.setitem(s, 0, 0),
    "delete item": lambda s: operator.delitem(s, 0),
    "set attribute": lambda s: setattr(s, "count", 1),
    "delete attribute": lambda s: delattr(s, "count"),
}
NUMBERS: Ways = {
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "round": round,
    "trunc": math.trunc,
    "floor": math.floor,
    "ceil": math.ceil,
    "hex": hex,
    "range": range,
    "chr": chr,
    "fraction": Fraction,
    "decimal": Decimal,
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "invert": operator.invert,
    "index into a list": lambda s: [0, 1][s],
    "math": math.sqrt,
}
BINARY = (
    *(operator.add, operator.sub, operator.mul, operator.matmul, operator.truediv),
    *(operator.floordiv, operator.mod, divmod, pow, operator.lshift, operator.rshift),
    *(operator.and_, operator.xor, operator.or_, operator.iadd, operator.isub, operator.imul),
    *(operator.imatmul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow),
    *(operator.ilshift, operator.irshift, operator.iand, operator.ixor, operator.ior),
)
ARITHMETIC: Ways = {
    **{f"{f.__name__} left": with_right(f, 2) for f in BINARY},
    **{f"{f.__name__} right": with_left(f, 2) for f in BINARY},
    "with itself": lambda s: s - s,
    "with a fraction": lambda s: Fraction(1, 2) + s,
}
ARRAYS: Ways = {
    "asarray": np.asarray,
    "array": np.array,
    "array of list": lambda s: np.array([s]),
    "asarray int": lambda s: np.asarray(s, dtype=np.int64),
    "object array": lambda s: np.asarray(s, dtype=object),
    "fromiter": lambda s: np.fromiter(s, dtype=np.int64),
    "frombuffer": np.frombuffer,
    "memoryview": memoryview,
    "ufunc": np.negative,
    "binary ufunc": lambda s: np.add(s, 1),
    "array arithmetic": lambda s: np.arange(2) + s,
    "array times": lambda s: s * np.arange(2),
    "np.sum": np.sum,
    "np.concatenate": lambda s: np.concatenate([s, s]),
    "np.int64": np.int64,
    "np.savetxt": lambda s: np.savetxt(io.StringIO(), s),
    "from_dlpack": np.from_dlpack,
}
WAYS_OUT = {
    f"{group}: {name}": way
    for group, ways in {
        "text": TEXT,
        "store": STORE,
        "compare": COMPARE,
        "look inside": LOOK_INSIDE,
        "numbers": NUMBERS,
        "arithmetic": ARITHMETIC,
        "arrays": ARRAYS,
    }.items()
    for name, way in ways.items()
}


def told_by(problem: BaseException) -> str:
    """All that an error reporter sees: messages and local variables of the whole chain."""
    text, seen = "", [problem]
    for one in seen:
        seen += [other for other in (one.__cause__, one.__context__) if other is not None]
        text += reprlib.repr(one) + "".join(traceback.format_exception(one))
        for frame, _ in traceback.walk_tb(one.__traceback__):
            if frame.f_code.co_name.startswith("test_"):
                continue  # the test itself knows the canary
            # reprlib, like pytest and the reporters, survives a repr that raises.
            text += "".join(map(reprlib.Repr().repr, frame.f_locals.values()))
    return text


@pytest.mark.parametrize("name", WAYS_OUT)
def test_every_way_out_is_refused_without_a_trace_of_the_answer(secret, name):
    with pytest.raises((SecretLeak, TypeError, AttributeError, ValueError)) as refusal:
        WAYS_OUT[name](secret)
    assert str(CANARY) not in told_by(refusal.value)


@pytest.mark.parametrize(
    "name", ["text: repr", "store: pickle 5", "numbers: int", "arrays: asarray"]
)
def test_the_refusal_says_what_to_do(secret, name):
    with pytest.raises(SecretLeak, match="reveal_with_noise"):
        WAYS_OUT[name](secret)


@pytest.mark.parametrize(
    "name",
    [
        *("text: repr", "text: f-string", "text: inside a dataclass", "text: pprint"),
        *("store: json", "store: deepcopy", "store: asdict", "look inside: list"),
        *("look inside: unpack", "arithmetic: mul left", "arrays: asarray", "arrays: np.sum"),
    ],
)
def test_the_ways_out_give_an_unguarded_answer_away(name):
    """Positive control: the same calls do tell what a plain list holds."""
    assert str(CANARY) in str(WAYS_OUT[name]([CANARY]))


def test_logging_tells_nothing(secret, capsys):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = logging.getLogger("eke.tests.secret")
    logger.propagate = False
    logger.addHandler(handler)
    logger.warning("answer %s", secret)
    logger.warning("answer %d", secret)
    logger.warning("answer %r", [secret])
    logger.warning(secret)
    told = stream.getvalue() + "".join(capsys.readouterr())
    assert str(CANARY) not in told
    logger.warning("answer %s", CANARY)
    assert str(CANARY) in stream.getvalue()


def measure_and_fail(answer: object) -> None:
    try:
        raise ValueError(answer)  # noqa: TRY301 - the chain of two errors is the point
    except ValueError as problem:
        raise RuntimeError("while measuring", answer) from problem


def test_exceptions_that_carry_a_secret_tell_nothing(secret):
    with pytest.raises(RuntimeError) as failure:
        measure_and_fail(secret)
    assert str(CANARY) not in told_by(failure.value)
    with pytest.raises(RuntimeError) as careless:
        measure_and_fail(CANARY)
    assert str(CANARY) in told_by(careless.value)


def test_a_traceback_with_local_variables_tells_nothing(secret):
    """Python 3.11 gives up on such a traceback, later versions print a placeholder."""
    with pytest.raises(RuntimeError) as failure:
        measure_and_fail(secret)
    try:
        told = traceback.TracebackException.from_exception(failure.value, capture_locals=True)
        text = "".join(told.format())
    except SecretLeak as refusal:
        text = str(refusal)
    assert str(CANARY) not in text


def test_warnings_and_short_representations_tell_nothing(secret):
    assert str(CANARY) not in reprlib.repr(secret)
    with warnings.catch_warnings(record=True), pytest.raises(SecretLeak):
        warnings.warn(str(secret), stacklevel=1)


def test_nothing_of_the_answer_is_found_by_walking_the_attributes(secret):
    names = [name for name in dir(secret) if not name.startswith("__")]
    assert names == ["count", "exponent"]
    assert (secret.count, secret.exponent) == (2, 0)
    assert sys.getsizeof(secret) == sys.getsizeof(Secret([0, 0], 0))


def test_a_failure_to_wrap_tells_nothing():
    for answers in ([CANARY, 0.5], [str(CANARY)], [None], CANARY, np.array([CANARY + 0.5])):
        with pytest.raises(PrivacyError) as refusal:
            Secret(answers, 0)  # type: ignore[arg-type]
        assert str(CANARY) not in str(refusal.value)
        assert refusal.value.__context__ is None
        assert refusal.value.__cause__ is None
    with pytest.raises(PrivacyError):
        Secret([1], 0.5)  # type: ignore[arg-type]


def test_a_subclass_is_refused():
    with pytest.raises(SecretLeak):
        type("Open", (Secret,), {"__repr__": object.__repr__})


@pytest.mark.parametrize("family", [DiscreteLaplace, DiscreteGaussian])
def test_noise_is_added_to_the_answer_in_steps_of_the_law(family):
    """With one step to the scale the noise is below 100 steps, so the shift shows plainly."""
    for exponent, shift in ((0, 0), (-3, 3), (-40, 40)):
        noisy = reveal_with_noise(Secret([5, -5, 0], 0), family(1, exponent))
        assert all(type(value) is int for value in noisy)
        for value, exact in zip(noisy, (5, -5, 0), strict=True):
            assert abs(value - (exact << shift)) < 100
    assert abs(reveal_with_noise(Secret([3], 7), family(1, 5))[0] - 12) < 100


def test_answers_of_any_size_and_type_are_revealed():
    huge = 10**40
    law = DiscreteLaplace(1, -2)
    noisy = reveal_with_noise(Secret([huge, -huge], 0), law)
    assert [abs(abs(value) - 4 * huge) < 200 for value in noisy] == [True, True]
    assert abs(reveal_with_noise(Secret(np.array([2**62]), 0), law)[0] - 2**64) < 200
    assert reveal_with_noise(Secret([], 0), law) == []


def test_a_grid_coarser_than_the_answers_is_refused(secret):
    with pytest.raises(PrivacyError, match="choose_grid"):
        reveal_with_noise(secret, DiscreteLaplace(2**20, 1))


def test_only_a_secret_is_revealed():
    with pytest.raises(PrivacyError):
        reveal_with_noise([CANARY], DiscreteLaplace(2**20, 0))  # type: ignore[arg-type]
