//! Key exchange groups of TLS 1.3: curves, and their hybrids with ML-KEM. RFC 8446 4.2.7, RFC 10024.
//!
//! The keys of an exchange give jobs and read the answers, so the caller decides where the jobs are computed. All jobs
//! of one step wait together: a handshake pauses once for both halves of a hybrid.
//!
//! ```
//! use oarlock::tls_groups::{ClientKey, ClientShare, Group, ServerKey};
//! use oarlock::{Accelerator, Job};
//!
//! let accelerator = Accelerator::new()?;
//! let run = |jobs: &[Job<'_>]| accelerator.run_all(jobs).joined();
//!
//! let client = ClientKey::generate(Group::X25519MlKem768)?;
//! let client_share = client.share(&run(&client.share_jobs())?)?;
//!
//! let peer = ClientShare::read(Group::X25519MlKem768, &client_share)?;
//! let server = ServerKey::generate(&peer)?;
//! let answer = server.finish(&run(&server.jobs())?)?;
//!
//! let secret = client.secret(&run(&client.secret_jobs(&answer.share)?)?)?;
//! assert_eq!(*secret, *answer.secret);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use aws_lc_rs::agreement::{ECDH_P256, ECDH_P384, PrivateKey};
use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};
use aws_lc_rs::rand;
use oarlock_core::{
    Curve, EcPrivateParts, Fingerprint, Job, JobError, Key, KeyParts, LatticePrivate, LatticePrivateParts,
    MlKemSet, SecretBytes, X25519PrivateParts,
};
use oarlock_keys::{KeyError, raw};
use zeroize::Zeroizing;

/// The length of a share and of a secret of X25519. RFC 7748 6.1.
const X25519_LEN: usize = 32;

/// The u-coordinate of the base point. RFC 7748 4.1.
const BASE_U: [u8; X25519_LEN] = {
    let mut bytes = [0; X25519_LEN];
    bytes[0] = 9;
    bytes
};

/// A key exchange group of TLS 1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// X25519. RFC 7748.
    X25519,
    /// NIST P-256. SP 800-186.
    SecP256r1,
    /// NIST P-384. SP 800-186.
    SecP384r1,
    /// ML-KEM-768 and X25519. RFC 10024.
    X25519MlKem768,
    /// P-256 and ML-KEM-768. RFC 10024.
    SecP256r1MlKem768,
    /// P-384 and ML-KEM-1024. RFC 10024.
    SecP384r1MlKem1024,
}

