#!/usr/bin/env python3
"""Writes sha3.txt: SHA-512/224, SHA-512/256, SHA-3 and SHAKE.

Published vectors are typed in below and checked while writing. Digests are Python's, and chaining states a plain
transcription of FIPS 180-4 and FIPS 202, which is checked against every digest.
"""
import hashlib, os, random

HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random("oarlock sha3")
rand = rng.randbytes
hx = lambda b: b.hex() or "-"

# The examples of NIST (Cryptographic Standards and Guidelines, "Examples with Intermediate Values"): "abc" for
# SHA-512/t, and no bits and 1,600 bits for SHA-3 and SHAKE. Leading bytes of the values.
A3 = b"\xa3" * 200
PUBLISHED = {
    "sha512-224": [(b"abc", "4634270f707b6a54daae7530460842e2")],
    "sha512-256": [(b"abc", "53048e2681941ef99b2e29b76b4c7dab")],
    "sha3-224": [(b"", "6b4e03423667dbb73b6e15454f0eb1ab"), (A3, "9376816aba503f72f96ce7eb65ac095d")],
    "sha3-256": [(b"", "a7ffc6f8bf1ed76651c14756a061d662"), (A3, "79f38adec5c20307a98ef76e8324afbf")],
    "sha3-384": [(b"", "0c63a75b845e4f7d01107d852e4c2485"), (A3, "1881de2ca7e41ef95dc4732b8f5f002b")],
    "sha3-512": [(b"", "a69f73cca23a9ac5c8b567dc185a756e"), (A3, "e76dfad22084a8b1467fcf2ffa58361b")],
    "shake128": [(b"", "7f9c2ba4e88f827d616045507605853e"), (A3, "131ab8d2b594946b9c81333f9bb6e0ce")],
    "shake256": [(b"", "46b9dd2b0ba88d13233b3feb743eeb24"), (A3, "cd8a920ed141aa0407a22d59288652e9")],
}
# The bytes of a block, and the suffix of a message with the first bit of the padding. FIPS 202 6.1 and 6.2.
SPONGES = {
    "sha3-224": (144, 0x06), "sha3-256": (136, 0x06), "sha3-384": (104, 0x06), "sha3-512": (72, 0x06),
    "shake128": (168, 0x1F), "shake256": (136, 0x1F),
}
WORD = (1 << 64) - 1


def digest(name, data):
    if name.startswith("shake"):
        return hashlib.new(name.replace("shake", "shake_"), data).digest(32 if name == "shake128" else 64)
    return hashlib.new(name.replace("-", "_"), data).digest()


# FIPS 202 -------------------------------------------------------------------------------------------------------------

rol = lambda x, n: (x << n | x >> (64 - n)) & WORD if n % 64 else x


def round_constants():
    """FIPS 202 algorithms 5 and 6."""
    register, found = 1, []
    for _ in range(24):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << (2**j - 1)
            register = register << 1 ^ (register >> 7) * 0x171
        found.append(constant)
    return found


