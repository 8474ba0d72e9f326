"""Tokens: they keep length and alphabet, the same text has the same token, and they come back."""

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oarlock

ALPHABETS = {
    "digits": "0123456789",
    "hex": "0123456789abcdef",
    "upper-alphanumeric": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "chars:äöüßéè": "äöüßéè",
}
quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def has_luhn(text):
    digits = [int(digit) for digit in reversed(text)]
    doubled = [(2 * digit - 9 if digit > 4 else 2 * digit) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


@st.composite
def texts(draw):
    alphabet = draw(st.sampled_from(sorted(ALPHABETS)))
    text = st.text(alphabet=ALPHABETS[alphabet], min_size=12, max_size=40)
    return alphabet, draw(st.lists(st.none() | text, max_size=20))


@quick
@given(column=texts(), first=st.integers(0, 2), last=st.integers(0, 2), tweak=st.none() | st.binary(max_size=40))
def test_tokens_keep_their_format_and_come_back(keys, column, first, last, tweak):
    alphabet, values = column
    options = {"key": "tokens", "alphabet": alphabet, "keep_first": first, "keep_last": last, "tweak": tweak}
    tokens = keys.tokenise(pa.array(values, pa.string()), **options)
    assert tokens.type == pa.string()
    for value, token in zip(values, tokens.to_pylist()):
        assert (value is None) == (token is None)
        if value is not None:
            assert len(token) == len(value) and set(token) <= set(ALPHABETS[alphabet])
            assert token[:first] == value[:first] and token[len(token) - last :] == value[len(value) - last :]
    assert keys.detokenise(tokens, **options).to_pylist() == values


@quick
@given(numbers=st.lists(st.integers(0, 10**14 - 1), min_size=1, max_size=20))
def test_card_numbers_have_a_check_digit(keys, numbers):
    bodies = [f"4{number:014}" for number in numbers]
    cards = [next(body + digit for digit in "0123456789" if has_luhn(body + digit)) for body in bodies]
    options = {"key": "tokens", "keep_first": 6, "luhn": True}
    tokens = keys.tokenise(pa.array(cards), **options)
    assert all(has_luhn(token) and token[:6] == card[:6] for token, card in zip(tokens.to_pylist(), cards))
    assert keys.detokenise(tokens, **options).to_pylist() == cards


def test_equal_texts_join_and_tweaks_separate_them(keys):
    column = pa.array(["4111111111111111", "5500005555555559", "4111111111111111"])
    tokens = keys.tokenise(column, key="tokens").to_pylist()
    assert tokens[0] == tokens[2] != tokens[1]
    assert keys.tokenise(column.dictionary_encode(), key="tokens").to_pylist() == tokens
    tweaks = pa.array(["a", "a", "b"])
    tweaked = keys.tokenise(column, key="tokens", tweak=tweaks)
    assert tweaked[0] != tweaked[2]
    assert keys.detokenise(tweaked, key="tokens", tweak=tweaks).to_pylist() == column.to_pylist()
    assert keys.tokenise(column, key="tokens", tweak=b"a")[0] == tweaked[0]
    series = pl.Series(keys.tokenise(pl.Series(column), key="tokens"))
    assert series.to_list() == tokens


def test_bad_texts_have_reasons(keys):
    values = pa.array([b"123456", b"12345x", b"12345", b"\xff12345", None], pa.binary())
    counts = {}
    tokens = keys.tokenise(values, key="tokens", rejected=counts)
    assert tokens.null_count == 4 and sorted(counts.values()) == [1, 1, 1]
    assert set(counts) == {
        "a character is not in the alphabet",
        "the text is too short: there are less than a million of its length",
        "the value is not UTF-8",
    }
    with pytest.raises(oarlock.BadRowError, match="not in the alphabet"):
        keys.tokenise(values, key="tokens", on_error="raise")
    with pytest.raises(oarlock.KeyRefusedError):
        keys.tokenise(values, key="pan256")
