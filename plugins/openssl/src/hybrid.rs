//! Keys of the TLS 1.3 groups that join ML-KEM with an elliptic curve: one share, one ciphertext and one secret of
//! both. RFC 10024.
//!
//! A group is a KEM for libssl. The client generates a key, and its public half is the share. The server encapsulates
//! for that share: the ciphertext is the server's share, with a new key of the curve in it.

use std::sync::{PoisonError, RwLock};

use aws_lc_rs::rand;
use oarlock::engine_api::{KeyParts, LatticePrivate, LatticePrivateParts, X25519PrivateParts};
use oarlock::keys::{generate, raw};
use oarlock::{Curve, Fingerprint, Job, JobError, Key, KeyKind, MlKemSet, SecretBytes};
use zeroize::Zeroizing;

use crate::error::ProviderError;
use crate::ffi::libcrypto::params::{ParamList, ParamReader, ParamWriter};
use crate::parameters::{KeySelection, name};
use crate::provider::LoadedProvider;

/// A group of ML-KEM and a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KemGroup {
    X25519MlKem768,
    SecP256r1MlKem768,
    SecP384r1MlKem1024,
}

/// The length of a share and of a secret of X25519. RFC 7748 6.1.
const X25519_LEN: usize = 32;

/// The u-coordinate of the base point. RFC 7748 4.1.
const BASE_U: [u8; X25519_LEN] = {
    let mut bytes = [0; X25519_LEN];
    bytes[0] = 9;
    bytes
};

impl KemGroup {
    /// Returns the group's name in TLS and OpenSSL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::X25519MlKem768 => "X25519MLKEM768",
            Self::SecP256r1MlKem768 => "SecP256r1MLKEM768",
            Self::SecP384r1MlKem1024 => "SecP384r1MLKEM1024",
        }
    }

    fn ml_kem(self) -> MlKemSet {
        match self {
            Self::X25519MlKem768 | Self::SecP256r1MlKem768 => MlKemSet::MlKem768,
            Self::SecP384r1MlKem1024 => MlKemSet::MlKem1024,
        }
    }

    /// Returns the NIST curve, or None for X25519.
    fn curve(self) -> Option<Curve> {
        match self {
            Self::X25519MlKem768 => None,
            Self::SecP256r1MlKem768 => Some(Curve::P256),
            Self::SecP384r1MlKem1024 => Some(Curve::P384),
        }
    }

    fn curve_share_len(self) -> usize {
        self.curve().map_or(X25519_LEN, Curve::point_len)
    }

    /// Returns the number of bytes of the client's share.
    pub(crate) fn public_len(self) -> usize {
        self.ml_kem().public_len() + self.curve_share_len()
    }

    /// Returns the number of bytes of the server's share.
    pub(crate) fn ciphertext_len(self) -> usize {
        self.ml_kem().ciphertext_len() + self.curve_share_len()
    }

    pub(crate) fn secret_len(self) -> usize {
        MlKemSet::SECRET_LEN + self.curve().map_or(X25519_LEN, Curve::scalar_len)
    }

    /// Returns the security strength in bits, which is that of ML-KEM: SP 800-57 part 1, and FIPS 203 table 2.
    pub(crate) fn security_bits(self) -> u16 {
        match self.ml_kem() {
            MlKemSet::MlKem1024 => 256,
            _ => 192,
        }
    }

    /// Splits a share into that of ML-KEM and that of the curve.
    fn split(self, share: &[u8], ml_kem_len: usize) -> Result<(&[u8], &[u8]), ProviderError> {
        let expected = ml_kem_len + self.curve_share_len();
        if share.len() != expected {
            let expected = format!("{expected} bytes for {}, found {}", self.name(), share.len());
            return Err(ProviderError::Parameter { what: "key share", expected });
        }
        Ok(match self.curve() {
            None => share.split_at(ml_kem_len),
            Some(_) => {
                let (of_curve, of_ml_kem) = share.split_at(self.curve_share_len());
                (of_ml_kem, of_curve)
            }
        })
    }

    /// Joins what belongs to ML-KEM with what belongs to the curve: ML-KEM first beside X25519, last beside a NIST
    /// curve, so that the first secret is always that of an approved scheme. RFC 10024 section 4.
    fn join(self, ml_kem: &[u8], curve: &[u8]) -> Vec<u8> {
        match self.curve() {
            None => [ml_kem, curve].concat(),
            Some(_) => [curve, ml_kem].concat(),
        }
    }
}