def keccak_f(a):
    """FIPS 202 3.2 and 3.3. Word x + 5 y is lane (x, y)."""
    for constant in round_constants():
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        a = [a[i] ^ c[(i % 5 - 1) % 5] ^ rol(c[(i % 5 + 1) % 5], 1) for i in range(25)]
        b, (x, y), lane = a[:], (1, 0), a[1]
        for t in range(24):
            b[y + 5 * ((2 * x + 3 * y) % 5)] = rol(a[x + 5 * y], (t + 1) * (t + 2) // 2 % 64)
            x, y = y, (2 * x + 3 * y) % 5
        a = [b[i] ^ (~b[i // 5 * 5 + (i + 1) % 5] & WORD & b[i // 5 * 5 + (i + 2) % 5]) for i in range(25)]
        a[0] ^= constant
    return a


def absorb(state, data, rate):
    words = [int.from_bytes(state[i:i + 8], "little") for i in range(0, 200, 8)]
    for at in range(0, len(data), rate):
        for i in range(rate // 8):
            words[i] ^= int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "little")
        words = keccak_f(words)
    return b"".join(word.to_bytes(8, "little") for word in words)


def sponge(data, rate, suffix):
    padded = bytearray(data + bytes([suffix]) + bytes(-(len(data) + 1) % rate))
    padded[-1] |= 0x80
    return absorb(bytes(200), bytes(padded), rate)


# FIPS 180-4 -----------------------------------------------------------------------------------------------------------

def root_fractions(count, degree):
    """The first 64 bits of the fractional parts of roots of primes. FIPS 180-4 4.2.3 and 5.3.5."""
    primes, n, found = [], 2, []
    while len(primes) < count:
        if all(n % p for p in primes):
            primes.append(n)
        n += 1
    for p in primes:
        low, high, x = 0, (p + 1) << 64, p << 64 * degree
        while low + 1 < high:
            mid = (low + high) // 2
            low, high = (mid, high) if mid**degree <= x else (low, mid)
        found.append(low & WORD)
    return found


CONSTANTS = root_fractions(80, 3)


def compress(state, data):
    """FIPS 180-4 6.4.2. The state is bytes."""
    rot = lambda x, n: (x >> n | x << (64 - n)) & WORD
    state = [int.from_bytes(state[i:i + 8], "big") for i in range(0, 64, 8)]
    for i in range(0, len(data), 128):
        w = [int.from_bytes(data[j:j + 8], "big") for j in range(i, i + 128, 8)]
        for t in range(16, 80):
            s0 = rot(w[t - 15], 1) ^ rot(w[t - 15], 8) ^ w[t - 15] >> 7
            s1 = rot(w[t - 2], 19) ^ rot(w[t - 2], 61) ^ w[t - 2] >> 6
            w.append((w[t - 16] + s0 + w[t - 7] + s1) & WORD)
        a, b, c, d, e, f, g, h = state
        for t in range(80):
            t1 = h + (rot(e, 14) ^ rot(e, 18) ^ rot(e, 41)) + (e & f ^ ~e & WORD & g) + CONSTANTS[t] + w[t]
            t2 = (rot(a, 28) ^ rot(a, 34) ^ rot(a, 39)) + (a & b ^ a & c ^ b & c)
            a, b, c, d, e, f, g, h = (t1 + t2) & WORD, a, b, c, (d + t1) & WORD, e, f, g
        state = [(x + y) & WORD for x, y in zip(state, (a, b, c, d, e, f, g, h))]
    return b"".join(x.to_bytes(8, "big") for x in state)


def sha512(initial, data):
    return compress(initial, data + b"\x80" + bytes((-len(data) - 17) % 128) + (len(data) * 8).to_bytes(16, "big"))


def sha512_t_initial(t):
    """FIPS 180-4 5.3.6."""
    start = b"".join((x ^ 0xA5A5A5A5A5A5A5A5).to_bytes(8, "big") for x in root_fractions(8, 2))
    return sha512(start, b"SHA-512/%d" % t)


# The file -------------------------------------------------------------------------------------------------------------

def main():
    lines = []
    for name, published in PUBLISHED.items():
        rate, suffix = SPONGES.get(name, (128, 0))
        if suffix:
            initial, whole = bytes(200), lambda data: sponge(data, rate, suffix)
            advance = lambda state, data: absorb(state, data, rate)
        else:
            initial = sha512_t_initial(int(name[-3:]))
            whole, advance = lambda data: sha512(initial, data), compress
        sizes = [1, rate - 17, rate - 16, rate - 8, rate - 1, rate, rate + 1, 2 * rate - 1, 2 * rate, 3 * rate + 5, 600]
        short = [(data, "") for data in (b"", b"abc") if data not in dict(published)]
        for data, known in published + short + [(rand(size), "") for size in sizes]:
            want = digest(name, data)
            assert whole(data)[:len(want)] == want and want.hex().startswith(known), name
            lines.append([name, hx(data), hx(want)])
        for blocks in (1, 2, 0, 3, 1, 4):
            data = rand(blocks * rate)
            state = initial if blocks == 1 else rand(len(initial))
            lines.append([f"{name}-part", hx(state), hx(data), hx(advance(state, data))])
    head = [
        "FIPS 180-4 and FIPS 202: examples of NIST first, the rest by Python's hashlib. Chaining states by a plain",
        "transcription of both, which is checked against every digest.",
        "digest message value",
        "digest-part state blocks state",
    ]
    with open(f"{HERE}/sha3.txt", "w") as f:
        f.write("".join(f"# {h}\n" for h in head) + "".join(" ".join(l) + "\n" for l in lines))


main()