impl Group {
    /// Returns the name in IANA's registry of TLS supported groups.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X25519 => "x25519",
            Self::SecP256r1 => "secp256r1",
            Self::SecP384r1 => "secp384r1",
            Self::X25519MlKem768 => "X25519MLKEM768",
            Self::SecP256r1MlKem768 => "SecP256r1MLKEM768",
            Self::SecP384r1MlKem1024 => "SecP384r1MLKEM1024",
        }
    }

    /// Returns the number in IANA's registry of TLS supported groups.
    #[must_use]
    pub const fn code_point(self) -> u16 {
        match self {
            Self::X25519 => 0x001D,
            Self::SecP256r1 => 0x0017,
            Self::SecP384r1 => 0x0018,
            Self::X25519MlKem768 => 0x11EC,
            Self::SecP256r1MlKem768 => 0x11EB,
            Self::SecP384r1MlKem1024 => 0x11ED,
        }
    }

    /// Returns the group of the curve alone.
    #[must_use]
    pub fn of_curve(self) -> Self {
        match self {
            Self::X25519 | Self::X25519MlKem768 => Self::X25519,
            Self::SecP256r1 | Self::SecP256r1MlKem768 => Self::SecP256r1,
            Self::SecP384r1 | Self::SecP384r1MlKem1024 => Self::SecP384r1,
        }
    }

    /// Returns the parameter set of ML-KEM, or `None` for a curve alone.
    #[must_use]
    pub const fn ml_kem(self) -> Option<MlKemSet> {
        match self {
            Self::X25519 | Self::SecP256r1 | Self::SecP384r1 => None,
            Self::X25519MlKem768 | Self::SecP256r1MlKem768 => Some(MlKemSet::MlKem768),
            Self::SecP384r1MlKem1024 => Some(MlKemSet::MlKem1024),
        }
    }

    /// Returns the NIST curve, or `None` for X25519.
    #[must_use]
    pub fn nist_curve(self) -> Option<Curve> {
        match self.of_curve() {
            Self::SecP256r1 => Some(Curve::P256),
            Self::SecP384r1 => Some(Curve::P384),
            _ => None,
        }
    }

    /// Returns the number of bytes of the client's share.
    #[must_use]
    pub fn client_share_len(self) -> usize {
        self.ml_kem().map_or(0, MlKemSet::public_len) + self.curve_share_len()
    }

    /// Returns the number of bytes of the server's share.
    #[must_use]
    pub fn server_share_len(self) -> usize {
        self.ml_kem().map_or(0, MlKemSet::ciphertext_len) + self.curve_share_len()
    }

    /// Returns the number of bytes of the secret.
    #[must_use]
    pub fn secret_len(self) -> usize {
        self.ml_kem().map_or(0, |_| MlKemSet::SECRET_LEN)
            + self.nist_curve().map_or(X25519_LEN, Curve::scalar_len)
    }

    /// Splits a client's share into the halves of ML-KEM and of the curve.
    ///
    /// # Errors
    /// [`ShareError::Length`].
    pub fn split_client_share(self, share: &[u8]) -> Result<(&[u8], &[u8]), ShareError> {
        self.split(share, self.client_share_len())
    }

    /// Splits a server's share into the halves of ML-KEM and of the curve.
    ///
    /// # Errors
    /// [`ShareError::Length`].
    pub fn split_server_share(self, share: &[u8]) -> Result<(&[u8], &[u8]), ShareError> {
        self.split(share, self.server_share_len())
    }

    fn split(self, share: &[u8], expected: usize) -> Result<(&[u8], &[u8]), ShareError> {
        if share.len() != expected {
            return Err(ShareError::Length { group: self.name(), expected, found: share.len() });
        }
        let curve_len = self.curve_share_len();
        Ok(if self.is_curve_first() {
            let (curve, ml_kem) = share.split_at(curve_len);
            (ml_kem, curve)
        } else {
            share.split_at(expected - curve_len)
        })
    }

    /// Joins what belongs to ML-KEM with what belongs to the curve.
    #[must_use]
    pub fn join(self, ml_kem: &[u8], curve: &[u8]) -> Vec<u8> {
        if self.is_curve_first() { [curve, ml_kem].concat() } else { [ml_kem, curve].concat() }
    }

    /// ML-KEM stands first beside X25519, and last beside a NIST curve: the first secret is that of an approved scheme.
    /// RFC 10024 section 4.
    fn is_curve_first(self) -> bool {
        self.nist_curve().is_some()
    }

    fn curve_share_len(self) -> usize {
        self.nist_curve().map_or(X25519_LEN, Curve::point_len)
    }
}

/// A reason why a share of the peer is refused. A TLS peer answers each with the alert `illegal_parameter`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The length is not that of the group.
    #[error("a key share of {group} has {expected} bytes, found {found}")]
    Length {
        /// The name of the group.
        group: &'static str,
        /// The length that fits.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// The secret of X25519 would be zero. RFC 7748 6.1.
    #[error("the X25519 part of the key share is of small order")]
    SmallOrder,
    /// A half is no public key. FIPS 203 7.2, SP 800-56A 5.6.2.3.
    #[error("the key share has no valid public key: {0}")]
    PublicKey(#[from] KeyError),
}

/// The ephemeral key of a client.
#[derive(Clone, Debug)]
pub struct ClientKey {
    group: Group,
    ml_kem: Option<Key>,
    curve: Key,
}

impl ClientKey {
    /// Draws a key. The public half of a NIST curve is computed here, by AWS-LC: no shape gives it.
    ///
    /// # Errors
    /// [`KeyError::Machine`] without random bytes.
    pub fn generate(group: Group) -> Result<Self, KeyError> {
        let ml_kem = group.ml_kem().map(ephemeral_ml_kem_key).transpose()?;
        Ok(Self { group, ml_kem, curve: ephemeral_curve_key(group)? })
    }

    /// Returns the group.
    #[must_use]
    pub fn group(&self) -> Group {
        self.group
    }

    /// Returns the key of the curve alone, for a server that takes that part of the share.
    #[must_use]
    pub fn into_curve_key(self) -> Self {
        Self { group: self.group.of_curve(), ml_kem: None, curve: self.curve }
    }

    /// Returns the jobs whose answers are the share. There may be none.
    #[must_use]
    pub fn share_jobs(&self) -> Vec<Job<'_>> {
        self.ml_kem.iter().map(Job::encapsulation_key).chain(share_job(&self.curve)).collect()
    }

    /// Returns the share.
    ///
    /// # Errors
    /// [`JobError::Malformed`] if the answers are not those of [`Self::share_jobs`], one behind the other.
    pub fn share(&self, answers: &[u8]) -> Result<Vec<u8>, JobError> {
        let (ml_kem, curve) = cut(answers, self.group.ml_kem().map_or(0, MlKemSet::public_len))?;
        Ok(self.group.join(ml_kem, share_of(&self.curve, curve)?))
    }

    /// Returns the jobs whose answers are the secret.
    ///
    /// # Errors
    /// [`ShareError::Length`].
    pub fn secret_jobs<'a>(&'a self, server_share: &'a [u8]) -> Result<Vec<Job<'a>>, ShareError> {
        let (ciphertext, curve) = self.group.split_server_share(server_share)?;
        let decapsulation = self.ml_kem.iter().map(|key| Job::decapsulate(key, ciphertext));
        // A peer of small order or off the curve is an error of this job.
        Ok(decapsulation.chain([Job::agree(&self.curve, curve)]).collect())
    }

    /// Returns the secret.
    ///
    /// # Errors
    /// [`JobError::Malformed`] if the answers are not those of [`Self::secret_jobs`], one behind the other.
    pub fn secret(&self, answers: &[u8]) -> Result<Zeroizing<Vec<u8>>, JobError> {
        if answers.len() != self.group.secret_len() {
            return Err(WRONG_ANSWERS);
        }
        let (ml_kem, curve) = cut(answers, self.group.ml_kem().map_or(0, |_| MlKemSet::SECRET_LEN))?;
        Ok(Zeroizing::new(self.group.join(ml_kem, curve)))
    }
}