/// The results of an encapsulation.
pub(crate) struct EncapsulatedSecret {
    pub(crate) ciphertext: Vec<u8>,
    pub(crate) secret: Zeroizing<Vec<u8>>,
}

/// A key of the group's key manager. It starts empty; libssl fills it with the peer's share, or generates it.
pub(crate) struct HybridKey {
    provider: LoadedProvider,
    pub(crate) group: KemGroup,
    // OpenSSL lends a key to several threads at once.
    pair: RwLock<Option<HybridPair>>,
}

/// The keys of both schemes: two public ones or two private ones.
#[derive(Clone)]
pub(crate) struct HybridPair {
    group: KemGroup,
    ml_kem: Key,
    curve: Key,
    /// The share of this pair.
    public: Vec<u8>,
}

impl HybridKey {
    pub(crate) fn new(provider: &LoadedProvider, group: KemGroup) -> Self {
        Self { provider: provider.clone(), group, pair: RwLock::new(None) }
    }

    /// Generates the client's key. Both public halves are computed together.
    pub(crate) fn generate(provider: &LoadedProvider, group: KemGroup) -> Result<Self, ProviderError> {
        let pair = HybridPair::generate(provider, group)?;
        Ok(Self { provider: provider.clone(), group, pair: RwLock::new(Some(pair)) })
    }

    pub(crate) fn provider(&self) -> &LoadedProvider {
        &self.provider
    }

    pub(crate) fn pair(&self) -> Option<HybridPair> {
        self.pair.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn has(&self, selection: KeySelection) -> bool {
        match self.pair() {
            Some(pair) => pair.has_private() || !selection.private(),
            None => !selection.keypair(),
        }
    }

    pub(crate) fn matches(&self, other: &Self, selection: KeySelection) -> bool {
        let public = |key: &Self| key.pair().map(|pair| pair.public);
        self.group == other.group && (!selection.keypair() || public(self) == public(other))
    }

    /// Copies the selected parts. An ephemeral pair without its private half becomes a public one.
    pub(crate) fn copy_selected(&self, selection: KeySelection) -> Result<Self, ProviderError> {
        let copy = Self::new(&self.provider, self.group);
        match self.pair() {
            Some(pair) if selection.private() || !pair.has_private() && selection.keypair() => {
                *copy.pair.write().unwrap_or_else(PoisonError::into_inner) = Some(pair);
            }
            Some(pair) if selection.keypair() => copy.set_public(&pair.public)?,
            _ => {}
        }
        Ok(copy)
    }

    /// Sets the peer's share.
    pub(crate) fn set(&self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        params.octets(name::ENCODED_PUBLIC).map_or(Ok(()), |share| self.set_public(share))
    }

    /// Imports a public key. Private halves are ephemeral here and come from the generation alone.
    pub(crate) fn import(
        &self,
        params: ParamReader<'_>,
        selection: KeySelection,
    ) -> Result<(), ProviderError> {
        if selection.private() && params.has(name::PRIVATE) {
            let what = format!("the import of a private key of {}", self.group.name());
            return Err(ProviderError::Unsupported { what });
        }
        self.set_public(params.octets(name::PUBLIC).ok_or(ProviderError::NoKey)?)
    }

    /// Exports the public key. None if there is none, or if the private half is asked for.
    pub(crate) fn export(&self, selection: KeySelection) -> Option<ParamList> {
        let mut made = ParamList::default();
        if selection.keypair() {
            let pair = self.pair()?;
            if selection.private() && pair.has_private() {
                return None;
            }
            made.octets(name::PUBLIC, &pair.public);
        }
        Some(made)
    }

    fn set_public(&self, share: &[u8]) -> Result<(), ProviderError> {
        // Everything that is wrong with a share is found here: libssl answers it with the alert illegal_parameter, and
        // a failure of the encapsulation with internal_error.
        let pair = HybridPair::of_peer(self.group, share)?;
        *self.pair.write().unwrap_or_else(PoisonError::into_inner) = Some(pair);
        Ok(())
    }

    /// Writes the parameters that are asked for. False if a buffer is too small.
    pub(crate) fn describe(&self, wanted: &mut ParamWriter<'_>) -> bool {
        let len = |len: usize| i64::try_from(len).unwrap_or(i64::MAX);
        let is_written = wanted.number(name::BITS, 8 * len(self.group.public_len()))
            & wanted.number(name::SECURITY_BITS, self.group.security_bits().into())
            & wanted.number(name::MAX_SIZE, len(self.group.ciphertext_len()));
        let Some(pair) = self.pair() else { return is_written };
        is_written
            & wanted.octets(name::PUBLIC, &pair.public)
            & wanted.octets(name::ENCODED_PUBLIC, &pair.public)
    }
}

impl HybridPair {
    fn generate(provider: &LoadedProvider, group: KemGroup) -> Result<Self, ProviderError> {
        let ml_kem = ephemeral_ml_kem(group.ml_kem())?;
        let curve = ephemeral_of_curve(group)?;
        let mut jobs = vec![Job::encapsulation_key(&ml_kem)];
        if group.curve().is_none() {
            jobs.push(Job::agree(&curve, &BASE_U));
        }
        let answers = provider.run_together(&jobs)?;
        let (of_ml_kem, of_curve) = cut(&answers, group.ml_kem().public_len())?;
        let of_curve = curve.ec_public().map_or(of_curve, |(_, point)| point);
        let public = group.join(of_ml_kem, of_curve);
        Ok(Self { group, ml_kem, curve, public })
    }

