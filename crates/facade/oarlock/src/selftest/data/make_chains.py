#!/usr/bin/env python3
"""Writes ctr.txt, chacha.txt, chacha-ssh.txt, hmac.txt and chain.txt. Needs pyca/cryptography.

Published vectors are typed in below and checked while writing. Ciphers are those of OpenSSL by pyca/cryptography, HMAC is
Python's. Padding, the order of cipher and MAC, and the SSH form of ChaCha20-Poly1305 are composed here from the
documents: RFC 5246 6.2.3.2, RFC 7366, RFC 4253 6.4, draft-ietf-sshm-chacha20-poly1305.
"""
import hashlib, hmac as hmac_mod, os, random, struct

from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.poly1305 import Poly1305

HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random("oarlock chains")
rand = rng.randbytes
hx = lambda b: b.hex() or "-"
un = lambda text: bytes.fromhex(text.replace(" ", ""))
flip = lambda b, at: b[:at] + bytes([b[at] ^ 1]) + b[at + 1:]


def write(name, head, lines):
    with open(f"{HERE}/{name}", "w") as f:
        f.write("".join(f"# {h}\n" for h in head) + "".join(" ".join(l) + "\n" for l in lines))


def crypt(cipher, key, iv, data, decrypts=False):
    alg, mode = cipher.split("-")
    algorithm = TripleDES(key) if alg == "tdes3" else algorithms.AES(key)
    made = Cipher(algorithm, modes.CBC(iv) if mode == "cbc" else modes.CTR(iv))
    run = made.decryptor() if decrypts else made.encryptor()
    return run.update(data) + run.finalize()


# CTR ------------------------------------------------------------------------------------------------------------------

