#!/usr/bin/env python3
"""Writes siv.txt, gcm-siv.txt and ff1.txt. Needs pyca/cryptography with OpenSSL 3.2 or later.

The samples of NIST for FF1 and the first example of RFC 5297 are typed in below. The rest is computed: AES-SIV and
AES-GCM-SIV by OpenSSL, FF1 by the integers of Python, which must give NIST's samples.
"""
import os, random

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV, AESSIV

HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random("oarlock self test of synthetic IVs and formats")
rand = lambda n: rng.randbytes(n)
hx = lambda b: b.hex() or "-"


def write(name, head, lines):
    with open(f"{HERE}/{name}", "w") as f:
        f.write("".join(f"# {h}\n" for h in head) + "".join(" ".join(l) + "\n" for l in lines))


def flipped(tag):
    return bytes([tag[0], tag[1] ^ 2]) + tag[2:]


def siv(key, iv, aad, plain):
    # OpenSSL refuses an empty plaintext.
    sealed = AESSIV(key).encrypt(plain, [aad] + ([iv] if iv else [])) if plain else None
    return (sealed[16:], sealed[:16]) if plain else (b"", s2v(key, [aad] + ([iv] if iv else []), plain))


def block(key, data):
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(data)


def doubled(b):
    n = int.from_bytes(b, "big") << 1
    return ((n & (1 << 128) - 1) ^ (0x87 if n >> 128 else 0)).to_bytes(16, "big")


xor = lambda a, b: bytes(x ^ y for x, y in zip(a, b))


def cmac(key, message):
    k1 = doubled(block(key, bytes(16)))
    split = max(len(message) - 1, 0) // 16 * 16
    state = bytes(16)
    for at in range(0, split, 16):
        state = block(key, xor(state, message[at : at + 16]))
    last = message[split:]
    last = xor(last, k1) if len(last) == 16 else xor(last + b"\x80" + bytes(15 - len(last)), doubled(k1))
    return block(key, xor(state, last))


