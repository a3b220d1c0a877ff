"""DiffGen (Mohammed, Chen, Fung, Yu 2011), the baseline of COMP §4.4, written from its paper.

All values start fully generalised. In each of h rounds the exponential mechanism picks a value to
specialise, everywhere; numbers are split at a point that it picks as well. Half of ε goes to these
choices, the other half to Laplace noise on the counts of all leaves, empty ones included.

Under `replace_one` a record moves from one leaf to another, so the counts need twice the noise. The
choices do not: one record, added, removed or replaced, changes neither utility by more than 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.publish.features import Features
from eke.query import Neighbours

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Utility: TypeAlias = Literal["InfoGain", "Max"]
Tree: TypeAlias = "tuple[Tree, ...] | str"

ROUNDS = 10
MOST_LEAVES = 2_000_000
MOST_ROWS = 300_000

TAXONOMIES: dict[str, Tree] = {
    "workclass": (
        (
            ("Self-emp-not-inc", "Self-emp-inc"),
            ("Federal-gov", "Local-gov", "State-gov"),
            "Private",
        ),
        ("Without-pay", "Never-worked"),
    ),
    "marital_status": (
        ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"),
        (("Divorced", "Separated", "Widowed"), "Never-married"),
    ),
    "relationship": (
        ("Wife", "Husband", "Own-child", "Other-relative"),
        ("Not-in-family", "Unmarried"),
    ),
}


@dataclass(slots=True, eq=False)
class Value:
    """A generalised value: the codes it stands for, and what it may become."""

    place: int
    codes: Codes
    children: list[Value] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Generalised:
    """A DiffGen release: noisy counts of all leaves, and the leaf value of each code.

    leaf_of[place][code] is the index of the value that a code belongs to; features[place][value]
    are the features of a record of which only that value is known: means over its codes.
    """

    counts: Floats  # (values of attribute 0, ..., values of attribute q-1, classes)
    leaf_of: tuple[Codes, ...]
    members: tuple[list[Codes], ...]

    def rows(self, most: int = MOST_ROWS) -> tuple[Codes, Codes]:
        """Released rows as value indices, (rows, attributes), and their classes.

        Noise on the counts of empty leaves makes rows of them, hundreds for each record where
        there are many leaves. Of more than `most`, so many are taken at equal distances.
        """
        ends = np.cumsum(np.maximum(np.rint(self.counts), 0.0).astype(np.int64).ravel())
        total = int(ends[-1])
        kept = min(total, most)
        taken = np.arange(kept) * total // max(kept, 1)
        cells = np.searchsorted(ends, taken, side="right")
        indices = np.stack(np.unravel_index(cells, self.counts.shape), axis=1)
        return indices[:, :-1], indices[:, -1]

    def encode(self, features: Features, values: Codes) -> Floats:
        """The features of rows of values: a set of categories shares the one, a range its mean."""
        parts = []
        for place, feature in enumerate(features.all):
            table = feature.table / feature.table.max()
            means = np.array([table[codes].mean(axis=0) for codes in self.members[place]])
            parts.append(means[values[:, place]])
        return np.concatenate(parts, axis=1)

    def generalise(self, codes: Codes) -> Codes:
        """The value indices of real records."""
        return np.stack([leaf[codes[:, i]] for i, leaf in enumerate(self.leaf_of)], axis=1)


def diffgen(
    features: Features,
    codes: Codes,
    classes: Codes,
    epsilon: float,
    *,
    utility: Utility,
    neighbours: Neighbours,
    rng: np.random.Generator,
) -> Generalised:
    """One release of the records' attributes and classes."""
    numeric = sum(feature.numeric for feature in features.all)
    share = epsilon / (2.0 * (numeric + 2 * ROUNDS))
    histograms = _class_histograms(features, codes, classes)
    cut = [_root(features, place) for place in range(len(features.all))]
    for value in cut:
        _split_number(value, features, histograms, share=share, utility=utility, rng=rng)
    for _ in range(ROUNDS):
        sizes = np.bincount([value.place for value in cut], minlength=len(features.all))
        open_values = [
            v
            for v in cut
            if v.children
            and np.prod(sizes.astype(float))
            / sizes[v.place]
            * (sizes[v.place] + len(v.children) - 1)
            < MOST_LEAVES
        ]
        if not open_values:
            break
        worth = np.array([_worth(v.children, histograms, utility) for v in open_values])
        chosen = open_values[_exponential(worth, share, rng)]
        cut.remove(chosen)
        cut += chosen.children
        for child in chosen.children:
            _split_number(child, features, histograms, share=share, utility=utility, rng=rng)
    change = 2.0 if neighbours == "replace_one" else 1.0
    return _release(features, codes, classes, cut, noise_scale=2.0 * change / epsilon, rng=rng)


