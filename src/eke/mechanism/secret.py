"""Exact answers that cannot be looked at, and the ways out of them: with noise, or as a choice.

A `Secret` refuses to be printed, formatted, logged, copied, stored, compared, iterated over,
converted or computed with. That guards against accidents (a log line, an f-string, an error
report with local variables), not against an attacker who runs code in the same process.
"""

from __future__ import annotations

import operator
import secrets
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import compress, repeat
from typing import Any, Final, NoReturn

import numpy as np

from eke.errors import PrivacyError, SecretLeak
from eke.mechanism.choice import choose_place
from eke.mechanism.noise import draw
from eke.mechanism.refining import FinerNoise
from eke.mechanism.table_refining import FinerTable
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw, Refinement

_ADVICE: Final = (
    "an exact answer cannot be read, printed, copied, stored or computed with; "
    "release it with eke.mechanism.reveal_with_noise"
)


class Secret:
    """Exact integer answers in units of 2^exponent; how many and which unit are public."""

    __slots__ = ("_exact", "count", "exponent")
    count: int
    exponent: int

    def __init__(self, answers: Iterable[int], exponent: int) -> None:
        if type(exponent) is not int:
            raise PrivacyError("the unit of exact answers is 2^exponent with an int exponent")
        exact = _integers(answers)
        if exact is None:
            raise PrivacyError("exact answers must be integers, in units of 2^exponent")
        _EXACT.__set__(self, exact)
        object.__setattr__(self, "count", len(exact))
        object.__setattr__(self, "exponent", exponent)

    def __init_subclass__(cls) -> NoReturn:
        raise SecretLeak("Secret cannot be subclassed: a subclass could undo its refusals")


# The stored numbers are reachable through this descriptor only: with its name gone from the class,
# neither attribute access nor vars(), pickle's or a debugger's walk over __slots__ finds them.
_EXACT: Final = Secret.__dict__["_exact"]
type.__delattr__(Secret, "_exact")

_REFUSED: Final = (
    # text
    *("__repr__", "__str__", "__format__", "__bytes__", "__fspath__"),
    # storing and copying
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__copy__", "__deepcopy__"),
    # identity in collections, truth, order
    *("__hash__", "__bool__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
    # containers
    *("__iter__", "__next__", "__reversed__", "__len__", "__length_hint__", "__contains__"),
    *("__getitem__", "__setitem__", "__delitem__", "__setattr__", "__delattr__"),
    # numbers
    *("__int__", "__index__", "__float__", "__complex__", "__round__", "__trunc__"),
    *("__floor__", "__ceil__", "__neg__", "__pos__", "__abs__", "__invert__"),
    # arrays and buffers
    *("__array__", "__array_ufunc__", "__array_function__", "__buffer__", "__dlpack__"),
    *("__arrow_c_array__", "__arrow_c_stream__", "__dataframe__"),
    # arithmetic, from either side and in place
    *(
        f"__{side}{name}__"
        for name in (
            *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
            *("lshift", "rshift", "and", "xor", "or"),
        )
        for side in ("", "r", "i")
        if (side, name) != ("i", "divmod")
    ),
)


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*_arguments: Any, **_options: Any) -> NoReturn:
        raise SecretLeak(_ADVICE)

    refuse.__name__ = name
    refuse.__qualname__ = f"Secret.{name}"
    return refuse


for _name in _REFUSED:
    setattr(Secret, _name, _refusal(_name))


def _integers(answers: Iterable[int]) -> tuple[int, ...] | None:
    """The answers as Python integers; None, rather than an error that drags them along, if not."""
    try:
        return tuple(operator.index(answer) for answer in answers)
    except TypeError:
        return None


def reveal_with_noise(secret: Secret, law: DiscreteLaw) -> list[int]:
    """The answers plus one independent draw of the law each, as integers of 2^law.exponent.

    Privacy: this, `refine_with_noise` and the two choices are all that reads a `Secret`. A record
    that moves answer i by h_i loses the sum over i of |h_i| / laplace_scale (zCDP: h_i² / 2σ²); see
    docs/proofs/noise.md. Noise is drawn before the secret is opened: an error cannot meet exact
    numbers in a local variable, and the time of drawing, the longest part, cannot depend on them.
    The time of the last additions grows with the size of the noisy numbers; that is not hidden.
    """
    if not isinstance(secret, Secret):
        raise PrivacyError("only a Secret is revealed with noise")
    if not isinstance(law, (DiscreteLaplace, DiscreteGaussian)):
        raise PrivacyError("only discrete laws are drawn; put the noise on a grid by choose_grid")
    finer = secret.exponent - law.exponent
    if finer < 0:
        raise PrivacyError(
            "the grid of the noise is coarser than that of the answers; make it by choose_grid"
        )
    noise = draw(law, secret.count).tolist()
    exact: tuple[int, ...] = _EXACT.__get__(secret)
    # No call of ours comes after the draw: it cannot be lost to an error before it is returned.
    return list(map(operator.add, map(operator.lshift, exact, repeat(finer)), noise))


