#!/bin/sh
# Fills corpus/keys_* from the test keys: PEM for the text targets, the DER within for the others; and corpus/lanes_* with
# a start for each shape; and corpus/records_*, mail_mbox, dns_keys_file and sealed_file with small files. Needs openssl.
set -eu
cd "$(dirname "$0")"
data=../crates/engine/keys/tests/data

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

# Seeds of ML-KEM-768 and ML-DSA-44, and a public key of SLH-DSA-SHA2-128s.
{ printf '\030'; head -c 64 /dev/zero; } > corpus/keys_raw/ml-kem-768-seed
{ printf '\013'; head -c 32 /dev/zero; } > corpus/keys_raw/ml-dsa-44-seed
{ printf '\017'; head -c 32 /dev/zero; } > corpus/keys_raw/slh-dsa-public

# ML-KEM-768 and ML-DSA-44 as their seeds in PKCS#8.
{ printf '\060\124\002\001\000\060\013\006\011\140\206\110\001\145\003\004\004\002\004\102\200\100'; head -c 64 /dev/zero; } \
    > corpus/keys_pkcs8/ml-kem-768.der
{ printf '\060\064\002\001\000\060\013\006\011\140\206\110\001\145\003\004\003\021\004\042\200\040'; head -c 32 /dev/zero; } \
    > corpus/keys_pkcs8/ml-dsa-44.der

# A threshold key and its first share, dealt once from a key of 512 bits.
mkdir -p corpus/keys_threshold
for pair in key:'THRESHOLD KEY' share:'SHARE'; do
    file="$data/threshold/${pair%%:*}512.pem"
    cp "$file" corpus/keys_threshold/
    der "$file" "OARLOCK RSA ${pair##*:}" > "corpus/keys_threshold/${pair%%:*}.der"
done

# A key at a server, with and without its public half.
mkdir -p corpus/keys_reference
for name in full named; do
    cp "$data/reference/$name.pem" corpus/keys_reference/
    der "$data/reference/$name.pem" "OARLOCK KEY REFERENCE" > "corpus/keys_reference/$name.der"
done
printf 'oarlock:caf%%C3%%A9' > corpus/keys_reference/uri

mkdir -p corpus/hsm_uri
printf 'pkcs11:token=mail;object=key%%201;id=%%01%%ff;type=private?module-path=/usr/lib/p11.so&pin-source=file:/etc/pin' \
    > corpus/hsm_uri/full