def _class_histograms(features: Features, codes: Codes, classes: Codes) -> list[Floats]:
    labels = int(classes.max()) + 1
    return [
        np.bincount(codes[:, place] * labels + classes, minlength=len(feature.table) * labels)
        .reshape(-1, labels)
        .astype(float)
        for place, feature in enumerate(features.all)
    ]


def _root(features: Features, place: int) -> Value:
    feature = features.all[place]
    everything = np.arange(len(feature.table))
    if feature.numeric:
        return Value(place, everything)
    labels = [str(label) for label in features.domain[feature.name].labels]
    tree = TAXONOMIES.get(feature.name, ())
    if sorted(_leaves(tree)) != sorted(labels):  # a column of another table by the same name
        tree = tuple(labels)
    return _from_tree(place, tree, labels)


def _leaves(tree: Tree) -> list[str]:
    return [tree] if isinstance(tree, str) else [leaf for part in tree for leaf in _leaves(part)]


def _from_tree(place: int, tree: Tree, labels: list[str]) -> Value:
    if isinstance(tree, str):
        return Value(place, np.array([labels.index(tree)]))
    children = [_from_tree(place, child, labels) for child in tree]
    return Value(place, np.concatenate([child.codes for child in children]), children)


def _split_number(
    value: Value,
    features: Features,
    histograms: list[Floats],
    *,
    share: float,
    utility: Utility,
    rng: np.random.Generator,
) -> None:
    """Two children of a range of numbers, the split point picked by the exponential mechanism."""
    if not features.all[value.place].numeric or len(value.codes) < 2:
        return
    own = histograms[value.place][value.codes]
    below = np.cumsum(own, axis=0)[:-1]
    above = own.sum(axis=0) - below
    worth = _utility(np.stack([below, above]), utility)
    at = _exponential(worth, share, rng) + 1
    value.children = [Value(value.place, part) for part in (value.codes[:at], value.codes[at:])]


def _worth(children: list[Value], histograms: list[Floats], utility: Utility) -> float:
    counts = np.array([histograms[c.place][c.codes].sum(axis=0) for c in children])
    return float(_utility(counts[:, np.newaxis, :], utility)[0])


def _utility(counts: Floats, utility: Utility) -> Floats:
    """The utility of specialisations; counts: (children, choices, classes)."""
    if utility == "Max":
        return np.asarray(counts.max(axis=2).sum(axis=0))
    totals = counts.sum(axis=2)
    weights = totals / np.maximum(totals.sum(axis=0), 1.0)
    gain = _entropy(counts.sum(axis=0)) - (weights * _entropy(counts)).sum(axis=0)
    return np.asarray(gain / np.log2(counts.shape[2]))  # between 0 and 1


def _entropy(counts: Floats) -> Floats:
    shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
    return np.asarray(-(shares * np.log2(np.where(shares > 0.0, shares, 1.0))).sum(axis=-1))


def _exponential(worth: Floats, share: float, rng: np.random.Generator) -> int:
    """A choice with probability ∝ exp(share · worth / 2); both utilities have sensitivity 1."""
    chances = np.exp(0.5 * share * (worth - worth.max()))
    return int(rng.choice(len(worth), p=chances / chances.sum()))


def _release(
    features: Features,
    codes: Codes,
    classes: Codes,
    cut: list[Value],
    *,
    noise_scale: float,
    rng: np.random.Generator,
) -> Generalised:
    leaf_of, members = [], []
    for place, feature in enumerate(features.all):
        own = [value.codes for value in cut if value.place == place]
        leaf = np.empty(len(feature.table), np.int64)
        for index, part in enumerate(own):
            leaf[part] = index
        leaf_of.append(leaf)
        members.append(own)
    labels = int(classes.max()) + 1
    shape = (*(len(own) for own in members), labels)
    values = [leaf[codes[:, i]] for i, leaf in enumerate(leaf_of)]
    cells = np.ravel_multi_index((*values, classes), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape))).astype(float)
    noisy = counts + rng.laplace(0.0, noise_scale, counts.shape)
    return Generalised(noisy.reshape(shape), tuple(leaf_of), tuple(members))
