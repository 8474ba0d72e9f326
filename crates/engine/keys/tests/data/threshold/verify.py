#!/usr/bin/env python3
"""Verifies partial512.hex under key512.pem by the formulas of docs/math/threshold-rsa.md alone; exits 0 where it holds."""
import base64
import hashlib
import math
import pathlib
import sys

here = pathlib.Path(__file__).parent


def members(der):
    """Tag and content of each element."""
    while der:
        tag, length, start = der[0], der[1], 2
        if length & 0x80:
            start += length & 0x7F
            length = int.from_bytes(der[2:start], "big")
        yield tag, der[start : start + length]
        der = der[start + length :]


text = (here / "key512.pem").read_text().splitlines()
(_, outer), = members(base64.b64decode("".join(text[1:-1])))
version, n, e, k, v, keys = [content for _, content in members(outer)]
n, e, v = (int.from_bytes(number, "big") for number in (n, e, v))
keys = [int.from_bytes(number, "big") for _, number in members(keys)]
bits, width = n.bit_length(), (n.bit_length() + 7) // 8

partial = bytes.fromhex((here / "partial512.hex").read_text())
root, z, c = partial[:width], partial[width:-32], partial[-32:]
root, z, challenge = (int.from_bytes(number, "big") for number in (root, z, c))

prefix = bytes.fromhex("3031300d060960864801650304020105000420")
info = prefix + hashlib.sha256(b"a message").digest()
x = int.from_bytes(b"\0\1" + b"\xff" * (width - 3 - len(info)) + b"\0" + info, "big")

base = pow(x, 4 * math.factorial(len(keys)), n)
square = root * root % n
of_base = pow(v, z, n) * pow(keys[0], -challenge, n) % n
of_request = pow(base, z, n) * pow(square, -challenge, n) % n
numbers = [n, v, base, keys[0], square, of_base, of_request]
hashed = b"oarlock threshold rsa proof 1" + bits.to_bytes(4, "big")
hashed += b"".join(number.to_bytes(width, "big") for number in numbers)
sys.exit(0 if hashlib.sha256(hashed).digest() == c else "the proof does not hold")
