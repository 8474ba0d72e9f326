"""DKIM signatures of a column of messages."""

import base64
import datetime
import hashlib

import polars as pl
import pyarrow as pa
import pytest
from conftest import HOME
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

import oarlock
import oarlock.dkim

NAME = "s1._domainkey.example.com"
BODY = b"Hello,\r\n\r\nthis is a test.\r\n"
NOW = 1_800_000_000


@pytest.fixture(scope="module")
def key():
    return serialization.load_pem_private_key((HOME / "signing" / "rsa.pem").read_bytes(), None)


@pytest.fixture(scope="module")
def record(key):
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = key.public_key().public_bytes(serialization.Encoding.DER, form)
    return "v=DKIM1; k=rsa; p=" + base64.b64encode(public).decode()


def signed(key, subject, body=BODY, tags=""):
    """Returns a message with a signature that pyca makes, in the simple forms."""
    fields = f"From: alice@example.com\r\nSubject: {subject}\r\n"
    body_hash = base64.b64encode(hashlib.sha256(body).digest()).decode()
    value = f" v=1; a=rsa-sha256; d=example.com; s=s1; h=From:Subject; bh={body_hash};{tags} b="
    text = fields + "DKIM-Signature:" + value
    signature = base64.b64encode(key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())).decode()
    return ("DKIM-Signature:" + value + signature + "\r\n" + fields + "\r\n").encode() + body


def test_every_verdict_of_a_column(key, record):
    good = signed(key, "one")
    expired = signed(key, "old", tags=f" x={NOW - 1000};")
    messages = [
        good,
        None,
        good.replace(b"a test", b"a jest"),
        good.replace(b"Subject: one", b"Subject: two"),
        b"Subject: unsigned\r\n\r\n",
        good.replace(b"s=s1", b"s=s2"),
        b"no message at all",
        good.replace(b"\r\n", b"\n"),
        expired,
    ]
    found = oarlock.dkim.verify(pa.array(messages, pa.binary()), {NAME: record}, time=NOW).to_pylist()
    results = [row and row["result"] for row in found]
    assert results == ["pass", None, "fail", "fail", "none", "permerror", "permerror", "pass", "neutral"]
    assert found[0] == {
        "result": "pass",
        "domain": "example.com",
        "selector": "s1",
        "identity": None,
        "algorithm": "rsa-sha256",
        "key_bits": 2048,
        "testing": False,
        "reason": None,
        "signatures": 1,
    }
    assert found[2]["reason"] == "the body was changed: its hash differs"
    assert found[4]["signatures"] == 0 and found[4]["domain"] is None
    assert "no record s2._domainkey.example.com" in found[5]["reason"]
    assert "malformed" in found[6]["reason"]
    earlier = datetime.datetime.fromtimestamp(NOW - 2000, datetime.timezone.utc)
    again = oarlock.dkim.verify(pa.array([expired]), {NAME: record}, time=earlier)
    assert again.to_pylist()[0]["result"] == "pass"


def test_every_kind_of_column(key, record):
    messages = [signed(key, str(number)).decode() for number in range(5)]
    columns = [
        pa.array(messages, pa.string_view()),
        pa.array(messages, pa.large_string()),
        pa.array(messages).dictionary_encode(),
        pa.chunked_array([messages[:2], [], messages[2:]]),
        pl.Series(messages),
    ]
    for column in columns:
        found = oarlock.dkim.verify(column, {NAME: [record]}, time=NOW)
        assert [row["result"] for row in found.to_pylist()] == ["pass"] * 5
    assert len(oarlock.dkim.verify(pa.array([], pa.binary()), {})) == 0
    with pytest.raises(oarlock.ColumnTypeError):
        oarlock.dkim.verify(pa.array([1]), {})


def test_functions_find_records_once_and_may_fail(key, record):
    asked = []

    def find(name):
        asked.append(name)
        return record.encode()

    column = pa.chunked_array([[signed(key, str(number)) for number in range(40)]] * 3)
    found = oarlock.dkim.verify(column, find, time=NOW).to_pylist()
    assert [row["result"] for row in found] == ["pass"] * 120 and asked == [NAME]

    def silent(name):
        raise TimeoutError("no name server answers")

    [row] = oarlock.dkim.verify(column[:1], silent, time=NOW).to_pylist()
    assert row["result"] == "temperror" and "no name server answers" in row["reason"]
    with pytest.raises(ZeroDivisionError):
        oarlock.dkim.verify(column, lambda name: 1 // 0)
    for keys in (7, {NAME: 7}, {NAME: [7.5]}):
        with pytest.raises((oarlock.OptionError, TypeError)):
            oarlock.dkim.verify(column, keys)
    with pytest.raises(oarlock.OptionError, match="1024 to 4096"):
        oarlock.dkim.verify(column, {}, min_rsa_bits=512)
    [row] = oarlock.dkim.verify(column[:1], {NAME: record}, time=NOW, min_rsa_bits=4096).to_pylist()
    assert row["result"] == "policy"
