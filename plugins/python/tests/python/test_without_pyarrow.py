"""Without pyarrow, results are objects of the C interface."""

import sys

import polars as pl
import pytest

import oarlock

GCM = {"key": "pan", "cipher": "aes128-gcm"}


def test_results_are_objects_of_the_c_interface(keys):
    with pytest.raises(ImportError):
        import pyarrow  # noqa: F401
    assert "pyarrow" not in sys.modules
    sealed = keys.encrypt(pl.Series(["a", None, "c"]), **GCM)
    assert isinstance(sealed, oarlock.ResultColumn) and len(sealed) == 3
    assert repr(sealed) == "<oarlock.ResultColumn of 3 rows of LargeBinary>"
    opened = pl.Series(keys.decrypt(sealed, **GCM))
    assert opened.cast(pl.String).to_list() == ["a", None, "c"]


def test_chunks_become_one_array(keys):
    parts = pl.Series(["a", None]).append(pl.Series(["c"]))
    assert parts.n_chunks() == 2
    opened = pl.Series(keys.decrypt(keys.encrypt(parts, **GCM), **GCM))
    assert opened.cast(pl.String).to_list() == ["a", None, "c"]
    counts = {}
    pairs = pl.Series(keys.decrypt(parts, on_error="struct", rejected=counts, **GCM))
    assert len(pairs) == 3 and counts == {"the value is too short, or it is not whole blocks": 2}
    verdicts = pl.Series(keys.verify_mac(parts, keys.mac(parts, key="codes"), key="codes"))
    assert verdicts.to_list() == [True, None, True]


def test_other_objects_are_no_columns(keys):
    with pytest.raises(oarlock.ColumnTypeError, match="found list"):
        keys.hash(["a"])