    /// Checks the share of a peer.
    fn of_peer(group: KemGroup, share: &[u8]) -> Result<Self, ProviderError> {
        let (of_ml_kem, of_curve) = group.split(share, group.ml_kem().public_len())?;
        let ml_kem = raw::ml_kem_public(group.ml_kem(), of_ml_kem)?;
        let curve = match group.curve() {
            Some(curve) => raw::ec_public(curve, of_curve)?,
            None if is_of_small_order(of_curve) => return Err(JobError::SmallOrderPeer.into()),
            None => raw::x25519_public(of_curve)?,
        };
        Ok(Self { group, ml_kem, curve, public: share.to_vec() })
    }

    pub(crate) fn group(&self) -> KemGroup {
        self.group
    }

    pub(crate) fn has_private(&self) -> bool {
        matches!(self.ml_kem.kind(), KeyKind::MlKemPrivate(_))
    }

    /// Makes the server's share and the secret for this peer. Both schemes are computed together.
    pub(crate) fn encapsulate(&self, provider: &LoadedProvider) -> Result<EncapsulatedSecret, ProviderError> {
        if self.has_private() {
            // An ephemeral ML-KEM key is without its public half.
            return Self::of_peer(self.group, &self.public)?.encapsulate(provider);
        }
        let group = self.group;
        let (_, peer) = group.split(&self.public, group.ml_kem().public_len())?;
        let ephemeral_key = ephemeral_of_curve(group)?;
        let mut jobs = vec![Job::encapsulate(&self.ml_kem), Job::agree(&ephemeral_key, peer)];
        if group.curve().is_none() {
            jobs.push(Job::agree(&ephemeral_key, &BASE_U));
        }
        let answers = provider.run_together(&jobs)?;
        let (ciphertext, rest) = cut(&answers, group.ml_kem().ciphertext_len())?;
        let (of_ml_kem, rest) = cut(rest, MlKemSet::SECRET_LEN)?;
        let (of_curve, share) = cut(rest, group.secret_len() - MlKemSet::SECRET_LEN)?;
        let share = ephemeral_key.ec_public().map_or(share, |(_, point)| point);
        Ok(EncapsulatedSecret {
            ciphertext: group.join(ciphertext, share),
            secret: Zeroizing::new(group.join(of_ml_kem, of_curve)),
        })
    }

