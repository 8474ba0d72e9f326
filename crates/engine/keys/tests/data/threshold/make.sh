#!/bin/sh
# Makes the test keys of safe primes anew with OpenSSL 3 and Python. The files are kept: run this for new ones only.
set -eu
cd "$(dirname "$0")"

for bits in 512 1024 2048; do
    p=$(openssl prime -generate -safe -bits $((bits / 2)) -hex)
    q=$(openssl prime -generate -safe -bits $((bits / 2)) -hex)
    python3 - "$p" "$q" > safe$bits.conf <<'PYTHON'
import sys
p, q = sorted((int(text, 16) for text in sys.argv[1:]), reverse=True)
e = 65537
d = pow(e, -1, (p - 1) * (q - 1) // 2)
fields = [0, p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p)]
print("asn1=SEQUENCE:key\n[key]")
for at, field in enumerate(fields):
    print(f"field{at}=INTEGER:0x{field:x}")
PYTHON
    openssl asn1parse -genconf safe$bits.conf -noout -out safe$bits.der
    openssl pkey -inform DER -in safe$bits.der -out safe$bits.pem
    rm safe$bits.conf safe$bits.der
done
