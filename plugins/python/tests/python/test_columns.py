"""Columns of every library that has Arrow, of every type."""

import warnings

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import oarlock

GCM = {"key": "pan", "cipher": "aes128-gcm"}
VALUES = [b"4111111111111111", None, b"", b"x" * 40, b"4111111111111111"]
TYPES = [
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.binary()),
    pa.dictionary(pa.uint32(), pa.string()),
]


def column(kind, values=VALUES):
    if pa.types.is_dictionary(kind):
        return column(kind.value_type, values).dictionary_encode().cast(kind)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or kind == pa.binary_view():
        return pa.array(values, kind)
    return pa.array([value and value.decode() if value is not None else None for value in values], kind)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type_gives_its_values_back(keys, kind):
    values = column(kind)
    sealed = keys.encrypt(values, **GCM)
    assert isinstance(sealed, pa.Array) and sealed.null_count == 1
    assert keys.decrypt(sealed, **GCM).to_pylist() == VALUES
    assert keys.hash(values).to_pylist() == keys.hash(column(pa.binary())).to_pylist()


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_slices_and_offsets(keys, kind):
    values = column(kind, VALUES * 20)
    for offset, length in [(0, 0), (1, 5), (33, 40), (99, 1)]:
        sealed = keys.encrypt(values.slice(offset, length), **GCM)
        assert keys.decrypt(sealed, **GCM).to_pylist() == (VALUES * 20)[offset : offset + length]
        sealed = keys.encrypt(values, **GCM).slice(offset, length)
        assert keys.decrypt(sealed, **GCM).to_pylist() == (VALUES * 20)[offset : offset + length]


def test_fixed_size_binary(keys):
    values = pa.array([b"0123456789abcdef", None, b"fedcba9876543210"], pa.binary(16))
    sealed = keys.encrypt(values, **GCM)
    assert keys.decrypt(sealed, **GCM).to_pylist() == values.to_pylist()
    fixed = sealed.cast(pa.binary(16 + 28))
    assert keys.decrypt(fixed, **GCM).to_pylist() == values.to_pylist()


def test_dictionaries_with_null_values(keys):
    entries = pa.array([b"a", None, b"b"], pa.binary())
    dictionary = pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 0, 2], pa.int8()), entries)
    assert keys.decrypt(keys.encrypt(dictionary, **GCM), **GCM).to_pylist() == [b"b", None, None, b"a", b"b"]
    codes = keys.mac(dictionary, key="codes").to_pylist()
    assert codes[0] == codes[4] and codes[1] is None and codes[2] is None


def test_chunked_columns_stay_chunked(keys):
    chunks = pa.chunked_array([[b"a", None], [], [b"c"]], pa.binary())
    sealed = keys.encrypt(chunks, **GCM)
    assert isinstance(sealed, pa.ChunkedArray) and sealed.num_chunks == 3
    assert keys.decrypt(sealed, **GCM).to_pylist() == [b"a", None, b"c"]
    empty = keys.encrypt(pa.chunked_array([], pa.large_binary()), **GCM)
    assert len(empty) == 0 and empty.type == pa.large_binary()


def test_columns_beside_a_chunked_one_may_be_cut_elsewhere(keys):
    values = pa.chunked_array([[b"a", b"b"], [b"c"], [b"d"]], pa.binary())
    aad = pa.chunked_array([["1"], ["2", "3", "4"]], pa.string())
    sealed = keys.encrypt(values, aad=aad, **GCM)
    whole = keys.decrypt(sealed.combine_chunks(), aad=pa.array(["1", "2", "3", "4"]), **GCM)
    assert whole.to_pylist() == [b"a", b"b", b"c", b"d"]
    codes = keys.mac(values, key="codes")
    assert keys.verify_mac(values, codes.combine_chunks(), key="codes").to_pylist() == [True] * 4


def test_columns_of_nulls(keys):
    assert keys.encrypt(pa.nulls(3), **GCM).to_pylist() == [None] * 3
    assert keys.encrypt(pa.nulls(3, pa.binary()), **GCM).to_pylist() == [None] * 3