mkdir -p corpus/keys_bind
cp "$data"/bind/*.private corpus/keys_bind/

# The first byte says whether the file is a private key or a DNSKEY.
mkdir -p corpus/dnssec_key_times
{ printf '\000'; cat "$data/bind/rsasha256.private"; } > corpus/dnssec_key_times/private
printf '\001; This is a key-signing key, keyid 24538, for example.com.\n; Publish: 20261130204425 (Mon Nov 30 20:44:25 2026)\n; SyncDelete: 21060207062815\nexample.com. IN DNSKEY 257 3 13 AAAA\n' \
    > corpus/dnssec_key_times/public

# The first byte names a shape; then groups of four choose how, a key, an input and halves of a signature.
mkdir -p corpus/lanes_public_key
for shape in $(seq 0 23); do
    for how in 0 1 2 4 8 12; do
        octal=$(printf '%03o' "$shape")
        jobs=$(for job in $(seq 1 9); do printf '\\%03o\\%03o\\%03o\\%03o' "$how" "$job" $((job * 5)) $((job * 7)); done)
        printf "\\$octal$jobs" > "corpus/lanes_public_key/shape-$shape-$how"
    done
done

# Files with quotes, ends of lines of both kinds, spaces and escapes.
mkdir -p corpus/records_csv corpus/records_ndjson corpus/records_keys
printf 'id,v,w\n1,0011,x\n2,"2233","a ""b"""\n' > corpus/records_csv/plain
printf 'v\r\n\r\n00\r\n"11\n22"\r\n"33"x\r\n44' > corpus/records_csv/crlf
printf '"v"\n"' > corpus/records_csv/open
printf '{"v":"0011","w":[1,{}]}\n{ "w" : null , "v" : "\\u0030\\u0031" }\n' > corpus/records_ndjson/plain
printf '{"v":"0011"}\r\n{}\n{"v":1}\n{"v":"0","v":"0"}' > corpus/records_ndjson/bad
printf '{"name":"a","type":"tdes2","hex":"0123456789abcdeffedcba9876543210","ivs":["random"],"max_uses":7}\n' > corpus/records_keys/tdes2
printf '{"type":"aes128","base64":"AAECAwQFBgcICQoLDA0ODw==","operations":["mac"],"weak_keys":"allow"}\n' > corpus/records_keys/aes128

# Files sealed with age: those of the published vectors that are stored as they are, without their heads.
mkdir -p corpus/sealed_file
for file in ../crates/io/key-files/tests/data/age/*; do
    grep -aq '^compressed: ' "$file" || sed '1,/^$/d' "$file" > "corpus/sealed_file/$(basename "$file")"
done
printf '# server 1\nage1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj\n' > corpus/sealed_file/recipients
printf 'AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33\n' > corpus/sealed_file/identity

# A message as Postfix sends it, and the replies to one. The first byte says how many bytes come at a time.
mkdir -p corpus/milter_frames
frame() { # BYTES: with their length before them; escapes are printf's
    len=$(printf -- "$1" | wc -c)
    printf "\\000\\000\\$(printf '%03o' $((len / 256)))\\$(printf '%03o' $((len % 256)))$1"
}
{
    printf '\007'
    frame 'O\000\000\000\006\000\000\001\377\000\037\377\377'
    frame 'DCj\000mx\000'
    frame 'Cmx\0004\000\031192.0.2.1\000'
    frame 'Hmx\000'
    frame 'M<a@b>\000SIZE=1\000'
    frame 'R<c@d>\000'
    frame 'T'
    frame 'DLi\0004XYZ\000'
    frame 'LSubject\000 hello\000'
    frame 'N'
    frame 'Bhello\r\n'
    frame 'E'
    frame 'A'
    frame 'K'
    frame 'Cmx\000U'
    frame 'Uxyzzy\000'
    frame 'Q'
} > corpus/milter_frames/message
{
    printf '\001'
    for reply in p 'hA\000b\000' 'i\000\000\000\001A\000b\000' 'm\000\000\000\001A\000\000' '+<a>\000' '2<a>\000B\000' '-<a>\000' 'e<a>\000' \
        'bbody' 'qodd\000' 'y550 5.7.1 no\000' a c d f r s t 4; do
        frame "$reply"
    done
} > corpus/milter_frames/replies

# Separators, quoting, empty messages and both ends of lines; records in each form.
mkdir -p corpus/mail_mbox corpus/dns_keys_file
printf 'From a\nA: 1\n\nFrom x\n>From y\n\nFrom b\n\n\nFrom c\n>>From z\n' > corpus/mail_mbox/lf
printf 'From a\r\nA: 1\r\n\r\nx\n\r\n\r\nFrom b\r\n\r\n' > corpus/mail_mbox/crlf
printf 'A: 1\r\nB: 2\n\nx\r' > corpus/mail_mbox/mixed
printf '$ORIGIN example.com.\n$TTL 1d\ns._domainkey 300 IN TXT ( "v=DKIM1; " ; x\n "p=\\065\\;" )\n TXT b # y\n' > corpus/dns_keys_file/zone
printf 's._domainkey.b\303\274cher.example = v=DKIM1; p=AA\ns.a "x\\"y" "z"\n' > corpus/dns_keys_file/plain

# Settings and tables of OpenDKIM, with zeros between the files.
mkdir -p corpus/milter_tables
printf 'Mode sv\nInternalHosts 10.0.0.0/8,!::1\nMultipleSignatures yes\nOn-Default t\n\0k example.com:s:/k # x\nany %%:s2:/%%\n\0*@example.com k\nboss@example.com any:joe@%%\n*@*.example.com k\n* %%\n' > corpus/milter_tables/opendkim
printf 'example.com s1 k until=2026-07-01\n*.example.com s2 k test domain=a.example identity=@a.example from=2026-07-01T12:00:00Z\n' > corpus/milter_tables/own

# A signed message with an ARC set, key records, and bodies with every kind of white space.
mkdir -p corpus/dkim_message corpus/dkim_record corpus/dkim_canon
printf 'DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/simple; d=example.com;\r\n\ts=s; h=from : to; t=5; x=6; l=3; i=@example.com; bh=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=;\r\n\tb=aGVs\r\n bG8=\r\nAuthentication-Results: (x) mx.example.net; dkim=pass\r\nFrom: a@example.com\r\n\r\nhi\r\n' > corpus/dkim_message/signed
printf 'ARC-Seal: i=1; a=rsa-sha256; cv=none; d=a.example; s=s; b=aGVsbG8=\r\nARC-Message-Signature: i=1; a=rsa-sha256; d=a.example; s=s; h=from; bh=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=; b=aGVsbG8=\r\nARC-Authentication-Results: i=1; mx.example; none\r\nFrom: a\r\n\r\n' > corpus/dkim_message/arc
printf 'v=DKIM1; k=ed25519; t=y:s; h=sha256; s=email; n=note; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' > corpus/dkim_record/ed25519
printf 'v=DKIM1; p=' > corpus/dkim_record/revoked
printf '\003a \t b \r\n\r\n \t\r\n c\r\r\n\nd' > corpus/dkim_canon/spaces
printf '\100%%0200d  \r\n\r\n' 0 > corpus/dkim_canon/long

# A capture of one query in each format, frames of dnstap, and a log. The first byte of the latter says how many bytes come at a time.
mkdir -p corpus/capture corpus/dnstap
packet='\105\000\000\055\000\000\000\000\100\021\000\000\300\000\002\001\300\000\002\002\234\100\000\065\000\031\000\000\000\007\001\000\000\001\000\000\000\000\000\000\000\000\002\000\001'
printf '\324\303\262\241\002\000\004\000\000\000\000\000\000\000\000\000\000\000\004\000\145\000\000\000\001\000\000\000\002\000\000\000\055\000\000\000\055\000\000\000'"$packet" > corpus/capture/pcap
{
    printf '\012\015\015\012\034\000\000\000\115\074\053\032\001\000\000\000\377\377\377\377\377\377\377\377\034\000\000\000'
    printf '\001\000\000\000\034\000\000\000\145\000\000\000\000\000\000\000\011\000\001\000\011\000\000\000\034\000\000\000'
    printf '\006\000\000\000\120\000\000\000\000\000\000\000\000\000\000\000\001\000\000\000\055\000\000\000\055\000\000\000'"$packet"'\000\000\000\120\000\000\000'
} > corpus/capture/pcapng
printf '[1700000000] unbound[1:0] info: 192.0.2.1 example.com. A IN\n' > corpus/capture/log
{
    printf '\000\000\000\000\000\000\000\042\000\000\000\002\000\000\000\001\000\000\000\026protobuf:dnstap.Dnstap'
    printf '\000\000\000\026\162\022\010\005\100\001\122\014\000\007\001\000\000\000\000\000\000\000\000\000\170\001'
    printf '\000\000\000\000\000\000\000\004\000\000\000\003'
} > corpus/capture/dnstap
{ printf '\002'; cat corpus/capture/dnstap; } > corpus/dnstap/stream

# A response with a signature whose owner is a pointer.
mkdir -p corpus/dnssec_message
printf '\000\001\204\000\000\001\000\001\000\000\000\000\003www\000\000\001\000\001\300\014\000\056\000\001\000\000\001\054\000\024\000\001\015\001\000\000\016\020\000\000\000\011\000\000\000\001\000\007\000\001' > corpus/dnssec_message/response

# Entries in every way of writing, after a byte that says how much text comes at a time; data of a few types after their number.
mkdir -p corpus/dnssec_zone corpus/dnssec_zone_domain corpus/dnssec_rdata
printf '\007$ORIGIN a.\r\n$TTL 1h\n@ SOA ns ( ; x\n host 1 2h\n 3 4 5 )\n TXT "a\\"b" c\\;d\n$INCLUDE a b.\n$INCLUDE b\n$GENERATE 1-3/2 x${0,2,x} A 192.0.2.$\ny 1 IN TYPE1 \\# 4 c0000201\n' > corpus/dnssec_zone/entries
printf '\100a. 1 RRSIG A 13 1 1 20240229000000 1 2 a. AAAA\na. NSEC b. A TYPE1234\na. NSEC3 1 0 0 - 0p9mhaveqvm6t7vbl5lop2u3t2rp3tom A\na. LOC 1 N 2 E 3m\na. SVCB 1 . alpn="h2,h3" port=1\na. APL !1:192.0.2.0/24\na. A (\nb. 1 A\n' > corpus/dnssec_zone/types
printf 'a 1 A 192.0.2.1\n IN 2 MX 1 b.c\nB. ( TXT a\n b ) ; c\nd RRSIG A 13 1 1 20240229000000 1 2 a. AAAA\n' > corpus/dnssec_zone_domain/entries
printf '\000\001\300\000\002\001' > corpus/dnssec_rdata/a
printf '\000\057\001A\000\000\001\100' > corpus/dnssec_rdata/nsec
printf '\000\100\000\001\000\000\001\000\003\002h2\000\003\000\002\000\065' > corpus/dnssec_rdata/svcb
printf '\000\035\000\022\026\023\200\000\000\000\200\000\000\000\000\230\226\200' > corpus/dnssec_rdata/loc

# A request and a response of BIND, and the DS records of a child.
mkdir -p corpus/dnssec_ksr corpus/dnssec_dsset
cp ../crates/format/dnssec/tests/bind/dnssec-ksr.* corpus/dnssec_ksr/
printf 'sub.example.\t\tIN DS 7536 13 2 0AC36F05C809229BA14A9AA4AD0984A40B215EAE5E4D633B22091FF1 39C0D3A8\n; a comment\n 60 DS 1 13 200 ( aa\n bb )\n' > corpus/dnssec_dsset/child

# Signed zones, and zones with digests, as RFCs print them.
mkdir -p corpus/dnssec_verify
cp ../crates/format/dnssec/tests/rfc/*.zone corpus/dnssec_verify/

# A start for each suite. The first byte names the suite, the second the length of pieces, the third the byte that is
# changed; then the header of a record, or the length of a packet, and content, which the target also seals itself.
mkdir -p corpus/sockets_tls_open corpus/sockets_ssh_open
for suite in $(seq 0 15); do
    octal=$(printf '%03o' "$suite")
    printf "\\$octal\\024\\041\\027\\003\\003\\000\\100%064d" 0 > "corpus/sockets_tls_open/data-$suite"
    printf "\\$octal\\000\\005\\025\\003\\003\\000\\022%018d\\026\\003\\003\\000\\005\\030\\000\\000\\001\\001" 0 > "corpus/sockets_tls_open/alert-$suite"
done
for suite in $(seq 0 11); do
    octal=$(printf '%03o' "$suite")
    printf "\\$octal\\024\\041\\000\\000\\000\\040%096d" 0 > "corpus/sockets_ssh_open/packet-$suite"
    printf "\\$octal\\377\\003\\000\\000\\210\\271%096d" 0 > "corpus/sockets_ssh_open/long-$suite"
done

# An audit log: three bytes that change a byte of it, and its lines.
mkdir -p corpus/audit_chain
printf '\000\011\001{"time_ms":1,"event":"start","previous":"%064d"}\n{"time_ms":2,"event":"cut","count":1,"torn":"%064d"}\n' 0 0 \
    > corpus/audit_chain/two

# Headers of the PROXY protocol: both versions, with and without fields.
mkdir -p corpus/proxy_header
printf 'PROXY TCP4 192.0.2.1 198.51.100.7 56324 443\r\n' > corpus/proxy_header/v1
printf 'PROXY UNKNOWN\r\n' > corpus/proxy_header/unknown
printf '\r\n\r\n\000\r\nQUIT\n\041\021\000\024\300\000\002\001\306\063\144\007\334\004\001\273\001\000\002h2\004\000\000' \
    > corpus/proxy_header/v2
printf '\r\n\r\n\000\r\nQUIT\n\041\000\000\022\040\000\017\001\000\000\000\000\041\000\007TLSv1.3' > corpus/proxy_header/tls
printf '\r\n\r\n\000\r\nQUIT\n\040\000\000\000' > corpus/proxy_header/local