def refine_with_noise(secret: Secret, before: Sequence[int], law: Refinement) -> list[int]:
    """The answers with the finer noise of a law, given those with its coarser noise before.

    Both are integers of 2^law.exponent.

    Privacy: a record that moves answer i by h_i loses the sum over i of |h_i| / b₂ by both releases
    together, b₂ being the finer scale, if `before` was drawn under the coarser law and is refined
    once; see docs/proofs/refinement.md. As above, all is drawn before the secret is opened,
    equally much for each answer whatever it is, but for an event of probability below 1e-29. Many
    answers are refined together, by the same law and as exactly.
    """
    if not isinstance(secret, Secret):
        raise PrivacyError("only a Secret is revealed with noise")
    if type(law) is not Refinement:
        raise PrivacyError("noise is refined by a Refinement, and nothing derived from it")
    finer = secret.exponent - law.exponent
    if finer < 0:
        raise PrivacyError(
            "the grid of the noise is coarser than that of the answers; make it by choose_grid"
        )
    if len(before) != secret.count or any(type(step) is not int for step in before):
        raise PrivacyError("refining needs the noisy answer before for each answer, in whole steps")
    if FinerTable.serves(law, secret.count):
        table = FinerTable(law)
        together = table.draw(secret.count)
        exact = tuple(map(operator.lshift, _EXACT.__get__(secret), repeat(finer)))
        noises = table.given(list(map(operator.sub, before, exact)), together)
        return list(map(operator.add, exact, noises))
    noise = FinerNoise(law)
    drawn = [noise.draw() for _ in before]
    exact = tuple(map(operator.lshift, _EXACT.__get__(secret), repeat(finer)))
    given = map(operator.sub, before, exact)
    return list(map(operator.add, exact, map(noise.given, given, drawn)))


TRIES_EACH = 64
"""Tries for each answer in one round of a choice; see `choose_with_noise`."""


def choose_with_noise(secret: Secret, law: DiscreteLaplace) -> int:
    """The place of one answer, drawn with chances ∝ exp(answer / laplace_scale), exactly.

    The exponential mechanism by rejection: offer a place at random, and take it if a draw K of the
    law is at least the answer's distance from the best. P(K ≥ d) = exp(-d / steps) / (1 + exp(-1 /
    steps)) for whole d ≥ 0, so that accepted places have just these chances.

    Privacy: if a neighbour moves no answer by more than Δ, the choice is 2Δ/b-DP and
    (Δ/b)²/2-zCDP; see docs/proofs/selection.md. All offers and draws of a round are made before the
    secret is opened, and all are looked at. A round has 64 tries for each answer and fails
    with probability below e^-32, whatever the answers; only then is there another.
    """
    return _chosen(secret, law, 1)[0]


def choose_several_with_noise(secret: Secret, law: DiscreteLaplace, picks: int) -> list[int]:
    """The places of several answers, each chosen by `choose_with_noise` from those that are left.

    Privacy: so many choices one after the other, and their losses add up.
    """
    return _chosen(secret, law, picks)


def _chosen(secret: Secret, law: DiscreteLaplace, picks: int) -> list[int]:
    if not isinstance(secret, Secret) or not 1 <= picks <= secret.count:
        raise PrivacyError("a choice needs a Secret with at least one answer for each pick")
    if not isinstance(law, DiscreteLaplace):
        raise PrivacyError("a choice is drawn with discrete Laplace noise")
    finer = secret.exponent - law.exponent
    if finer < 0:
        raise PrivacyError(
            "the grid of the noise is coarser than that of the answers; make it by choose_grid"
        )
    picked: list[int] = []
    left = list(range(secret.count))
    while len(picked) < picks:
        offers = _uniform(len(left), TRIES_EACH * len(left))
        noise = draw(law, len(offers)).tolist()
        exact = tuple(map(_EXACT.__get__(secret).__getitem__, left))
        behind = map(operator.sub, repeat(max(exact)), exact)
        missing = tuple(map(operator.lshift, behind, repeat(finer)))
        # As above, no call of ours comes after the draw.
        enough = map(operator.ge, noise, map(missing.__getitem__, offers))
        taken = list(compress(offers, enough))
        if taken:
            picked.append(left.pop(taken[0]))
    return picked


def _uniform(below: int, count: int) -> list[int]:
    """So many whole numbers from 0 on, each below the limit with the same chance.

    Privacy: 64 bits of the operating system's for each, and others for those in the last stretch,
    which is shorter than the limit.
    """
    numbers: list[int] = []
    even = 2**64 - 2**64 % below
    while len(numbers) < count:
        drawn = np.frombuffer(secrets.token_bytes(8 * (count - len(numbers))), np.uint64)
        numbers += (drawn[drawn <= np.uint64(even - 1)] % np.uint64(below)).tolist()
    return numbers


def choose_among_runs(secret: Secret, law: DiscreteLaplace) -> int:
    """The place of one of very many options, drawn with chances ∝ exp(-score / laplace_scale).

    The secret holds runs of options that have one score: how many and which, one run after the
    other. The place is counted through all of them.

    Privacy: if a neighbour moves no option's score by more than Δ, the choice is 2Δ/b-DP and
    (Δ/b)²/2-zCDP, wherever the runs begin and end; see docs/proofs/selection.md. The chances are
    exact. The time grows with the number of runs, which is why a release keeps a `Tempo`; `count`
    tells it as well, so that this secret must stay within the junction.
    """
    if not isinstance(secret, Secret) or secret.count < 2 or secret.count % 2:
        raise PrivacyError("a choice among runs needs a Secret with a number and a score for each")
    if type(law) is not DiscreteLaplace:
        raise PrivacyError("a choice is drawn with the scale of discrete Laplace noise")
    scale = law.steps * Fraction(2) ** (law.exponent - secret.exponent)
    exact: tuple[int, ...] = _EXACT.__get__(secret)
    if min(exact[::2]) < 1:
        raise PrivacyError("each run of a choice has at least one option")
    return choose_place(exact[::2], exact[1::2], scale)