def test_polars(keys):
    frame = pl.DataFrame({"pan": ["4111", None, "5500"]})
    sealed = frame.with_columns(
        pl.col("pan").map_batches(lambda pan: pl.Series(keys.encrypt(pan, **GCM)), return_dtype=pl.Binary)
    )
    opened = pl.Series(keys.decrypt(sealed["pan"], **GCM)).cast(pl.String)
    assert opened.to_list() == ["4111", None, "5500"]
    category = pl.Series(["a", "b", "a", None], dtype=pl.Categorical)
    codes = keys.mac(category, key="codes").to_pylist()
    assert codes[0] == codes[2] != codes[1] and codes[3] is None


def test_pandas(keys):
    for kind in ["object", "string[pyarrow]", pd.ArrowDtype(pa.large_string())]:
        series = pd.Series(["4111", None, "5500"], dtype=kind)
        assert keys.decrypt(keys.encrypt(series, **GCM), **GCM).to_pylist() == [b"4111", None, b"5500"]


def test_duckdb(keys):
    connection = duckdb.connect()
    connection.create_function(
        "seal", lambda pan: keys.encrypt(pan, **GCM), ["VARCHAR"], "BLOB", type="arrow", side_effects=True
    )
    connection.create_function("unseal", lambda pan: keys.decrypt(pan, **GCM), ["BLOB"], "BLOB", type="arrow")
    rows = connection.sql("SELECT i, unseal(seal(i::VARCHAR))::VARCHAR AS opened FROM range(10000) t(i)").fetchall()
    assert all(str(number) == opened for number, opened in rows) and len(rows) == 10000


def test_datafusion(keys):
    from datafusion import SessionContext, udf

    context = SessionContext()
    code = udf(lambda pan: keys.mac(pan, key="codes"), [pa.string_view()], pa.large_binary(), "immutable", name="code")
    context.register_udf(code)
    context.from_pydict({"pan": ["4111", "5500"]}, name="cards")
    query = "SELECT code(arrow_cast(pan, 'Utf8View')) AS code FROM cards"
    found = [row for batch in context.sql(query).collect() for row in batch.column(0).to_pylist()]
    assert found == keys.mac(pa.array(["4111", "5500"]), key="codes").to_pylist()


def test_lists_are_converted(keys):
    assert keys.decrypt(keys.encrypt(["a", None], **GCM), **GCM).to_pylist() == [b"a", None]


def test_counts_and_warnings_of_bad_rows(keys):
    bad = pa.array([b"short", b"x" * 28, None], pa.binary())
    with pytest.warns(oarlock.RejectedRowsWarning, match="1 row: the tag does not verify; 1 row: the value is too"):
        assert keys.decrypt(bad, **GCM).to_pylist() == [None] * 3
    counts = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        keys.decrypt(bad, rejected=counts, **GCM)
        keys.decrypt(bad, rejected=counts, **GCM)
    assert counts["the tag does not verify"] == 2 and sum(counts.values()) == 4
    pair = keys.decrypt(bad, on_error="struct", rejected={}, **GCM).to_pylist()
    assert pair[1] == {"value": None, "error": "the tag does not verify"}
    assert pair[2] == {"value": None, "error": None}
    chunks = pa.chunked_array([keys.encrypt([b"a", b"b"], **GCM), bad])
    with pytest.raises(oarlock.BadRowError) as caught:
        keys.decrypt(chunks, on_error="raise", **GCM)
    assert caught.value.row == 2, "rows are counted over all chunks"


def test_one_bad_tag_in_a_million_rows(keys):
    values = pa.array([b"%016d" % number for number in range(1_000_000)], pa.binary())
    sealed = keys.encrypt(values, **GCM)
    bad = bytearray(sealed.buffers()[2])
    bad[44 * 654_321 + 43] ^= 1
    sealed = pa.Array.from_buffers(sealed.type, len(sealed), [None, sealed.buffers()[1], pa.py_buffer(bytes(bad))])
    counts = {}
    opened = keys.decrypt(sealed, rejected=counts, **GCM)
    assert counts == {"the tag does not verify": 1}
    assert opened.null_count == 1 and not opened[654_321].is_valid
    kept = opened.is_valid()
    assert opened.filter(kept).equals(values.filter(kept))