/// A client's share whose halves are valid public keys.
#[derive(Clone, Debug)]
pub struct ClientShare {
    group: Group,
    ml_kem: Option<Key>,
    curve: Vec<u8>,
}

impl ClientShare {
    /// Returns the group.
    #[must_use]
    pub fn group(&self) -> Group {
        self.group
    }

    /// Reads and checks a share. Every fault of it is found here, so the jobs of the answer cannot fail because
    /// of the peer. The check of ML-KEM needs 20 KB of stack.
    ///
    /// # Errors
    /// [`ShareError`].
    pub fn read(group: Group, share: &[u8]) -> Result<Self, ShareError> {
        let (ml_kem, curve) = group.split_client_share(share)?;
        match group.nist_curve() {
            Some(nist_curve) => drop(raw::ec_public(nist_curve, curve)?),
            None if is_of_small_order(curve) => return Err(ShareError::SmallOrder),
            None => {}
        }
        let ml_kem = group.ml_kem().map(|set| raw::ml_kem_public(set, ml_kem)).transpose()?;
        Ok(Self { group, ml_kem, curve: curve.to_vec() })
    }
}

/// The ephemeral key of a server, which answers one share.
#[derive(Debug)]
pub struct ServerKey<'s> {
    client: &'s ClientShare,
    curve: Key,
}

/// The share of a server, and the secret that it makes with the client's.
#[derive(Debug)]
pub struct ServerAnswer {
    /// The server's share.
    pub share: Vec<u8>,
    /// The secret, which the key schedule takes.
    pub secret: Zeroizing<Vec<u8>>,
}

impl<'s> ServerKey<'s> {
    /// Draws a key for the answer to a share.
    ///
    /// # Errors
    /// [`KeyError::Machine`] without random bytes.
    pub fn generate(client: &'s ClientShare) -> Result<Self, KeyError> {
        Ok(Self { client, curve: ephemeral_curve_key(client.group)? })
    }

    /// Returns the jobs whose answers are the share and the secret.
    #[must_use]
    pub fn jobs(&self) -> Vec<Job<'_>> {
        let ClientShare { ml_kem, curve, .. } = self.client;
        let encapsulation = ml_kem.iter().map(Job::encapsulate);
        encapsulation.chain([Job::agree(&self.curve, curve)]).chain(share_job(&self.curve)).collect()
    }

    /// Returns the share and the secret.
    ///
    /// # Errors
    /// [`JobError::Malformed`] if the answers are not those of [`Self::jobs`], one behind the other.
    pub fn finish(&self, answers: &[u8]) -> Result<ServerAnswer, JobError> {
        let group = self.client.group;
        let (ciphertext_len, secret_len) =
            group.ml_kem().map_or((0, 0), |set| (set.ciphertext_len(), MlKemSet::SECRET_LEN));
        let (ciphertext, rest) = cut(answers, ciphertext_len)?;
        let (ml_kem, rest) = cut(rest, secret_len)?;
        let (curve, share) = cut(rest, group.secret_len() - secret_len)?;
        Ok(ServerAnswer {
            share: group.join(ciphertext, share_of(&self.curve, share)?),
            secret: Zeroizing::new(group.join(ml_kem, curve)),
        })
    }
}

