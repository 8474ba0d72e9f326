#!/usr/bin/env python3
"""Writes sha224.txt and ecdh.txt. Needs pyca/cryptography.

Published vectors are typed in below and checked while writing. Digests and HMAC are Python's, chaining states a plain
transcription of FIPS 180-4, and agreements are computed by OpenSSL by way of pyca/cryptography.
"""
import hashlib, hmac as hmac_mod, os, random

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random("oarlock sha224 and ecdh")
rand = rng.randbytes
hx = lambda b: b.hex() or "-"


def write(name, head, lines):
    with open(f"{HERE}/{name}", "w") as f:
        f.write("".join(f"# {h}\n" for h in head) + "".join(" ".join(l) + "\n" for l in lines))


# SHA-224 --------------------------------------------------------------------------------------------------------------

# FIPS 180-4 5.3.2
INITIAL = [0xC1059ED8, 0x367CD507, 0x3070DD17, 0xF70E5939, 0xFFC00B31, 0x68581511, 0x64F98FA7, 0xBEFA4FA4]
PUBLISHED_DIGESTS = [
    (b"abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
    (b"", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
    (b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"),
]
# RFC 4231 4.2 and 4.3
PUBLISHED_MACS = [
    (b"\x0b" * 20, b"Hi There", "896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22"),
    (b"Jefe", b"what do ya want for nothing?", "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44"),
]


def constants():
    """The first 32 bits of the fractional parts of the cube roots of the first 64 primes. FIPS 180-4 4.2.2."""
    primes, n = [], 2
    while len(primes) < 64:
        if all(n % p for p in primes):
            primes.append(n)
        n += 1
    found = []
    for p in primes:
        low, high, x = 0, (p + 1) << 32, p << 96
        while low + 1 < high:
            mid = (low + high) // 2
            low, high = (mid, high) if mid**3 <= x else (low, mid)
        found.append(low & 0xFFFFFFFF)
    return found


CONSTANTS = constants()


def compress(state, data):
    rot = lambda x, n: (x >> n | x << (32 - n)) & 0xFFFFFFFF
    for i in range(0, len(data), 64):
        w = [int.from_bytes(data[j:j + 4], "big") for j in range(i, i + 64, 4)]
        for t in range(16, 64):
            s0 = rot(w[t - 15], 7) ^ rot(w[t - 15], 18) ^ w[t - 15] >> 3
            s1 = rot(w[t - 2], 17) ^ rot(w[t - 2], 19) ^ w[t - 2] >> 10
            w.append((w[t - 16] + s0 + w[t - 7] + s1) & 0xFFFFFFFF)
        a, b, c, d, e, f, g, h = state
        for t in range(64):
            t1 = h + (rot(e, 6) ^ rot(e, 11) ^ rot(e, 25)) + (e & f ^ ~e & 0xFFFFFFFF & g) + CONSTANTS[t] + w[t]
            t2 = (rot(a, 2) ^ rot(a, 13) ^ rot(a, 22)) + (a & b ^ a & c ^ b & c)
            a, b, c, d, e, f, g, h = (t1 + t2) & 0xFFFFFFFF, a, b, c, (d + t1) & 0xFFFFFFFF, e, f, g
        state = [(x + y) & 0xFFFFFFFF for x, y in zip(state, (a, b, c, d, e, f, g, h))]
    return state


def sha224_file():
    lines = []
    dump = lambda state: b"".join(x.to_bytes(4, "big") for x in state)
    others = [(rand(n), None) for n in (1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 200, 256, 1000)]
    for data, published in PUBLISHED_DIGESTS + others:
        want = hashlib.sha224(data).hexdigest()
        padded = data + b"\x80" + bytes((-len(data) - 9) % 64) + (len(data) * 8).to_bytes(8, "big")
        assert dump(compress(INITIAL, padded)).hex()[:56] == want and published in (None, want)
        lines.append(["sha224", hx(data), want])
    for blocks in (1, 2, 0, 3, 1, 4, 5, 1, 2, 16):
        data = rand(blocks * 64)
        state = INITIAL if blocks == 1 else [int.from_bytes(rand(4), "big") for _ in INITIAL]
        lines.append(["sha224-part", hx(dump(state)), hx(data), hx(dump(compress(state, data)))])
    for key, data, tag in PUBLISHED_MACS:
        assert hmac_mod.new(key, data, "sha224").hexdigest() == tag
        lines.append(["hmac-sha224", hx(key), hx(data), tag])
    for at, (key_len, size) in enumerate(((28, 0), (64, 55), (65, 56), (20, 63), (1, 64), (130, 120), (32, 300))):
        key, data = rand(key_len), rand(size)
        tag = hmac_mod.new(key, data, "sha224").digest()
        lines.append(["hmac-sha224", hx(key), hx(data), hx(tag[:14] if at % 4 == 3 else tag)])
    write("sha224.txt", ["FIPS 180 examples and RFC 4231 4.2 and 4.3 first, the rest by Python's hashlib and hmac. Chaining",
                         "states by a plain transcription of FIPS 180-4, which is checked against every digest.",
                         "sha224 message value", "sha224-part state blocks state", "hmac-sha224 key message tag"], lines)


# ECDH -----------------------------------------------------------------------------------------------------------------

CURVES = {
    "p256": (ec.SECP256R1, 32, 2**256 - 2**224 + 2**192 + 2**96 - 1,
             0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
    "p384": (ec.SECP384R1, 48, 2**384 - 2**128 - 2**96 + 2**32 - 1,
             0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973),
}
# Scalar, peer's x and y, secret.
PUBLISHED = {
    "p256": [
        # RFC 5903 8.1, from both sides
        ("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433",
         "d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63",
         "56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab",
         "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"),
        ("c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53",
         "dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180",
         "5271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3",
         "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de"),
        # NIST CAVP, KAS_ECC_CDH_PrimitiveTest, P-256, count 0
        ("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534",
         "700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287",
         "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac",
         "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"),
    ],
    "p384": [
        # RFC 5903 8.2, from both sides
        ("099f3c7034d4a2c699884d73a375a67f7624ef7c6b3c0f160647b67414dce655e35b538041e649ee3faef896783ab194",
         "e558dbef53eecde3d3fccfc1aea08a89a987475d12fd950d83cfa41732bc509d0d1ac43a0336def96fda41d0774a3571",
         "dcfbec7aacf3196472169e838430367f66eebe3c6e70c416dd5f0c68759dd1fff83fa40142209dff5eaad96db9e6386c",
         "11187331c279962d93d604243fd592cb9d0a926f422e47187521287e7156c5c4d603135569b9e9d09cf5d4a270f59746"),
        ("41cb0779b4bdb85d47846725fbec3c9430fab46cc8dc5060855cc9bda0aa2942e0308312916b8ed2960e4bd55a7448fc",
         "667842d7d180ac2cde6f74f37551f55755c7645c20ef73e31634fe72b4c55ee6de3ac808acb4bdb4c88732aee95f41aa",
         "9482ed1fc0eeb9cafc4984625ccfc23f65032149e0e144ada024181535a0f38eeb9fcff3c2c947dae69b4c634573a81c",
         "11187331c279962d93d604243fd592cb9d0a926f422e47187521287e7156c5c4d603135569b9e9d09cf5d4a270f59746"),
        # NIST CAVP, KAS_ECC_CDH_PrimitiveTest, P-384, count 0
        ("3cc3122a68f0d95027ad38c067916ba0eb8c38894d22e1b15618b6818a661774ad463b205da88cf699ab4d43c9cf98a1",
         "a7c76b970c3b5fe8b05d2838ae04ab47697b9eaf52e764592efda27fe7513272734466b400091adbf2d68c58e0c50066",
         "ac68f19f2e1cb879aed43a9969b91a0839c4c38a49749b661efedf243451915ed0905a32b060992b468c64766fc8437a",
         "5f9d29dc5e31a163060356213669c8ce132e22f57c9a04f40ba7fcead493b457e5621e766c40a2e3d4d6a04b25e533f1"),
    ],
}


def ecdh_file():
    lines = []
    for curve, (cls, width, prime, order) in CURVES.items():
        num = lambda x: x.to_bytes(width, "big")
        encode = lambda public: public.public_bytes(serialization.Encoding.X962,
                                                    serialization.PublicFormat.UncompressedPoint)
        derive = lambda s, point: ec.derive_private_key(s, cls()).exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(cls(), point))
        for scalar, x, y, secret in PUBLISHED[curve]:
            point = bytes.fromhex("04" + x + y)
            assert derive(int(scalar, 16), point).hex() == secret, (curve, scalar)
            lines.append([curve, scalar, hx(point), secret])
        base = encode(ec.derive_private_key(1, cls()).public_key())
        peers = [encode(ec.derive_private_key(rng.randrange(1, order), cls()).public_key()) for _ in range(5)] + [base]
        scalars = [1, order - 1, 2] + [rng.randrange(1, order) for _ in range(3)]
        for s, point in zip(scalars, peers):
            lines.append([curve, hx(num(s)), hx(point), hx(derive(s, point))])
        # The point whose x is zero: y is a root of b.
        b = {"p256": 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
             "p384": 0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF}[curve]
        root = pow(b, (prime + 1) // 4, prime)
        assert root * root % prime == b
        zero_x = b"\4" + num(0) + num(root)
        lines.append([curve, hx(num(scalars[4])), hx(zero_x), hx(derive(scalars[4], zero_x))])
        lines.append([curve, hx(num(1)), hx(zero_x), hx(num(0))])
        assert derive(1, zero_x) == num(0)
        x, y = peers[0][1:1 + width], peers[0][1 + width:]
        bad = [
            b"\4" + x + num(int.from_bytes(y, "big") ^ 1),  # not on the curve
            b"\4" + y + x,
            bytes(1 + 2 * width),  # all zeros
            b"\4" + bytes(2 * width),
            b"\4" + num(prime) + num(root),  # x not below p, though congruent to the point with x = 0
            b"\4" + b"\xff" * (2 * width),
            bytes([6 + y[-1] % 2]) + x + y,  # the hybrid form
            bytes([2 + y[-1] % 2]) + x + y,
        ]
        for s, point in zip(scalars * 2, bad):
            lines.append([f"{curve}-bad", hx(num(s)), hx(point)])
    write("ecdh.txt", ["RFC 5903 8.1 and 8.2 and NIST CAVP's KAS_ECC_CDH_PrimitiveTest (count 0) first, the rest by OpenSSL.",
                       "The last good points have the x-coordinate zero.", "curve scalar point secret",
                       "curve-bad scalar point"], lines)


sha224_file()
ecdh_file()
