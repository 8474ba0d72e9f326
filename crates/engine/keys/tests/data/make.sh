#!/bin/sh
# Makes the test keys anew with OpenSSL 3 (the passphrase is `secret`). The files are kept: run this for new ones only.
set -eu
cd "$(dirname "$0")"
pass="-passout pass:secret"

for bits in 512 1024 1025 1536 2048 3072 4096 8192; do openssl genrsa -out rsa$bits.pem $bits; done
rsa="openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048"
$rsa -pkeyopt rsa_keygen_pubexp:3 -out rsa2048-e3.pem
$rsa -pkeyopt rsa_keygen_primes:3 -out rsa2048-multiprime.pem
openssl genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out rsa-pss2048.pem
openssl pkey -in rsa2048.pem -pubout -out rsa2048-spki.pem
openssl rsa -in rsa2048.pem -traditional -out rsa2048-pkcs1.pem
openssl rsa -in rsa2048.pem -RSAPublicKey_out -out rsa2048-pkcs1-public.pem
openssl rsa -in rsa2048.pem -traditional -aes128 $pass -out rsa2048-legacy-encrypted.pem
openssl rsa -in rsa2048.pem -text > rsa2048-with-text.pem
openssl pkcs8 -topk8 -in rsa2048.pem $pass -out rsa2048-pbes2-default.pem

for pair in p256:prime256v1 p384:secp384r1; do
    name=${pair%%:*} curve=${pair##*:}
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:$curve -out $name.pem
    openssl ecparam -name $curve -genkey -out $name-sec1.pem
    openssl pkey -in $name.pem -pubout -out $name-spki.pem
    openssl ec -in $name.pem -conv_form compressed -out $name-compressed-sec1.pem
    openssl ec -in $name.pem -conv_form compressed -pubout -out $name-compressed-spki.pem
done
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -pkeyopt ec_param_enc:explicit -out p256-explicit.pem
openssl ecparam -name secp521r1 -genkey -noout -out p521-sec1.pem
openssl ec -in p256.pem -no_public -out p256-nopublic-sec1.pem
sed 's/$/\r/' p256.pem > p256-crlf.pem
openssl req -x509 -new -key p256.pem -subj /CN=test -days 36500 -out certificate.pem

for name in ed25519 x25519; do
    openssl genpkey -algorithm $name -out $name.pem
    openssl pkey -in $name.pem -pubout -out $name-spki.pem
done
openssl genpkey -algorithm ed448 -out ed448.pem
openssl pkcs8 -topk8 -in ed25519.pem $pass -scrypt -out ed25519-pbes2-scrypt.pem

p256="openssl pkcs8 -topk8 -in p256.pem $pass"
$p256 -out p256-pbes2-default.pem
$p256 -scrypt -out p256-pbes2-scrypt.pem
$p256 -v2 aes-128-cbc -v2prf hmacWithSHA1 -out p256-pbes2-sha1-aes128.pem
$p256 -v2 aes-192-cbc -v2prf hmacWithSHA512 -out p256-pbes2-sha512-aes192.pem
$p256 -v2 aes-256-cbc -v2prf hmacWithSHA384 -out p256-pbes2-sha384-aes256.pem
$p256 -v2 des3 -out p256-pbes2-des3.pem
$p256 -v1 PBE-SHA1-3DES -out p256-pbes1.pem
$p256 -iter 50000000 -out p256-pbes2-costly.pem
