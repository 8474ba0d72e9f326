#!/usr/bin/env python3
"""Writes ml-kem.txt and ml-dsa.txt from Project Wycheproof's files: make_lattice.py FOLDER_OF_TESTVECTORS_V1."""

import json
import pathlib
import sys

KEM = """# ML-KEM, FIPS 203: seed and encapsulation key; encapsulation key, random bytes, ciphertext and secret; seed, ciphertext
# and secret. The first and the last decapsulation of each set are of ciphertexts that were not made for the key. From
# Project Wycheproof, testvectors_v1.
"""
DSA = """# ML-DSA, FIPS 204: seed, message representative, random bytes and signature. From Project Wycheproof, testvectors_v1.
"""
folder = pathlib.Path(sys.argv[1])
here = pathlib.Path(__file__).parent


def valid(name):
    for group in json.loads((folder / name).read_text())["testGroups"]:
        for test in group["tests"]:
            if test["result"] == "valid":
                yield {**group, **test}


lines = []
for bits in (512, 768, 1024):
    tests = list(valid(f"mlkem_{bits}_keygen_seed_test.json"))
    for test in (*tests[:3], tests[-1]):
        lines.append(f"ml-kem-{bits}-keygen {test['seed']} {test['ek']}")
    tests = list(valid(f"mlkem_{bits}_encaps_test.json"))
    for test in (*tests[:3], tests[-1]):
        lines.append(f"ml-kem-{bits}-encaps {test['ek']} {test['m']} {test['c']} {test['K']}")
    tests = list(valid(f"mlkem_{bits}_test.json"))
    first = next(test for test in tests if "Strcmp" in test["flags"])
    good = [test for test in tests if not test.get("flags")]
    last = next(test for test in reversed(tests) if "MalleableCiphertext" in test["flags"])
    for test in (first, good[0], good[-1], last):
        lines.append(f"ml-kem-{bits}-decaps {test['seed']} {test['c']} {test['K']}")
(here / "ml-kem.txt").write_text(KEM + "\n".join(lines) + "\n")

lines = []
for level in (44, 65, 87):
    tests = [test for test in valid(f"mldsa_{level}_sign_seed_test.json") if test.get("mu")]
    other = next(test for test in reversed(tests) if test["privateSeed"] != tests[0]["privateSeed"])
    hedged = next(test for test in tests if test.get("rnd", "00").strip("0"))
    for test in (tests[0], other, hedged, tests[1]):
        random = test.get("rnd", 32 * "00")
        lines.append(f"ml-dsa-{level} {test['privateSeed']} {test['mu']} {random} {test['sig']}")
(here / "ml-dsa.txt").write_text(DSA + "\n".join(lines) + "\n")
