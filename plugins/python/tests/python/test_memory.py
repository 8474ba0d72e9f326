"""Memory does not grow with the number of arrays."""

import gc

import pyarrow as pa
import pytest

import oarlock

GCM = {"key": "pan", "cipher": "aes128-gcm"}


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def grown(work, warm_up, repeats):
    """Returns by how many bytes this process has grown, after it has got all memory that it keeps."""
    for _ in range(warm_up):
        work()
    gc.collect()
    before = resident_bytes()
    for _ in range(repeats):
        work()
    gc.collect()
    return resident_bytes() - before


def test_a_hundred_thousand_arrays(keys):
    values = pa.array([b"x" * 50] * 20, pa.binary())
    assert grown(lambda: keys.encrypt(values, **GCM), 5_000, 100_000) < 4 << 20, "20 rows leak 140 MB"


def test_errors_and_streams(keys):
    bad = pa.chunked_array([[b"x" * 2000] * 5, [b"short"]])

    def work():
        with pytest.raises(oarlock.BadRowError):
            keys.decrypt(bad, on_error="raise", **GCM)
        keys.decrypt(bad, rejected={}, **GCM)

    assert grown(work, 1_000, 5_000) < 4 << 20, "5 rows leak 50 MB"


def test_keys(home):
    def work():
        keys = oarlock.Keys.file(home / "keys.ndjson")
        keys.reference()

    assert grown(work, 100, 1_000) < 8 << 20
