"""Regular expressions: the same texts fit as with Python's own, and none of them is slow."""

import re
import time

import numpy as np
import pytest

from eke.sql.pattern import MOST_STATES, BadPattern, Pattern

PIECES = ("a", "b", "ab", ".", "[ab]", "[^a]", "\\d", "\\w", "(a|b)", "(?:ab|)", "^", "$", "1", "-")
TEXTS = ("", "a", "b", "ab", "ba", "aab", "abab", "b1", "a-b", "1", "Ab", "bbbaa")


def test_random_patterns_fit_the_same_texts_as_pythons_own():
    """2,000 patterns over twelve texts, as parts of a text and as the whole of it."""
    rng = np.random.default_rng(41)
    for _ in range(2_000):
        written = ""
        for _ in range(int(rng.integers(1, 5))):
            piece = PIECES[int(rng.integers(len(PIECES)))]
            sign = ("", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "|")[int(rng.integers(9))]
            written += piece + ("" if piece in "^$" and sign != "|" else sign)
        part = Pattern.read(written, whole=False)
        whole = Pattern.read(written, whole=True)
        for text in TEXTS:
            assert part.matches(text) == (re.search(written, text) is not None), (written, text)
            assert whole.matches(text) == (re.fullmatch(written, text) is not None), (written, text)


def test_either_case():
    pattern = Pattern.read("^[a-c]X", whole=False, any_case=True)
    assert [pattern.matches(t) for t in ("Bx", "bx", "Dx", "xBx")] == [True, True, False, False]


@pytest.mark.parametrize(
    "written",
    ["(", ")", "a)", "[", "[a", "[b-a]", "*", "+a", "a**", "a{2", "a{x}", "a{,3}", "a{1000}",
     "a{2,1}", "\\b", "\\", "(?=a)", "(?i)a", "[[:alpha:]]", "a{0}", "(" * 30, "(a{50}){50}",
     "a" * 900],
)  # fmt: skip
def test_others_are_refused(written):
    with pytest.raises(BadPattern):
        Pattern.read(written, whole=False)


def test_what_takes_others_for_ever_is_quick():
    pattern = Pattern.read("(((a+)+)+)+$", whole=False)
    start = time.process_time()
    assert not pattern.matches("a" * 900 + "b")
    assert time.process_time() - start < 1.0
    assert pattern.size < MOST_STATES
