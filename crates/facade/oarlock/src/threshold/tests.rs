//! The attacks of a dishonest server that knows its share and the mathematics.

use std::sync::OnceLock;

use crypto_bigint::{BoxedUint, ConcatenatingMul};
use oarlock_core::{DigestAlg, KeyParts, Scheme};
use oarlock_keys::import;
use oarlock_keys::threshold::{Share, ThresholdKey, split};

use super::partial::{PartialSignature, response_len};
use super::ring::{Residue, RsaRing};
use super::verify::{ProofStatement, challenge, verify};
use super::{SigningRequest, ThresholdError, combine, lagrange, sign};
use crate::{Accelerator, Input};

const SAFE_512: &[u8] = include_bytes!("../../../../engine/keys/tests/data/threshold/safe512.pem");

fn accelerator() -> &'static Accelerator {
    static ONE: OnceLock<Accelerator> = OnceLock::new();
    ONE.get_or_init(|| {
        Accelerator::builder().engines(["scalar"]).threads(1).cost_cache(None).lazy().build().unwrap()
    })
}

fn deal() -> (ThresholdKey, Vec<Share>) {
    split(&import::any(SAFE_512, None).unwrap(), 2, 3).unwrap()
}

fn request() -> SigningRequest<'static> {
    let scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
    SigningRequest::new(scheme, Input::Message(b"a message"))
}

fn honest(share: &Share) -> PartialSignature {
    sign(accelerator(), share, &[request()]).remove(0).unwrap()
}

fn verdict(key: &ThresholdKey, partial: PartialSignature) -> Result<(), ThresholdError> {
    verify(accelerator(), key, &request(), &[partial])
}

/// A proof for any x_i with the server's own secret and a nonce of its choice, by the book.
fn proven(share: &Share, root: &Residue, ring: &RsaRing) -> PartialSignature {
    let key = share.public();
    let nonce = 0x0123_4567_89AB_CDEF_u128;
    let encoded = ring.read(&request().encoded(key).unwrap()).unwrap();
    let base = ring.power(&encoded, 4 * lagrange::factorial(key));
    let generator = ring.read(key.verification_base()).unwrap();
    let statement = ProofStatement {
        key,
        index: share.index(),
        base: &ring.write(&base),
        root_squared: &ring.write(&root.square()),
    };
    let commitments = [&generator, &base].map(|base| ring.write(&ring.power(base, nonce)));
    let challenge = challenge(&statement, &commitments[0], &commitments[1]);
    let Some(KeyParts::ModExp(parts)) = share.key().parts() else { unreachable!() };
    let [secret, challenge_number] =
        [parts.exponent.expose(), &challenge].map(|bytes| BoxedUint::from_be_slice(bytes, 512).unwrap());
    let sum = secret.concatenating_mul(&challenge_number).concatenating_add(BoxedUint::from(nonce));
    let bytes = sum.to_be_bytes();
    let response = [vec![0; response_len(key)], bytes.to_vec()].concat();
    let response = &response[response.len() - response_len(key)..];
    PartialSignature::new(share.index(), &ring.write(root), response, &challenge)
}

/// The prover above convinces of what is true, so that the refusals below are for what is false.
#[test]
fn a_proof_by_the_book_convinces_of_the_right_root_alone() {
    let (key, shares) = deal();
    let ring = RsaRing::from_key(&key).unwrap();
    let root = ring.read(honest(&shares[0]).root()).unwrap();
    assert_eq!(verdict(&key, proven(&shares[0], &root, &ring)), Ok(()));
    let bad = Err(ThresholdError::BadPartials { indices: vec![1] });
    let two = &ring.one() + &ring.one();
    for wrong in [&root * &two, root.square(), ring.one(), two] {
        assert_eq!(verdict(&key, proven(&shares[0], &wrong, &ring)), bad);
    }
}

/// A proof does not show the sign of x_i. No combination depends on it, because only even powers of x_i are taken.
/// Shoup 2000, Protocol 1.
#[test]
fn the_negative_root_is_as_good() {
    let (key, shares) = deal();
    let ring = RsaRing::from_key(&key).unwrap();
    let good = [honest(&shares[0]), honest(&shares[1])];
    let negative = ring.write(&-ring.read(good[0].root()).unwrap());
    let bytes = [&negative, &good[0].as_bytes()[negative.len()..]].concat();
    let negative = PartialSignature::from_bytes(&key, 1, &bytes).unwrap();
    assert_ne!(negative, good[0]);
    let mixed = [negative, good[1].clone()];
    let combine = |partials: &[PartialSignature]| combine(accelerator(), &key, &request(), partials).unwrap();
    assert_eq!(combine(&mixed), combine(&good));
}

/// An attack without the server's secret: the simulator of the proof chooses c and z first, and misses the hash.
#[test]
fn a_simulated_proof_fails() {
    let (key, shares) = deal();
    let good = honest(&shares[0]);
    let other = honest(&shares[0]);
    assert_ne!(good.challenge(), other.challenge());
    let mut challenge = [0; 32];
    challenge.copy_from_slice(other.challenge());
    let mixed = PartialSignature::new(1, good.root(), good.response(), &challenge);
    assert_eq!(verdict(&key, mixed), Err(ThresholdError::BadPartials { indices: vec![1] }));
}

/// The dealer's primes are no valid root: a number that shares a factor with n has no inverse, and is the server's
/// fault.
#[test]
fn a_root_without_inverse_is_the_servers_fault() {
    let (key, shares) = deal();
    let whole = import::any(SAFE_512, None).unwrap();
    let Some(KeyParts::RsaPrivate(parts)) = whole.parts() else { unreachable!() };
    let good = [honest(&shares[0]), honest(&shares[1])];
    let root = [vec![0; 64 - parts.p.len()], parts.p.expose().to_vec()].concat();
    let bytes = [&root, &good[0].as_bytes()[64..]].concat();
    let mixed = [PartialSignature::from_bytes(&key, 1, &bytes).unwrap(), good[1].clone()];
    let bad = ThresholdError::BadPartials { indices: vec![1] };
    assert_eq!(combine(accelerator(), &key, &request(), &mixed).unwrap_err(), bad);
    let quick = super::combine_optimistic(accelerator(), &key, &request(), &mixed);
    assert_eq!(quick.unwrap_err(), bad);
}
