"""Rows per second of CPU time, beside pyca/cryptography and the standard library.

Usage: PYTHONPATH=... python benches/columns.py KEYS.ndjson [ROWS] [SOCKET]

The file has keys named pan (aes128, for GCM), cbc (aes128), siv (aes128-siv), gcm-siv (aes128, algorithm gcm-siv), tokens
(aes256, algorithm ff1) and codes (hmac). Both sides get the same values, take turns,
and each is judged by its median. A result of the other side is checked before it is timed. With the socket of a
cryptoserver that has the same keys, its rates are measured too: they count the CPU time of this process only, so they
are given by the clock.
"""

import hashlib
import hmac
import json
import os
import statistics
import sys
import time

import pyarrow as pa
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV, AESSIV

import oarlock

TURNS = 7


def secret(path, name):
    with open(path) as lines:
        keys = [json.loads(line) for line in lines if line.strip()]
    return next(bytes.fromhex(key["hex"]) for key in keys if key["name"] == name)


def rate(work, rows, clock):
    before = clock()
    work()
    return rows / (clock() - before)


def measure(name, own, peer, rows, peer_name):
    """Prints a row of the table. `peer` gets a twentieth of the rows, because it is slower."""
    ours, theirs = [], []
    for _ in range(TURNS):
        ours.append(rate(own, rows, time.process_time))
        theirs.append(rate(peer, rows // 20, time.process_time))
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    row = {"name": name, "rate_per_cpu_s": round(ours), "peer": peer_name, "peer_rate_per_cpu_s": round(theirs)}
    print(json.dumps({**row, "ratio": round(ours / theirs, 2)}), flush=True)


def measure_joins(path, keys, rows, column, part):
    """Measures the ciphers under which equal values have equal results, and tokens, which nothing in Python makes."""
    siv, siv_aead = {"key": "siv", "cipher": "aes128-siv"}, AESSIV(secret(path, "siv"))

    def seal_siv():
        return pa.array([siv_aead.encrypt(value, [b""]) for value in part], pa.binary())

    assert keys.encrypt(column.slice(0, len(part)), **siv).equals(seal_siv())
    measure("aes128-siv encrypt, 16 bytes", lambda: keys.encrypt(column, **siv), seal_siv, rows, "pyca AESSIV")

    gcm_siv = {"key": "gcm-siv", "cipher": "aes128-gcm-siv", "iv": "zero"}
    aead, zeros = AESGCMSIV(secret(path, "gcm-siv")), bytes(12)

    def seal_gcm_siv():
        return pa.array([zeros + aead.encrypt(zeros, value, None) for value in part], pa.binary())

    assert keys.encrypt(column.slice(0, len(part)), **gcm_siv).equals(seal_gcm_siv())
    name = "aes128-gcm-siv encrypt, 16 bytes, IV of zeros"
    measure(name, lambda: keys.encrypt(column, **gcm_siv), seal_gcm_siv, rows, "pyca AESGCMSIV")

    digits = column.cast(pa.string())
    tweaks = pa.array([f"t{row % 97:07}" for row in range(rows)])
    tokens = keys.tokenise(digits, key="tokens", tweak=tweaks)
    assert keys.detokenise(tokens, key="tokens", tweak=tweaks).equals(digits)
    for name, tweak in [("a tweak column", tweaks), ("one tweak", b"cards.pan")]:
        rates = [
            rate(lambda tweak=tweak: keys.tokenise(digits, key="tokens", tweak=tweak), rows, time.process_time)
            for _ in range(TURNS)
        ]
        row = {"name": f"aes256-ff1, 16 digits, {name}", "rate_per_cpu_s": round(statistics.median(rates))}
        print(json.dumps(row), flush=True)


def main():
    path, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    keys = oarlock.Keys.file(path)
    values = [b"%016d" % number for number in range(rows)]
    column, part = pa.array(values, pa.binary()), values[: rows // 20]
    gcm, cbc = {"key": "pan", "cipher": "aes128-gcm"}, {"key": "cbc", "cipher": "aes128-cbc"}

    aead = AESGCM(secret(path, "pan"))
    sealed = keys.encrypt(column, **gcm)
    rows_of_part = sealed.slice(0, rows // 20).to_pylist()
    assert [aead.decrypt(row[:12], row[12:], None) for row in rows_of_part] == part

    def seal():
        made = []
        for value in part:
            iv = os.urandom(12)
            made.append(iv + aead.encrypt(iv, value, None))
        return pa.array(made, pa.binary())

    def unseal():
        return pa.array([aead.decrypt(row[:12], row[12:], None) for row in rows_of_part], pa.binary())

    measure("aes128-gcm encrypt, 16 bytes, random IV", lambda: keys.encrypt(column, **gcm), seal, rows, "pyca AESGCM")
    measure("aes128-gcm decrypt, 16 bytes", lambda: keys.decrypt(sealed, **gcm), unseal, rows, "pyca AESGCM")

    aes = algorithms.AES(secret(path, "cbc"))

    def chain():
        made = []
        for value in part:
            iv, padder = os.urandom(16), padding.PKCS7(128).padder()
            encryptor = Cipher(aes, modes.CBC(iv)).encryptor()
            padded = padder.update(value) + padder.finalize()
            made.append(iv + encryptor.update(padded) + encryptor.finalize())
        return pa.array(made, pa.binary())

    assert keys.decrypt(chain(), **cbc).to_pylist() == part
    measure("aes128-cbc encrypt, 16 bytes, random IV", lambda: keys.encrypt(column, **cbc), chain, rows, "pyca CBC")

    measure_joins(path, keys, rows, column, part)
    codes = secret(path, "codes")

    def code():
        return pa.array([hmac.digest(codes, value, "sha256") for value in part], pa.binary())

    assert keys.mac(column.slice(0, rows // 20), key="codes").equals(code())
    measure("hmac-sha256, 16 bytes", lambda: keys.mac(column, key="codes"), code, rows, "hmac.digest")

    def digest():
        return pa.array([hashlib.sha256(value).digest() for value in part], pa.binary())

    measure("sha256, 16 bytes", lambda: keys.hash(column), digest, rows, "hashlib")

    nulls = pa.nulls(rows, pa.binary())
    rates = [rate(lambda: keys.hash(nulls), rows, time.process_time) for _ in range(TURNS)]
    print(json.dumps({"name": "arrow in and out, null rows", "rate_per_cpu_s": round(statistics.median(rates))}))
    if len(sys.argv) > 3:
        unix = oarlock.Keys.unix(sys.argv[3])
        assert keys.decrypt(unix.encrypt(column.slice(0, 10), **gcm), **gcm).equals(column.slice(0, 10))
        rates = [rate(lambda: unix.encrypt(column, **gcm), rows, time.perf_counter) for _ in range(TURNS)]
        row = {"name": "aes128-gcm encrypt at a cryptoserver", "rate_per_s": round(statistics.median(rates))}
        print(json.dumps(row))


if __name__ == "__main__":
    main()
