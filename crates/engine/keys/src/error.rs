//! The error of importing, exporting or generating a key.

use oarlock_core::{Blame, Curve, StatefulKeyError};

/// The reason why there is no key.
///
/// An error carries lengths, names and public numbers, and never key material.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum KeyError {
    /// More bytes than any key file has.
    #[error("input of {found} bytes: a key has at most {limit}")]
    InputTooLong {
        /// The bound in bytes.
        limit: usize,
        /// The value that was given.
        found: usize,
    },
    /// The bytes are not a key in a known format.
    #[error(
        "expected PEM or DER of a key (PKCS#8, PKCS#1, SEC 1, SPKI) or a private key of BIND, found none of them"
    )]
    UnknownFormat,
    /// There is nothing but white space.
    #[error("expected a key in PEM or DER, found {}", if *len == 0 { "an empty file" } else { "only white space" })]
    Empty {
        /// The number of bytes of white space.
        len: usize,
    },
    /// A key in a format of another program.
    #[error("expected a key in PEM or DER (PKCS#8, PKCS#1, SEC 1, SPKI), found {found}; {remedy}")]
    Foreign {
        /// The format that was found.
        found: &'static str,
        /// The way to convert it.
        remedy: &'static str,
    },
    /// DER that was cut, or to which something was appended.
    #[error(
        "the DER says that it has {expected} bytes, the file has {found}: {}",
        if found < expected { "it was cut, copy it again" } else { "remove what follows the key" }
    )]
    DerLength {
        /// The length that its first bytes state.
        expected: usize,
        /// The length that is there.
        found: usize,
    },
    /// There is `-----BEGIN`, but not in a valid PEM line.
    #[error(
        "found -----BEGIN, but no PEM line: expected -----BEGIN, a label of capital letters, digits and blanks (at most 64 of them) and -----"
    )]
    PemBegin,
    /// Several private keys in one file.
    #[error("expected one private key, found {found} of them in the file: keep only the intended one")]
    SeveralKeys {
        /// The number of keys that are there.
        found: usize,
    },
    /// There is no PEM block that could be the key.
    #[error("expected a PEM block {expected}, found {found}")]
    PemLabel {
        /// The labels that are accepted.
        expected: &'static str,
        /// The label that is there, or "no block".
        found: String,
    },
    /// A PEM block is damaged. RFC 7468 section 3.
    #[error("malformed PEM block {label}: {what}")]
    PemMalformed {
        /// The label of the block.
        label: String,
        /// The flaw.
        what: &'static str,
    },
    /// A private key in OpenSSL's traditional encryption, whose key derivation is one MD5.
    #[error(
        "PEM encrypted the traditional way (Proc-Type: 4,ENCRYPTED) is not supported; convert it with `openssl pkcs8 -topk8`"
    )]
    LegacyPemEncryption,
    /// The file contains an X.509 certificate instead of a key.
    #[error(
        "found an X.509 certificate, expected a key; certificates are not supported, take its key with `openssl x509 -pubkey -noout`"
    )]
    Certificate,
    /// The bytes break the rules of DER or of the structure.
    #[error("malformed {structure}: {reason}")]
    Der {
        /// The structure that was expected.
        structure: &'static str,
        /// The finding of the parser, with its position.
        reason: String,
    },
    /// A well-formed structure of another kind.
    #[error("expected {expected}, found {found}")]
    Structure {
        /// The structure that was expected.
        expected: &'static str,
        /// The structure that is there.
        found: &'static str,
    },
    /// The key is encrypted and no passphrase was given.
    #[error("the private key is encrypted: a passphrase is needed")]
    PassphraseMissing,
    /// Decryption gave no key.
    #[error("the private key cannot be decrypted: wrong passphrase or damaged data")]
    Decryption,
    /// The encryption of a private key is not supported.
    #[error(
        "unsupported {what} {found} in an encrypted private key; re-encrypt it with `openssl pkcs8 -topk8 -v2 aes-256-cbc`"
    )]
    UnsupportedEncryption {
        /// The part of the encryption.
        what: &'static str,
        /// Its name and object identifier.
        found: String,
    },
    /// A parameter of the encryption is out of its range.
    #[error("{what}: expected {expected}, found {found}")]
    EncryptionParameter {
        /// The name of the parameter.
        what: &'static str,
        /// Its range.
        expected: &'static str,
        /// The value that is there.
        found: u64,
    },
    /// A try of the passphrase would cost more than the caller allows.
    #[error("{what}: at most {limit} allowed, found {found}")]
    TooCostly {
        /// The name of the cost.
        what: &'static str,
        /// The bound, from [`WorkLimits`](crate::WorkLimits).
        limit: u64,
        /// The cost that the input requires.
        found: u64,
    },
    /// The algorithm is not supported.
    #[error(
        "expected RSA, EC, Ed25519, X25519, ML-KEM, ML-DSA, SLH-DSA, HSS, XMSS or a composite, found the algorithm {found}"
    )]
    UnsupportedAlgorithm {
        /// Its name and object identifier.
        found: String,
    },
    /// The algorithm's parameters are not what its standard demands.
    #[error("{algorithm}: expected {expected} as algorithm parameters")]
    AlgorithmParameters {
        algorithm: &'static str,
        /// The parameters that belong there.
        expected: &'static str,
    },
    /// The curve is not supported.
    #[error("expected the named curve P-256 or P-384, found {found}")]
    UnsupportedCurve {
        /// Its name and object identifier, or a description of the value found instead.
        found: String,
    },
    /// A key states its curve's parameters instead of the curve's name. RFC 5480 2.1.1 forbids that.
    #[error(
        "expected the named curve P-256 or P-384, found a key with the curve's parameters spelled out; `openssl pkey -in FILE -ec_param_enc named_curve -out key.pem` names it"
    )]
    ExplicitCurve,
    /// A private key names two different curves.
    #[error("the key names two curves: {outer} outside, {inner} inside")]
    CurvesDiffer {
        /// The curve of the algorithm identifier.
        outer: Curve,
        /// The curve of the EC private key inside.
        inner: Curve,
    },
    /// A value has the wrong length.
    #[error("{what}: expected {expected}, found {found} bytes")]
    Length {
        /// The name of the value.
        what: &'static str,
        /// The value that fits.
        expected: String,
        /// The value that was given.
        found: usize,
    },
    /// An RSA modulus too short or too long.
    #[error(
        "RSA modulus: expected {min}{} bits, found {found}",
        if min == max { String::new() } else { format!(" to {max}") }
    )]
    ModulusBits {
        /// The shortest.
        min: u32,
        /// The longest.
        max: u32,
        /// The value that was given.
        found: u64,
    },
    /// A number that must be odd is even.
    #[error("RSA: expected odd {what}, found an even number")]
    Even {
        /// The name of the number.
        what: &'static str,
    },
    /// A number that must be positive, or above one, is not.
    #[error("RSA: expected {what} above {above}, found {above} or less")]
    TooSmall {
        /// The name of the number.
        what: &'static str,
        /// The bound that it must exceed.
        above: u8,
    },
    /// The public exponent is out of range.
    #[error("RSA public exponent: expected an odd number from 3 to 2^33 - 1 and below n, found {found}")]
    PublicExponent {
        /// The exponent, or its length if it is longer than five bytes.
        found: String,
    },
    /// A number that must be below another is not.
    #[error("RSA: expected {what} below {bound}, found an equal or greater number")]
    NotBelow {
        /// The name of the number.
        what: &'static str,
        /// The bound that it must stay below.
        bound: &'static str,
    },
    /// The parts of an RSA key do not belong together.
    #[error("RSA parts do not belong together: expected {relation}, found otherwise")]
    Inconsistent {
        /// The relation that does not hold.
        relation: &'static str,
    },
    /// Both primes are the same number.
    #[error("RSA: expected two different primes, found p = q")]
    PrimesEqual,
    /// A prime is longer than half the modulus.
    #[error("RSA: expected primes of at most {limit} bits each, found a longer one")]
    PrimesUnbalanced {
        /// Half the modulus's length, rounded up.
        limit: u32,
    },
    /// An RSA key of more than two primes. RFC 8017 3.2.
    #[error("RSA: expected two primes, found a multi-prime key")]
    MultiPrime,
    /// n, e and d belong to no pair of primes.
    #[error("RSA: expected n, e and d of one key, found numbers that lead to no two primes")]
    NoPrimes,
    /// A secret exponent longer than its bound.
    #[error("secret exponent: expected at most {bound} bits, found more")]
    ExponentBits {
        /// The bound that the caller stated.
        bound: u16,
    },
    /// A bound for secret exponents out of its range.
    #[error("bound of the secret exponent: expected 1 to {max} bits, found {found}")]
    ExponentBound {
        /// The largest bound.
        max: u16,
        /// The value that was given.
        found: u16,
    },
    /// An EC private scalar out of range. SEC 1 3.2.1.
    #[error("{curve} private key: expected a scalar from 1 to n - 1, found another")]
    ScalarRange { curve: Curve },
    /// An EC point in a form that is not supported. SEC 1 2.3.3.
    #[error(
        "{curve} point: expected the form 02 or 03 with {compressed} bytes or 04 with {uncompressed}, found the form {form:#04x} with {found}"
    )]
    PointForm {
        curve: Curve,
        /// Length of a compressed point.
        compressed: usize,
        /// Length of an uncompressed point.
        uncompressed: usize,
        /// The first byte of the given point, or 0 if there is none.
        form: u8,
        /// Length of what was given.
        found: usize,
    },
    /// The point at infinity is never a public key. SEC 1 3.2.2.
    #[error("{curve} point: expected a point of order n, found the point at infinity")]
    PointAtInfinity { curve: Curve },
    /// The coordinates do not satisfy the curve's equation. SEC 1 3.2.2.
    #[error("{curve} point: expected a point on the curve, found one off it")]
    PointOffCurve { curve: Curve },
    /// The public key that accompanies a private one is not its own.
    #[error("{algorithm}: expected the public key that belongs to the private one, found another")]
    PublicMismatch { algorithm: &'static str },
    /// A private key states a seed and an expanded key that does not follow from it. RFC 9935 section 8.
    #[error("{algorithm}: expected the expanded key that follows from the seed, found another")]
    SeedMismatch { algorithm: &'static str },
    /// The parts of an expanded private key do not belong together. FIPS 203 7.3, FIPS 204 algorithm 25.
    #[error("{algorithm}: expected an expanded private key whose parts belong together, found another")]
    ExpandedKey { algorithm: &'static str },
    /// A coefficient of an encapsulation key is not below the modulus. FIPS 203 7.2.
    #[error("{algorithm}: expected a public key with coefficients below 3329, found a greater one")]
    EncapsulationKey { algorithm: &'static str },
    /// A public key of HSS, XMSS or XMSS^MT with a wrong length or type.
    #[error(transparent)]
    Stateful(#[from] StatefulKeyError),
    /// A private key of a stateful signature scheme, which changes with every signature. RFC 8554 section 9.2.
    #[error(
        "found a private key of {algorithm}, which each signature changes: signing with stateful keys is not offered, give the public key"
    )]
    StatefulPrivate { algorithm: &'static str },
    /// The key, or the requested half of it, cannot be exported.
    #[error("cannot export the {what}: {reason}")]
    NotExportable {
        /// The thing that was asked for.
        what: &'static str,
        /// The reason why it stays.
        reason: &'static str,
    },
    /// A held key needs a holder and a reference.
    #[error("a held key needs a {what}, found an empty one")]
    EmptyName {
        /// The name of the field.
        what: &'static str,
    },
    /// The text is not a URI of a key at a server.
    #[error("expected a URI oarlock:NAME, the name percent-encoded: {reason}")]
    Uri {
        /// The flaw.
        reason: &'static str,
    },
    /// A line of BIND's private key file has the wrong form.
    #[error("BIND private key file, line {line}: {what}")]
    BindLine {
        /// The number of the line, from 1.
        line: usize,
        /// The flaw.
        what: &'static str,
    },
    /// A field of BIND's private key file.
    #[error("BIND private key file, {field}: {what}")]
    BindField {
        /// The name of the field.
        field: &'static str,
        /// The flaw.
        what: &'static str,
    },
    /// Keys of this kind cannot be generated.
    #[error("cannot generate {what}: {remedy}")]
    CannotGenerate {
        /// The thing that was asked for.
        what: String,
        /// The alternative.
        remedy: &'static str,
    },
    /// A key is split among 2 to 16 servers, of which 2 to all sign together.
    #[error(
        "shares: expected 2 <= threshold <= shares <= {max}, found a threshold of {threshold} among {shares}"
    )]
    ShareCounts {
        /// The maximum number of servers.
        max: u8,
        /// The number of servers that sign together.
        threshold: u8,
        /// The number of partial signatures.
        shares: usize,
    },
    /// A share of a server that does not exist.
    #[error("index of a share: expected 1 to {shares}, found {found}")]
    ShareIndex {
        /// The number of partial signatures.
        shares: u8,
        /// The value that was given.
        found: u8,
    },
    /// Shares demand a public exponent that is a prime above their number. Shoup 2000, Protocol 1.
    #[error("shares: expected a public exponent that is a prime above {shares}, found {found}")]
    ShareExponent {
        /// The number of partial signatures.
        shares: usize,
        /// The public exponent.
        found: u64,
    },
    /// The key has no local RSA private half.
    #[error("the key cannot be split into shares: {reason}")]
    NotShareable { reason: &'static str },
    /// Shares demand safe primes. Shoup 2000, Protocol 1.
    #[error(
        "shares: expected safe primes ((prime - 1) / 2 prime too), found {which} otherwise; ordinary RSA keys do not have them: generate a key that does (`oarlock keys generate rsa2048 --safe-primes`, `generate::rsa_safe`)"
    )]
    NotSafePrime {
        /// The name of the prime.
        which: &'static str,
    },
    /// A file of another version of its format.
    #[error("{structure}: expected version {expected}, found {found}")]
    Version {
        structure: &'static str,
        /// The version that is known here.
        expected: u8,
        /// The version that is there.
        found: u8,
    },
    /// The cryptographic library or the random source failed.
    #[error("this machine failed: {what}")]
    Machine {
        /// The step that failed.
        what: &'static str,
    },
}

impl KeyError {
    /// Returns the party at fault: the machine if it failed, else the caller.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Machine { .. } => Blame::Machine,
            _ => Blame::Caller,
        }
    }
}