/// Returns the job whose answer is the share of X25519. A key of a NIST curve has its point already.
fn share_job(key: &Key) -> Option<Job<'_>> {
    key.ec_public().is_none().then(|| Job::agree(key, &BASE_U))
}

/// Returns the share of a curve, of which `answer` is the job's.
fn share_of<'a>(key: &'a Key, answer: &'a [u8]) -> Result<&'a [u8], JobError> {
    match key.ec_public() {
        Some((_, point)) if answer.is_empty() => Ok(point),
        None if answer.len() == X25519_LEN => Ok(answer),
        _ => Err(WRONG_ANSWERS),
    }
}

const WRONG_ANSWERS: JobError = JobError::Malformed { what: "the answers are not those of the key exchange" };

fn cut(answers: &[u8], len: usize) -> Result<(&[u8], &[u8]), JobError> {
    answers.split_at_checked(len).ok_or(WRONG_ANSWERS)
}

fn ephemeral_curve_key(group: Group) -> Result<Key, KeyError> {
    let (curve, algorithm) = match group.of_curve() {
        Group::SecP256r1 => (Curve::P256, &ECDH_P256),
        Group::SecP384r1 => (Curve::P384, &ECDH_P384),
        _ => {
            // No job of an agreement reads the public half, and computing it first would cost as much as the share.
            let parts = X25519PrivateParts { scalar: random_secret(X25519_LEN)?, public: [0; X25519_LEN] };
            return ephemeral_key(KeyParts::X25519Private(parts));
        }
    };
    let failed = || KeyError::Machine { what: "generating an EC key" };
    let key = PrivateKey::generate(algorithm).map_err(|_| failed())?;
    let scalar: EcPrivateKeyBin<'_> = key.as_be_bytes().map_err(|_| failed())?;
    let public = key.compute_public_key().map_err(|_| failed())?.as_ref().to_vec();
    let scalar = SecretBytes::from(scalar.as_ref());
    ephemeral_key(KeyParts::EcPrivate(EcPrivateParts { curve, scalar, public }))
}

/// Returns a key without its public half, which is the answer of a job.
fn ephemeral_ml_kem_key(set: MlKemSet) -> Result<Key, KeyError> {
    let private = LatticePrivate::Seed(random_secret(MlKemSet::SEED_LEN)?);
    ephemeral_key(KeyParts::MlKemPrivate(LatticePrivateParts { set, private, public: Vec::new() }))
}

/// Returns a key with a random fingerprint, which belongs to no other key. Nobody asks for that of an ephemeral one.
fn ephemeral_key(parts: KeyParts) -> Result<Key, KeyError> {
    let mut fingerprint = [0; 32];
    fill(&mut fingerprint)?;
    Ok(Key::local(parts, Fingerprint::new(fingerprint)))
}

fn random_secret(len: usize) -> Result<SecretBytes, KeyError> {
    let mut bytes = vec![0; len];
    fill(&mut bytes)?;
    Ok(SecretBytes::from(bytes))
}

fn fill(bytes: &mut [u8]) -> Result<(), KeyError> {
    rand::fill(bytes).map_err(|_| KeyError::Machine { what: "drawing random bytes" })
}

/// True for an encoded u-coordinate whose secret would be zero. The points of small order, on the curve and its twist,
/// are those of u = 0, 1 and -1 and two of order 8; 2^255 - 19 and 2^255 - 18 encode 0 and 1 again. RFC 7748 section 7.
fn is_of_small_order(u: &[u8]) -> bool {
    const ORDER_8: [[u8; 32]; 2] = [
        [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
            0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
        ],
        [
            0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
            0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
        ],
    ];
    let Ok(mut u) = <[u8; 32]>::try_from(u) else { return false };
    // The top bit is ignored. RFC 7748 section 5.
    u[31] &= 0x7F;
    let is_tiny = u[0] <= 1 && u[1..].iter().all(|byte| *byte == 0);
    let is_at_prime =
        (0xEC..=0xEE).contains(&u[0]) && u[1..31].iter().all(|byte| *byte == 0xFF) && u[31] == 0x7F;
    is_tiny || is_at_prime || ORDER_8.contains(&u)
}

#[cfg(test)]
mod tests;