def ctr_file():
    lines = []
    plain = un("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
               "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
    counter = un("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    for bits, key, sealed in (
            (128, "2b7e151628aed2a6abf7158809cf4f3c",
             "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
             "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"),
            (256, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
             "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
             "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6")):
        assert crypt(f"aes{bits}-ctr", un(key), counter, plain) == un(sealed)
        lines.append([f"aes{bits}-ctr", key, hx(counter), hx(plain), sealed])
        # Counters whose carry runs through 4, 8, 12 and all 16 bytes.
        for count, size in ((4, 100), (8, 33), (12, 1), (16, 200), (1, 17), (0, 48)):
            key, iv, data = rand(bits // 8), rand(16 - count) + b"\xff" * count, rand(size)
            lines.append([f"aes{bits}-ctr", hx(key), hx(iv), hx(data), hx(crypt(f"aes{bits}-ctr", key, iv, data))])
    write("ctr.txt", ["SP 800-38A F.5.1 and F.5.5 first, the rest by OpenSSL; counters that carry through 4 to 16 bytes.",
                      "cipher key counter plaintext ciphertext"], lines)


# ChaCha20-Poly1305 ----------------------------------------------------------------------------------------------------

def chacha_file():
    lines = []
    key = un("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")
    iv, aad = un("070000004041424344454647"), un("50515253c0c1c2c3c4c5c6c7")
    plain = (b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
             b"would be it.")
    sealed = ChaCha20Poly1305(key).encrypt(iv, plain, aad)
    assert sealed[-16:] == un("1ae10b594f09e26a7e902ecbd0600691") and sealed[:8] == un("d31a8d34648e60db")
    lines.append(["good"] + [hx(x) for x in (key, iv, aad, plain, sealed[:-16], sealed[-16:])])
    for at, size in enumerate((40, 0, 1, 15, 16, 17, 63, 64, 65, 255, 256, 257, 600)):
        key, iv, aad, plain = rand(32), rand(12), rand((0, 13, 5, 16, 33)[at % 5]), rand(size)
        sealed = ChaCha20Poly1305(key).encrypt(iv, plain, aad)
        sealed, tag = sealed[:-16], sealed[-16:]
        lines.append(["good"] + [hx(x) for x in (key, iv, aad, plain, sealed, tag)])
        if size in (0, 16, 65, 600):
            bad = (sealed, flip(tag, at)) if size in (0, 65) else (flip(sealed, size - 1), tag)
            lines.append(["bad"] + [hx(x) for x in (key, iv, aad)] + ["-"] + [hx(x) for x in bad])
    write("chacha.txt", ["RFC 8439 2.8.2 first, the rest by OpenSSL.", "good key iv aad plaintext ciphertext tag",
                         "bad key iv aad - ciphertext tag"], lines)


def chacha20(key, counter, nonce, data):
    # OpenSSL's ChaCha20 takes the counter and the nonce of 8 bytes each, as the original cipher.
    run = Cipher(algorithms.ChaCha20(key, struct.pack("<Q", counter) + nonce), None).encryptor()
    return run.update(data)


def seal_ssh(key, nonce, length, packet):
    main, header = key[:32], key[32:]
    sealed = chacha20(header, 0, nonce, length) + chacha20(main, 1, nonce, packet)
    return sealed, Poly1305.generate_tag(chacha20(main, 0, nonce, bytes(32)), sealed)


def chacha_ssh_file():
    lines = []
    for at, size in enumerate((40, 0, 4, 8, 16, 60, 64, 124, 128, 256, 511, 700)):
        key, nonce, packet = rand(64), struct.pack(">Q", (at, 3, 2**32 - 1, 2**63)[at % 4]), rand(size)
        length = struct.pack(">I", size)
        sealed, tag = seal_ssh(key, nonce, length, packet)
        lines.append(["good", hx(key), hx(nonce), "-", hx(length + packet), hx(sealed), hx(tag)])
        if size in (0, 16, 64, 700):
            bad = (sealed, flip(tag, at)) if size in (0, 64) else (flip(sealed, at % 5), tag)
            lines.append(["bad", hx(key), hx(nonce), "-", "-", hx(bad[0]), hx(bad[1])])
    write("chacha-ssh.txt", ["Composed of OpenSSL's ChaCha20 and Poly1305. The key is the main key and then the header key.",
                             "good key sequence-number - length-and-packet ciphertext tag",
                             "bad key sequence-number - - ciphertext tag"], lines)


# HMAC and chains ------------------------------------------------------------------------------------------------------

def hmac_file():
    lines = []
    for name, hi, jefe in (
            ("sha384", "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
             "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649"),
            ("sha512", "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4"
             "be9d914eeb61f1702e696c203a126854",
             "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd"
             "caeab1a34d4a6b4b636e070a38bce737")):
        for key, data, tag in ((b"\x0b" * 20, b"Hi There", hi), (b"Jefe", b"what do ya want for nothing?", jefe)):
            assert hmac_mod.new(key, data, name).hexdigest() == tag
            lines.append([f"hmac-{name}", hx(key), hx(data), tag])
        for at, (key_len, size) in enumerate(((64, 0), (128, 111), (129, 112), (20, 127), (1, 128), (200, 240), (48, 300))):
            key, data = rand(key_len), rand(size)
            tag = hmac_mod.new(key, data, name).digest()
            lines.append([f"hmac-{name}", hx(key), hx(data), hx(tag[:len(tag) // 2] if at % 4 == 3 else tag)])
    write("hmac.txt", ["RFC 4231 4.2 and 4.3 first, the rest by Python's hmac. Every fourth tag is cut to half.",
                       "mac key message tag"], lines)


def pad(cipher, data, extra=0):
    block = 8 if cipher.startswith("tdes3") else 16
    count = block - len(data) % block + extra * block
    return data + bytes([count - 1]) * count


def mte(cipher, mac, keys, iv, aad, plain, extra=0):
    tag = hmac_mod.new(keys[1], aad + struct.pack(">H", len(plain)) + plain, mac).digest()
    opened = pad(cipher, plain + tag, extra)
    return crypt(cipher, keys[0], iv, opened), opened


def chain_lines(cipher, mac, order):
    name, lines = f"{cipher}-hmac-{mac}-{order}", []
    key_len = {"aes128-cbc": 16, "aes256-cbc": 32, "tdes3-cbc": 24, "aes128-ctr": 16, "aes256-ctr": 32}[cipher]
    block, tag_len = 8 if cipher.startswith("tdes3") else 16, hashlib.new(mac).digest_size
    line = lambda kind, *words: lines.append([name, kind] + [hx(word) for word in words])
    for at, size in enumerate((48, 0, 13, 150)):
        keys = (rand(key_len), rand((tag_len, 70, tag_len, 150)[at]))
        iv = rand(block)
        if order == "mte":
            aad, plain = struct.pack(">Q", at) + b"\x17\x03\x03", rand(size)
            sealed, opened = mte(cipher, mac, keys, iv, aad, plain)
            line("good", *keys, iv, aad, plain, sealed, opened)
            if at == 2:
                # A peer may pad up to 255 bytes and the byte of their count. Opening must accept it.
                for extra in (1, 240 // block):
                    sealed, opened = mte(cipher, mac, keys, iv, aad, plain, extra)
                    line("long", *keys, iv, aad, b"", sealed, opened)
                    for wrong in (0, len(opened) - 2, len(plain)):
                        if wrong > len(plain) + tag_len or extra == 1:
                            line("bad", *keys, iv, aad, b"", crypt(cipher, keys[0], iv, flip(opened, wrong)), b"")
            if at == 0:
                # A padding that is longer than the record, and one that leaves no room for the MAC.
                for last in (255, len(opened) - tag_len):
                    forged = opened[:-1] + bytes([last])
                    line("bad", *keys, iv, aad, b"", crypt(cipher, keys[0], iv, forged), b"")
                line("bad", *keys, iv, flip(aad, 7), b"", sealed, b"")
            continue
        if cipher.endswith("cbc"):
            size = size // block * block
        aad, plain = rand((4, 12, 0, 29)[at]), rand(size)
        sealed = crypt(cipher, keys[0], iv, plain)
        covered = sealed if order == "etm" else plain
        tag = hmac_mod.new(keys[1], aad + covered, mac).digest()[:(tag_len, 12, tag_len, 16)[at]]
        line("good", *keys, iv, aad, plain, sealed, tag)
        if at == 0:
            line("bad", *keys, iv, aad, b"", flip(sealed, 20), tag)
            line("bad", *keys, iv, aad, b"", sealed, flip(tag, len(tag) - 1))
        if at == 1:
            line("bad", *keys, iv, flip(aad, 3), b"", sealed, tag)
    return lines


def chain_file():
    lines = []
    for order in ("mte", "etm", "eam"):
        for cipher in ("tdes3-cbc", "aes128-cbc", "aes128-ctr", "aes256-cbc", "aes256-ctr"):
            if order == "mte" and cipher.endswith("ctr"):
                continue
            for mac in ("sha1", "sha256", "sha512"):
                lines += chain_lines(cipher, mac, order)
    write("chain.txt", ["TLS records in CBC mode, and cipher and MAC with a detached tag, composed of OpenSSL's ciphers and "
                        "Python's hmac.", "The last column is the tag, or in the order mte all decrypted bytes.",
                        "chain good key mac-key iv aad plaintext ciphertext tag-or-opened",
                        "chain long: good for opening only, with a padding of more than one block",
                        "chain bad key mac-key iv aad - ciphertext tag-or-opened"], lines)


ctr_file()
chacha_file()
chacha_ssh_file()
hmac_file()
chain_file()