def s2v(key, components, plain):
    key = key[: len(key) // 2]
    sum = cmac(key, bytes(16))
    for component in components:
        sum = xor(doubled(sum), cmac(key, component))
    if len(plain) >= 16:
        return cmac(key, plain[:-16] + xor(plain[-16:], sum))
    return cmac(key, xor(doubled(sum), plain + b"\x80" + bytes(15 - len(plain))))


rfc5297 = (
    bytes.fromhex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"),
    b"",
    bytes.fromhex("101112131415161718191a1b1c1d1e1f2021222324252627"),
    bytes.fromhex("112233445566778899aabbccddee"),
)
sealed, tag = siv(*rfc5297)
assert tag.hex() == "85632d07c6e8f37f950acd320a2ecc93" and sealed.hex() == "40c02b9690c4dc04daef7f6afe5c"

lines = []
for size in (32, 48, 64):
    cases = [rfc5297] if size == 32 else []
    for len_iv, len_aad, len_plain in [(0, 0, 16), (12, 0, 40), (16, 7, 33), (0, 40, 0), (0, 16, 15), (5, 20, 100)]:
        cases.append((rand(size), rand(len_iv), rand(len_aad), rand(len_plain)))
    for key, iv, aad, plain in cases:
        sealed, tag = siv(key, iv, aad, plain)
        assert tag == s2v(key, [aad] + ([iv] if iv else []), plain)
        lines.append(["good", hx(key), hx(iv), hx(aad), hx(plain), hx(sealed), hx(tag)])
    lines.append(["bad", hx(key), hx(iv), hx(aad), "-", hx(sealed), hx(flipped(tag))])
    lines.append(["bad", hx(key), hx(iv), hx(aad[1:]), "-", hx(sealed), hx(tag)])
for size in (32, 48, 64):
    key, plain = bytes(range(size)), b"hello"
    for iv in (b"", bytes(12)):
        tail = [iv] if iv else []
        for word, aad in (("good", []), ("old", [b""])):
            sealed = AESSIV(key).encrypt(plain, aad + tail)
            lines.append([word, hx(key), hx(iv), "absent", hx(plain), hx(sealed[16:]), hx(sealed[:16])])
        lines.append(["bad", hx(key), hx(iv), "absent", "-", hx(sealed[16:]), hx(flipped(sealed[:16]))])
head = ["RFC 5297 A.1 first, the rest by OpenSSL. An IV is one more component behind the associated data.",
        "good key iv aad plaintext ciphertext tag", "bad key iv aad - ciphertext tag",
        "old key iv absent plaintext ciphertext tag: sealed with an empty string, and opened without associated data"]
write("siv.txt", head, lines)

lines = []
for size in (16, 32):
    for len_aad, len_plain in [(0, 16), (13, 40), (7, 33), (40, 0), (16, 15), (20, 100)]:
        key, iv, aad, plain = rand(size), rand(12), rand(len_aad), rand(len_plain)
        out = AESGCMSIV(key).encrypt(iv, plain, aad)
        sealed, tag = out[:-16], out[-16:]
        lines.append(["good", hx(key), hx(iv), hx(aad), hx(plain), hx(sealed), hx(tag)])
    lines.append(["bad", hx(key), hx(iv), hx(aad), "-", hx(sealed), hx(flipped(tag))])
head = ["By OpenSSL.", "good key iv aad plaintext ciphertext tag", "bad key iv aad - ciphertext tag"]
write("gcm-siv.txt", head, lines)


def ff1(key, radix, tweak, numerals):
    number = lambda digits: sum(d * radix**i for i, d in enumerate(reversed(digits)))
    n = len(numerals)
    u, v = n // 2, n - n // 2
    b = ((radix**v - 1).bit_length() + 7) // 8
    d = 4 * ((b + 3) // 4) + 4
    p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256])
    p += n.to_bytes(4, "big") + len(tweak).to_bytes(4, "big")
    left, right = number(numerals[:u]), number(numerals[u:])
    for i in range(10):
        q = tweak + bytes(-(len(tweak) + b + 1) % 16) + bytes([i]) + right.to_bytes(b, "big")
        r = bytes(16)
        for at in range(0, len(p + q), 16):
            r = block(key, xor(r, (p + q)[at : at + 16]))
        s, j = r, 1
        while len(s) < d:
            s += block(key, xor(r, j.to_bytes(16, "big")))
            j += 1
        m = u if i % 2 == 0 else v
        left, right = right, (left + int.from_bytes(s[:d], "big")) % radix**m
    digits = lambda value, count: [value // radix**i % radix for i in reversed(range(count))]
    return digits(left, u) + digits(right, v)


NIST = [
    # Key, radix, tweak, plaintext, ciphertext.
    ("2B7E151628AED2A6ABF7158809CF4F3C", 10, "", "0123456789", "2433477484"),
    ("2B7E151628AED2A6ABF7158809CF4F3C", 10, "39383736353433323130", "0123456789", "6124200773"),
    ("2B7E151628AED2A6ABF7158809CF4F3C", 36, "3737373770717273373737", "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    ("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F", 10, "", "0123456789", "2830668132"),
    ("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F", 10, "39383736353433323130", "0123456789", "2496655549"),
    ("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F", 36, "3737373770717273373737", "0123456789abcdefghi",
     "xbj3kv35jrawxv32ysr"),
    ("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94", 10, "", "0123456789", "6657667009"),
    ("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94", 10, "39383736353433323130", "0123456789",
     "1001623463"),
    ("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94", 36, "3737373770717273373737",
     "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
]
encoded = lambda radix, numerals: b"".join(d.to_bytes(1 if radix <= 256 else 2, "big") for d in numerals)
lines = []
for size in (16, 24, 32):
    name = f"aes{8 * size}-ff1"
    line = lambda key, radix, tweak, plain, out: lines.append(
        [name, hx(key), hx(radix.to_bytes(4, "big")), hx(tweak), hx(encoded(radix, plain)), hx(encoded(radix, out))])
    for key, radix, tweak, plain, sealed in NIST:
        key, tweak = bytes.fromhex(key), bytes.fromhex(tweak)
        if len(key) == size:
            plain, sealed = [int(c, 36) for c in plain], [int(c, 36) for c in sealed]
            assert ff1(key, radix, tweak, plain) == sealed
            line(key, radix, tweak, plain, sealed)
    for radix, count, len_tweak in [(10, 16, 0), (2, 7, 3), (65536, 9, 20), (256, 24, 16), (10, 57, 1), (62, 8, 40),
                                    (255, 13, 11), (10, 19, 12), (65535, 2, 0), (16, 41, 5), (10, 56, 35), (3, 300, 6)]:
        key, tweak, plain = rand(size), rand(len_tweak), [rng.randrange(radix) for _ in range(count)]
        line(key, radix, tweak, plain, ff1(key, radix, tweak, plain))
    line(rand(size), 10, rand(8), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [])
    line(rand(size), 65535, b"", [7, 65535, 3], [])
head = ["NIST's samples of FF1 first, the rest by make_siv_ff1.py. A numeral has one byte, or two above radix 256.",
        "algorithm key radix tweak plaintext ciphertext", "algorithm key radix tweak numerals-out-of-range -"]
write("ff1.txt", head, lines)
