"""The tree drawn at the top of `eke.errors` is the tree of classes."""

import inspect
import pickle
import re

import pytest

from eke import errors

CLASSES = {
    name: one
    for name, one in vars(errors).items()
    if inspect.isclass(one) and one.__module__ == "eke.errors"
}


def drawn_parents() -> dict[str, str]:
    """Child to parent, read off the drawing: four columns a level."""
    parents, path = {}, ["EkeError"]
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([│ ]*)[├└]── (\w+)", line)
        if found:
            level = len(found[1]) // 4 + 1
            path = [*path[:level], found[2]]
            parents[found[2]] = path[level - 1]
    return parents


def test_the_drawing_shows_every_error_under_its_parent():
    parents = drawn_parents()
    assert set(parents) == set(CLASSES) - {"EkeError"}
    for child, parent in parents.items():
        assert CLASSES[parent] in CLASSES[child].__bases__


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_each_error_says_what_it_means_and_derives_from_the_root(name):
    assert issubclass(CLASSES[name], errors.EkeError)
    assert CLASSES[name].__doc__


@pytest.mark.parametrize("name", ["DomainError", "QueryError", "AccuracyError", "PrivacyError"])
def test_bad_arguments_are_value_errors_too(name):
    assert issubclass(CLASSES[name], ValueError)


def test_a_refusal_carries_what_is_available_even_through_pickle():
    refused = errors.Refused("too dear; ask for less accuracy", {"narrowest": 12.5})
    assert str(refused) == "too dear; ask for less accuracy"
    again = pickle.loads(pickle.dumps(refused))
    assert again.refusal == {"narrowest": 12.5}
    assert errors.Refused("no").refusal is None
