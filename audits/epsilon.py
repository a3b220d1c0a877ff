"""What revealed answers, released blocks and row scores really cost, at four losses each."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from audits.claim import EPSILONS, Claim, Integers, Sampler, Sides, judge, no_inference
from audits.place import memory_folder
from audits.row import Row, Scale
from eke.domain import Domain, Integer
from eke.mechanism import Secret, reveal_with_noise
from eke.planning import Part
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Kronecker
from tests.privacy.sampled_release import block_plan, release, release_table
from tests.privacy.sampled_rows import RowSampler

ANSWER = 1234


# -- reveal_with_noise ---------------------------------------------------------------------------


def revealed(law: DiscreteLaw, answer: int, count: int) -> Integers:
    """One answer, revealed again and again."""
    return np.array(reveal_with_noise(Secret([answer] * count, 0), law), np.int64)


def laplace_revealed(scale: Scale) -> tuple[Row, ...]:
    """One answer under scale 10: a record of coefficient 1, 5, 10 or 20 moves it."""
    law = DiscreteLaplace(10, 0)

    def prepare(count: int) -> Sampler:
        without = revealed(law, ANSWER, count)

        def sides(epsilon: float) -> Sides:
            moved = round(10 * epsilon)
            require_price(law.loss_nano(moved), epsilon)
            return without, revealed(law, ANSWER + moved, count)

        return sides

    return judge(Claim("discrete Laplace noise, revealed", EPSILONS, prepare), scale)


def gaussian_revealed(scale: Scale) -> tuple[Row, ...]:
    """One answer under σ = 1,000, moved by the whole numbers nearest to ρ = 0.1, 0.5, 1 and 2."""
    law = DiscreteGaussian(1000, 0)
    moves = {law.loss_nano(c) / NANO: c for c in (round(1000 * math.sqrt(2 * e)) for e in EPSILONS)}

    def prepare(count: int) -> Sampler:
        without = revealed(law, ANSWER, count)
        return lambda rho: (without, revealed(law, ANSWER + moves[rho], count))

    title, losses = "discrete Gaussian noise (zCDP), revealed", tuple(moves)
    return judge(Claim(title, losses, prepare, "ρ", tiny_losses=losses[-2:]), scale)


# -- the release function ------------------------------------------------------------------------


def laplace_released(scale: Scale) -> tuple[Row, ...]:
    """A marginal of a million cells by `Vault.release`: sums of weights, one record in a cell."""
    with memory_folder() as folder, no_inference():

        def prepare(count: int) -> Sampler:
            part = block_plan(count, 10.0, PURE)
            nobody = release(folder, part, PURE, None)

            def sides(epsilon: float) -> Sides:
                weight = round(10 * epsilon)
                require_price(part.law.loss_nano(weight), epsilon)
                return nobody, release(folder, part, PURE, weight)

            return sides

        title = "marginal blocks through the release function"
        return judge(Claim(title, EPSILONS, prepare), scale)


def gaussian_released(scale: Scale) -> tuple[Row, ...]:
    """The same under zCDP with σ = 10: a record of weight w loses ρ = w²/200."""
    weights = {w * w / 200: w for w in (4, 10, 14, 20)}
    with memory_folder() as folder, no_inference():

        def prepare(count: int) -> Sampler:
            part = block_plan(count, 10.0, CONCENTRATED)
            nobody = release(folder, part, CONCENTRATED, None)

            def sides(rho: float) -> Sides:
                require_price(part.law.loss_nano(weights[rho]), rho)
                return nobody, release(folder, part, CONCENTRATED, weights[rho])

            return sides

        title, losses = "marginal blocks under zCDP through the release function", tuple(weights)
        return judge(Claim(title, losses, prepare, "ρ", tiny_losses=losses[-2:]), scale)


# -- blocks of products --------------------------------------------------------------------------

#: A record of kind k moves both answers of its place by these; for every other kind one goes down.
MOVES = (1, 5, 10, 20)


def kronecker_released(scale: Scale) -> tuple[Row, ...]:
    """Two answers for each of a million places, by `Vault.release` with noise of scale 20.

    The control has half the noise: what one would draw for a block whose two answers were not added
    up for a record.
    """
    with memory_folder() as folder, no_inference():

        def prepare(count: int) -> Sampler:
            edge = round(count ** (1 / 3))
            part = product_plan(edge)
            nobody = release_table(folder, part, PURE, places(edge, None))

            def sides(epsilon: float) -> Sides:
                kind = EPSILONS.index(epsilon)
                everybody = release_table(folder, part, PURE, places(edge, kind))
                return agreement(nobody, kind), agreement(everybody, kind)

            return sides

        claim = Claim(
            "Kronecker blocks through the release function",
            EPSILONS,
            prepare,
            share=0.5,
            control_samples=1_000_000,
            tiny_samples=8_000,
        )
        return judge(claim, scale)


def product_plan(edge: int) -> Part:
    """The block, and noise under which the dearest record loses ε = 2, by the accountant."""
    sizes = {name: Integer(0, edge - 1) for name in "xyz"}
    domain = Domain({**sizes, "kind": Integer(0, len(MOVES) - 1)})
    signs = np.array([[1] * 4, [1, -1, 1, -1]])
    every = np.eye(edge, dtype=np.int64)
    block = Kronecker(domain, domain.names, (every, every, every, signs * np.array(MOVES)))
    part = Part(block, DiscreteLaplace(20, 0))
    price = Accountant(domain, PURE, "add_remove").price(part.query, part.law)
    require_price(price, max(EPSILONS))
    return part


def places(edge: int, kind: int | None) -> pd.DataFrame:
    """One record of a kind at every place; None for nobody at all."""
    number = np.arange(edge**3 if kind is not None else 0)
    codes = {"x": number // edge**2, "y": number // edge % edge, "z": number % edge}
    return pd.DataFrame({**codes, "kind": np.full(len(number), kind or 0)})


def agreement(answers: Integers, kind: int) -> Integers:
    """How clearly both answers of a place speak for the record (above 0) or against it (below)."""
    first, second = answers.reshape(-1, 2).T
    return agreeing(
        2 * first - MOVES[kind], 2 * (second if kind % 2 == 0 else -second) - MOVES[kind]
    )


def agreeing(one: Integers, other: Integers) -> Integers:
    """The smaller of two numbers where they have the same sign, else 0.

    Where two answers agree, the event is as likely as its two halves together, and tells the whole
    loss.
    """
    least = np.minimum(np.abs(one), np.abs(other))
    return np.where(np.sign(one) == np.sign(other), np.sign(one) * least, 0)


# -- row scores ----------------------------------------------------------------------------------


def row_scores(scale: Scale) -> tuple[Row, ...]:
    """Noisy scores of rows as PCA publishes them: each row is a release of its own record.

    The noise is that which ε = 2 buys for the farthest two records; nearer ones lose less.
    """
    noisy = RowSampler(round(max(EPSILONS) * NANO)).scores

    def prepare(count: int) -> Sampler:
        lowest = noisy(0, count)
        return lambda epsilon: (lowest, noisy(round(10 * epsilon), count))

    return judge(Claim("row scores of PCA", EPSILONS, prepare), scale)


def require_price(nano: int, loss: float) -> None:
    """Nothing, or an error when the sampled mechanism is not the one that is claimed."""
    if nano != round(loss * NANO):
        raise AssertionError(f"a loss of {loss:g} is audited and {nano} nano-units are charged")
