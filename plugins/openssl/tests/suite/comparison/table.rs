//! The operations that are compared. `{key}`, `{}` and `{out}` stand for a key, a value of `each` and the output.

/// The files of parameters, and the arguments that make them.
pub const PARAMETERS: &[(&str, &str)] = &[
    ("curve-p384", "genpkey -genparam -algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
    ("curve-p521", "genpkey -genparam -algorithm EC -pkeyopt ec_paramgen_curve:P-521"),
    ("dsa-parameters", "genpkey -genparam -algorithm DSA -pkeyopt dsa_paramgen_bits:1024"),
];

/// The keys, and the arguments that make them.
pub const KEYS: &[(&str, &str)] = &[
    ("rsa1024", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024"),
    ("rsa1032", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1032"),
    ("rsa2048", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048"),
    ("rsa-e3", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_pubexp:3"),
    ("rsa-3primes", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_primes:3"),
    ("rsa-pss", "genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024"),
    ("p224", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-224"),
    ("p256", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
    ("p256-compressed", "pkey -in p256 -ec_conv_form compressed"),
    (
        "p256-explicit",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit",
    ),
    ("p384", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
    ("p521", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521"),
    ("secp256k1", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1"),
    ("brainpool", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:brainpoolP256r1"),
    ("ed25519", "genpkey -algorithm ED25519"),
    ("ed448", "genpkey -algorithm ED448"),
    ("x25519", "genpkey -algorithm X25519"),
    ("x448", "genpkey -algorithm X448"),
    ("dh", "genpkey -algorithm DH -pkeyopt group:ffdhe2048"),
    ("dsa", "genpkey -paramfile dsa-parameters"),
];

/// An operation, and how its output is checked.
pub struct Operation {
    pub keys: &'static [&'static str],
    pub each: &'static [&'static str],
    pub make: &'static str,
    pub check: Check,
}

pub enum Check {
    /// Arguments that read the output. Their own output must be the same.
    Arguments(&'static str),
    /// The output itself must be the same.
    Same,
    /// A new key: the text of its public half must be the same but for the numbers.
    NewKey,
}

const ONCE: &[&str] = &[""];

const DIGESTS: &[&str] = &[
    "md5",
    "sha1",
    "sha256",
    "sha512-224",
    "sha512-256",
    "sha3-224",
    "sha3-256",
    "ripemd160",
    "sm3",
    "blake2s256",
    "mdc2",
    "md5-sha1",
];

const PSS: &[&str] = &[
    "-sha3-256 -sigopt rsa_padding_mode:pss",
    "-sha256 -sigopt rsa_padding_mode:pss",
    "-md5 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:11",
    "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:sha512-256 -sigopt rsa_pss_saltlen:max",
    "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest",
    "-sha1 -sigopt rsa_padding_mode:x931",
    // Errors without the provider, too.
    "-sha256 -sigopt rsa_mgf1_md:sha1",
    "-sha256 -sigopt rsa_pss_saltlen:20",
    "-sha256 -sigopt rsa_padding_mode:none",
    "-sha256 -sigopt rsa_padding_mode:oaep",
    "-ripemd160 -sigopt rsa_padding_mode:x931",
];

pub const OPERATIONS: &[Operation] = &[
    // New keys.
    Operation {
        keys: ONCE,
        each: &[
            "-algorithm EC -pkeyopt ec_paramgen_curve:P-521",
            "-algorithm EC -pkeyopt ec_paramgen_curve:P-256",
            "-algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit",
            "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1",
            "-algorithm EC -pkeyopt ec_paramgen_curve:brainpoolP384t1",
            "-algorithm EC -pkeyopt ec_paramgen_curve:sect233k1",
            "-algorithm EC -pkeyopt ec_paramgen_curve:no-such-curve",
            "-algorithm RSA -pkeyopt rsa_keygen_bits:1032",
            "-algorithm RSA -pkeyopt rsa_keygen_bits:1024",
            "-algorithm RSA -pkeyopt rsa_keygen_bits:100",
            "-algorithm RSA -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_pubexp:3",
            "-algorithm RSA -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_pubexp:4",
            "-algorithm RSA -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_primes:3",
            "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_pss_keygen_md:sha256",
            "-algorithm ED25519",
            "-algorithm ED448",
            "-algorithm X25519",
            "-algorithm X448",
            "-algorithm DH -pkeyopt group:ffdhe2048",
            "-paramfile dsa-parameters",
            "-paramfile curve-p384",
            "-paramfile curve-p521",
        ],
        make: "genpkey {} -out {out}",
        check: Check::NewKey,
    },
    // Keys as text, and in other forms.
    Operation {
        keys: &["rsa2048", "p521", "p256-explicit", "p256-compressed", "p256", "ed25519", "x448", "dsa"],
        each: &["-text", "-pubout", "-text_pub -noout"],
        make: "pkey -in {key} {} -out {out}",
        check: Check::Same,
    },
    Operation {
        keys: &["p256-explicit", "p521", "p256"],
        each: &["-conv_form compressed", "-param_enc explicit", "-no_public", "-pubout -conv_form hybrid"],
        make: "ec -in {key} {} -out {out}",
        check: Check::Same,
    },
    Operation {
        keys: &["rsa-3primes", "rsa-e3", "rsa1032", "p224", "p256-compressed", "p256", "ed25519"],
        each: &["-check", "-pubcheck"],
        make: "pkey -in {key} {} -noout -out {out}",
        check: Check::Same,
    },
    // Signatures.
    Operation {
        keys: &["rsa2048"],
        each: DIGESTS,
        make: "dgst -{} -sign {key} -out {out} message",
        check: Check::Arguments("dgst -{} -verify {key}.pub -signature {out} message"),
    },
    Operation {
        keys: &["rsa2048"],
        each: PSS,
        make: "dgst {} -sign {key} -out {out} message",
        check: Check::Arguments("dgst {} -verify {key}.pub -signature {out} message"),
    },
    Operation {
        keys: &[
            "rsa1032",
            "rsa-e3",
            "rsa-3primes",
            "rsa1024",
            "p521",
            "p224",
            "secp256k1",
            "brainpool",
            "p256-explicit",
        ],
        each: &["md5", "sha256"],
        make: "dgst -{} -sign {key} -out {out} message",
        check: Check::Arguments("dgst -{} -verify {key}.pub -signature {out} message"),
    },
    Operation {
        keys: &["p256"],
        each: &["md5", "sha3-224", "ripemd160", "sm3", "blake2b512", "sha256", "sha512-256"],
        make: "dgst -{} -sign {key} -out {out} message",
        check: Check::Arguments("dgst -{} -verify {key}.pub -signature {out} message"),
    },
    Operation {
        keys: &["rsa-pss", "dsa"],
        each: &["sha1", "sha256"],
        make: "dgst -{} -sign {key} -out {out} message",
        check: Check::Arguments("dgst -{} -verify {key}.pub -signature {out} message"),
    },
    Operation {
        keys: &["ed448", "ed25519"],
        each: ONCE,
        make: "pkeyutl -sign -rawin -inkey {key} -in message -out {out}",
        check: Check::Arguments("pkeyutl -verify -rawin -pubin -inkey {key}.pub -in message -sigfile {out}"),
    },
    Operation {
        keys: &["rsa2048"],
        each: &["", "-pkeyopt digest:sha512-256", "-pkeyopt digest:blake2s256", "-pkeyopt digest:sha256"],
        make: "pkeyutl -sign -inkey {key} {} -in hash -out {out}",
        check: Check::Arguments("pkeyutl -verifyrecover -pubin -inkey {key}.pub {} -in {out}"),
    },
    Operation {
        keys: &["rsa2048"],
        each: &["-raw -in block", "-pkcs -in message"],
        make: "rsautl -sign -inkey {key} {} -out {out}",
        check: Check::Arguments("rsautl -verify -pubin -inkey {key}.pub -raw -in {out}"),
    },
    // Encryption.
    Operation {
        keys: &["rsa1024", "rsa1032", "rsa-e3", "rsa-3primes", "rsa2048"],
        each: &[
            "",
            "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:md5",
            "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1",
            "-pkeyopt rsa_padding_mode:oaep",
            "-pkeyopt rsa_padding_mode:x931",
        ],
        make: "pkeyutl -encrypt -pubin -inkey {key}.pub {} -in message -out {out}",
        check: Check::Arguments("pkeyutl -decrypt -inkey {key} {} -in {out}"),
    },
    Operation {
        keys: &["rsa2048"],
        each: &["-pkeyopt rsa_padding_mode:none"],
        make: "pkeyutl -encrypt -pubin -inkey {key}.pub {} -in block -out {out}",
        check: Check::Arguments("pkeyutl -decrypt -inkey {key} {} -in {out}"),
    },
    // Agreement.
    Operation {
        keys: &["p521", "p224", "secp256k1", "brainpool", "p256-explicit", "x448", "dh", "p384", "x25519"],
        each: ONCE,
        make: "pkeyutl -derive -inkey {key} -peerkey {key}.pub -out {out}",
        check: Check::Same,
    },
    Operation {
        keys: &["p521", "p256"],
        each: &[
            "-pkeyopt kdf-digest:md5",
            "-pkeyopt kdf-digest:sha3-224 -pkeyopt hexkdf-ukm:616263",
            "-pkeyopt kdf-digest:sha256",
        ],
        make: "pkeyutl -derive -inkey {key} -peerkey {key}.pub -pkeyopt kdf-type:X963KDF -pkeyopt kdf-outlen:77 {} -out {out}",
        check: Check::Same,
    },
    // Keys that do not fit together.
    Operation {
        keys: &["p256"],
        each: &["p521", "p384", "x25519"],
        make: "pkeyutl -derive -inkey {key} -peerkey {}.pub -out {out}",
        check: Check::Same,
    },
    // Certificates and mail.
    Operation {
        keys: &["rsa2048"],
        each: &["-md5", "-ripemd160", "-sha3-224", "-sha256"],
        make: "req -x509 -new -key {key} {} -subj /CN=localhost -out {out}",
        check: Check::Arguments("verify -check_ss_sig -auth_level 0 -CAfile {out} {out}"),
    },
    Operation {
        keys: &["p521", "p256", "brainpool"],
        each: &["-sha224", "-sha256"],
        make: "req -x509 -new -key {key} {} -subj /CN=localhost -out {out}",
        check: Check::Arguments("verify -check_ss_sig -auth_level 0 -CAfile {out} {out}"),
    },
    Operation {
        keys: &["rsa2048"],
        each: &["-md md5", "-md ripemd160", "-md sha3-256", "-md sha256"],
        make: "cms -sign -binary -nodetach -in message -signer {key}.crt -inkey {key} {} -outform PEM -out {out}",
        check: Check::Arguments("cms -verify -binary -inform PEM -CAfile {key}.crt -purpose any -in {out}"),
    },
    Operation {
        keys: &["p521", "p256"],
        each: &["-md sha1", "-md sha256"],
        make: "cms -sign -binary -nodetach -in message -signer {key}.crt -inkey {key} {} -outform PEM -out {out}",
        check: Check::Arguments("cms -verify -binary -inform PEM -CAfile {key}.crt -purpose any -in {out}"),
    },
    Operation {
        keys: &["rsa1024", "rsa2048"],
        each: &["", "-keyopt rsa_padding_mode:oaep"],
        make: "cms -encrypt -binary -aes128 -in message -recip {key}.crt {} -outform PEM -out {out}",
        check: Check::Arguments("cms -decrypt -binary -inform PEM -recip {key}.crt -inkey {key} -in {out}"),
    },
    Operation {
        keys: &["p521", "p256"],
        each: &["", "-keyopt ecdh_kdf_md:sha512"],
        make: "cms -encrypt -binary -aes128 -in message -recip {key}.crt {} -outform PEM -out {out}",
        check: Check::Arguments("cms -decrypt -binary -inform PEM -recip {key}.crt -inkey {key} -in {out}"),
    },
];

/// The keys that have certificates: those of [`OPERATIONS`] and of [`HANDSHAKES`].
pub const CERTIFICATES: &[&str] = &["rsa1024", "rsa2048", "rsa-pss", "p256", "p521", "ed25519"];

/// Keys of servers, and the options of clients that connect to them.
pub const HANDSHAKES: &[(&str, &[&str])] = &[
    (
        "rsa2048",
        &[
            "-tls1",
            "-tls1_1",
            "-tls1_2",
            "-tls1_3",
            "-tls1 -cipher AES128-SHA@SECLEVEL=0",
            "-tls1_2 -sigalgs RSA+SHA1",
            "-tls1_3 -groups P-521",
            "-tls1_2 -groups brainpoolP256r1",
            "-tls1_3 -groups X448",
        ],
    ),
    ("p256", &["-tls1", "-tls1_1", "-tls1_2", "-tls1_3"]),
    ("p521", &["-tls1_1", "-tls1_2", "-tls1_3"]),
];