    /// Returns the secret of the server's share. Both schemes are computed together.
    pub(crate) fn decapsulate(
        &self,
        provider: &LoadedProvider,
        share: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let (ciphertext, peer) = self.group.split(share, self.group.ml_kem().ciphertext_len())?;
        // A peer of small order or off the curve is an error of the engine.
        let jobs = [Job::decapsulate(&self.ml_kem, ciphertext), Job::agree(&self.curve, peer)];
        let answers = provider.run_together(&jobs)?;
        let (of_ml_kem, of_curve) = cut(&answers, MlKemSet::SECRET_LEN)?;
        Ok(Zeroizing::new(self.group.join(of_ml_kem, of_curve)))
    }
}

/// Cuts answers that stand one behind the other.
fn cut(answers: &[u8], len: usize) -> Result<(&[u8], &[u8]), ProviderError> {
    // unreachable because the scheme fixes the length of an answer
    answers.split_at_checked(len).ok_or(ProviderError::Job(JobError::Cancelled))
}

/// Returns a new key of the group's curve. One of X25519 lacks its public half, which the multiplication of the base
/// point gives, together with the other jobs.
fn ephemeral_of_curve(group: KemGroup) -> Result<Key, ProviderError> {
    if let Some(curve) = group.curve() {
        // No shape computes public points, so AWS-LC does.
        return Ok(generate::ec(curve)?);
    }
    let scalar = SecretBytes::from(random(X25519_LEN)?);
    ephemeral(KeyParts::X25519Private(X25519PrivateParts { scalar, public: [0; X25519_LEN] }))
}

/// Returns a new ML-KEM key without its public half.
fn ephemeral_ml_kem(set: MlKemSet) -> Result<Key, ProviderError> {
    let private = LatticePrivate::Seed(SecretBytes::from(random(MlKemSet::SEED_LEN)?));
    ephemeral(KeyParts::MlKemPrivate(LatticePrivateParts { set, private, public: Vec::new() }))
}

/// Returns a key with a random fingerprint, which belongs to no other key. Nobody asks for that of an ephemeral one.
fn ephemeral(parts: KeyParts) -> Result<Key, ProviderError> {
    let mut fingerprint = [0; 32];
    rand::fill(&mut fingerprint).map_err(|_| no_random_bytes())?;
    Ok(Key::local(parts, Fingerprint::new(fingerprint)))
}

fn random(len: usize) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = vec![0; len];
    rand::fill(&mut bytes).map_err(|_| no_random_bytes())?;
    Ok(bytes)
}

