#!/bin/sh
# Fills corpus/keys_* from the test keys: PEM for the text targets, the DER within for the others; and corpus/lanes_* with
# a start for each shape. Needs openssl.
set -eu
cd "$(dirname "$0")"
data=../crates/keys/tests/data

for name in any pem pkcs8 encrypted_pkcs8 pkcs1 sec1 spki raw; do mkdir -p corpus/keys_$name; done

der() { # FILE LABEL: the DER of the block with that label
    sed -n "/-----BEGIN $2-----/,/-----END $2-----/p" "$1" | grep -v -- '-----' | tr -d '\r\n' | openssl base64 -d -A
}

for file in "$data"/*.pem; do
    name=$(basename "$file" .pem)
    cp "$file" "corpus/keys_any/$name.pem"
    cp "$file" "corpus/keys_pem/$name.pem"
    label=$(sed -n 's/\r$//; /PARAMETERS/d; s/^-----BEGIN \(.*\)-----$/\1/p' "$file" | head -n 1)
    case $label in
    "PRIVATE KEY") target=pkcs8 ;;
    "ENCRYPTED PRIVATE KEY") target=encrypted_pkcs8 ;;
    "RSA PRIVATE KEY" | "RSA PUBLIC KEY") target=pkcs1 ;;
    "EC PRIVATE KEY") target=sec1 ;;
    "PUBLIC KEY") target=spki ;;
    *) continue ;;
    esac
    der "$file" "$label" > "corpus/keys_$target/$name.der"
    cp "corpus/keys_$target/$name.der" "corpus/keys_any/$name.der"
done

# Bare bytes: the first byte says what the rest are.
for pair in ed25519:'\002' x25519:'\004'; do
    { printf "${pair##*:}"; der "$data/${pair%%:*}.pem" "PRIVATE KEY" | tail -c 32; } > "corpus/keys_raw/${pair%%:*}"
done
{ printf '\001'; der "$data/p256-spki.pem" "PUBLIC KEY" | tail -c 65; } > corpus/keys_raw/p256-point
{ printf '\001'; der "$data/p256-compressed-spki.pem" "PUBLIC KEY" | tail -c 33; } > corpus/keys_raw/p256-compressed
{ printf '\201'; der "$data/p384-compressed-spki.pem" "PUBLIC KEY" | tail -c 49; } > corpus/keys_raw/p384-compressed

# The first byte names a shape; then groups of four choose how, a key, an input and halves of a signature.
mkdir -p corpus/lanes_public_key
for shape in $(seq 0 23); do
    for how in 0 1 2 4 8 12; do
        octal=$(printf '%03o' "$shape")
        jobs=$(for job in $(seq 1 9); do printf '\\%03o\\%03o\\%03o\\%03o' "$how" "$job" $((job * 5)) $((job * 7)); done)
        printf "\\$octal$jobs" > "corpus/lanes_public_key/shape-$shape-$how"
    done
done