fn no_random_bytes() -> ProviderError {
    ProviderError::Accelerator("no random bytes".to_owned())
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
mod tests {
    use super::*;

    const GROUPS: [KemGroup; 3] =
        [KemGroup::X25519MlKem768, KemGroup::SecP256r1MlKem768, KemGroup::SecP384r1MlKem1024];

    /// RFC 10024 section 4, tables of lengths.
    #[test]
    fn shares_have_the_lengths_of_the_standard() {
        let lens = GROUPS.map(|group| (group.public_len(), group.ciphertext_len(), group.secret_len()));
        assert_eq!(lens, [(1216, 1120, 64), (1249, 1153, 64), (1665, 1665, 80)]);
    }

    #[test]
    fn both_sides_agree_and_the_halves_stand_in_the_order_of_the_standard() {
        let provider = LoadedProvider::detached();
        for group in GROUPS {
            let client = HybridPair::generate(&provider, group).unwrap();
            let peer = HybridPair::of_peer(group, &client.public).unwrap();
            let made = peer.encapsulate(&provider).unwrap();
            assert_eq!(made.ciphertext.len(), group.ciphertext_len());
            let secret = client.decapsulate(&provider, &made.ciphertext).unwrap();
            assert_eq!((secret.len(), &secret), (group.secret_len(), &made.secret), "{group:?}");
            let to_itself = client.encapsulate(&provider).unwrap();
            let opened = client.decapsulate(&provider, &to_itself.ciphertext).unwrap();
            assert_eq!(opened, to_itself.secret, "{group:?}");
            // A point begins with 4, and an encapsulation key of a NIST group stands behind it.
            let is_point_first = group.curve().is_some();
            assert!(!is_point_first || client.public[0] == 4 && made.ciphertext[0] == 4, "{group:?}");
            let (ciphertext, _) = group.split(&made.ciphertext, group.ml_kem().ciphertext_len()).unwrap();
            let of_ml_kem = provider.run_together(&[Job::decapsulate(&client.ml_kem, ciphertext)]).unwrap();
            let end = secret.len() - 32;
            let found = if is_point_first { &secret[end..] } else { &secret[..32] };
            assert_eq!(found, &of_ml_kem[..], "{group:?}");
        }
    }

    #[test]
    fn wrong_shares_are_refused_and_a_changed_ciphertext_gives_another_secret() {
        let provider = LoadedProvider::detached();
        for group in GROUPS {
            let client = HybridPair::generate(&provider, group).unwrap();
            let share = &client.public;
            for wrong in [&share[1..], &share[..share.len() - 1], &[], &[&share[..], &[0]].concat()] {
                assert!(HybridPair::of_peer(group, wrong).is_err(), "{group:?} {}", wrong.len());
            }
            // The first coefficient of the encapsulation key becomes 4095, which is not below q.
            let mut large = share.clone();
            let start = if group.curve().is_some() { group.curve_share_len() } else { 0 };
            large[start] = 0xFF;
            large[start + 1] |= 0x0F;
            assert!(HybridPair::of_peer(group, &large).is_err(), "{group:?}");
            // A curve's share of zeros: of small order, or no point.
            let mut zero = share.clone();
            let of_curve =
                if group.curve().is_some() { 0..start } else { share.len() - X25519_LEN..share.len() };
            zero[of_curve.clone()].fill(0);
            assert!(HybridPair::of_peer(group, &zero).is_err(), "{group:?}");

            let made = HybridPair::of_peer(group, share).unwrap().encapsulate(&provider).unwrap();
            let other = |at: usize| {
                let mut changed = made.ciphertext.clone();
                changed[at] ^= 1;
                client.decapsulate(&provider, &changed)
            };
            let in_ml_kem = if group.curve().is_some() { made.ciphertext.len() - 1 } else { 0 };
            assert_ne!(other(in_ml_kem).unwrap(), made.secret, "{group:?}");
            for wrong in [&made.ciphertext[1..], &[]] {
                assert!(client.decapsulate(&provider, wrong).is_err(), "{group:?}");
            }
            let mut zero = made.ciphertext.clone();
            let len = zero.len();
            zero[if group.curve().is_some() { 0..start } else { len - X25519_LEN..len }].fill(0);
            assert!(client.decapsulate(&provider, &zero).is_err(), "{group:?}");
        }
    }

    #[test]
    fn points_of_small_order_are_those_that_the_engine_refuses() {
        let provider = LoadedProvider::detached();
        let ephemeral_key = ephemeral_of_curve(KemGroup::X25519MlKem768).unwrap();
        let is_refused = |u: &[u8]| provider.run_together(&[Job::agree(&ephemeral_key, u)]).is_err();
        let mut encodings = vec![BASE_U, [0x55; 32]];
        for first in 0..=4 {
            let mut small = [0; 32];
            small[0] = first;
            let mut large = [0xFF; 32];
            large[0] = 0xEA + first;
            large[31] = 0x7F;
            encodings.extend([small, large]);
        }
        for base in [
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        ] {
            let byte = |at: usize| u8::from_str_radix(&base[2 * at..2 * at + 2], 16).unwrap();
            let point = std::array::from_fn(byte);
            let mut beside: [u8; 32] = point;
            beside[3] ^= 1;
            encodings.extend([point, beside]);
        }
        for mut u in encodings {
            for _ in 0..2 {
                assert_eq!(is_of_small_order(&u), is_refused(&u), "{u:02x?}");
                u[31] ^= 0x80;
            }
        }
    }
}
