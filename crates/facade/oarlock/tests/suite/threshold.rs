//! Threshold signatures as callers meet them: any k of l servers make the signature that the whole key makes, and a
//! server that answers wrongly is named. Keys of safe primes come from the tests of `oarlock-keys`.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use oarlock::keys::threshold::{Share, ThresholdKey, split};
use oarlock::keys::{generate, import, raw};
use oarlock::threshold::{
    PartialSignature, SigningRequest, ThresholdError, combine, combine_optimistic, sign, submit, verify,
};
use oarlock::{Accelerator, DigestAlg, Input, Job, JobError, Key, SaltLength, Scheme, SubmitOptions};

const PKCS1: Scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
const PSS: Scheme = Scheme::RsaPssSign { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha256, salt_len: 20 };

/// Every engine that is not disabled; it proves them when it is made.
fn accelerator() -> &'static Accelerator {
    static ONE: OnceLock<Accelerator> = OnceLock::new();
    ONE.get_or_init(|| Accelerator::builder().threads(1).cost_cache(None).lazy().build().unwrap())
}

fn key(bits: u16) -> Key {
    let path =
        format!("{}/../../engine/keys/tests/data/threshold/safe{bits}.pem", env!("CARGO_MANIFEST_DIR"));
    import::any(&std::fs::read(path).unwrap(), None).unwrap()
}

/// A key of 512 bits, dealt.
fn deal(threshold: u8, shares: u8) -> (ThresholdKey, Vec<Share>) {
    split(&key(512), threshold, shares).unwrap()
}

fn message() -> SigningRequest<'static> {
    SigningRequest::new(PKCS1, Input::Message(b"a message"))
}

fn partials(shares: &[Share], request: SigningRequest<'_>) -> Vec<PartialSignature> {
    let one = |share| sign(accelerator(), share, &[request]).remove(0).unwrap();
    shares.iter().map(one).collect()
}

/// The signature of the whole key, PKCS#1 v1.5 being deterministic.
fn plain_signature(key: &Key, request: SigningRequest<'_>) -> Vec<u8> {
    accelerator()
        .run_all(&[Job::with_scheme(request.scheme, key, request.input, &[])])
        .get(0)
        .unwrap()
        .to_vec()
}

/// Every choice of `threshold` among the partial signatures.
fn subsets(all: &[PartialSignature], threshold: u8) -> Vec<Vec<PartialSignature>> {
    let chosen = |mask: u32| (0..all.len()).filter(move |at| mask >> at & 1 == 1).map(|at| all[at].clone());
    let masks = (0_u32..1 << all.len()).filter(|mask| mask.count_ones() == u32::from(threshold));
    masks.map(|mask| chosen(mask).collect()).collect()
}

/// The same partial signature with one bit of the byte at `at` flipped.
fn flipped(public: &ThresholdKey, partial: &PartialSignature, at: usize) -> PartialSignature {
    let mut bytes = partial.as_bytes().to_vec();
    bytes[at] ^= 1;
    PartialSignature::from_bytes(public, partial.index(), &bytes).unwrap()
}

/// Last bytes of x_i, z and c.
fn ends(public: &ThresholdKey) -> [usize; 3] {
    let len = public.modulus_len();
    [len - 1, 2 * len + 63, 2 * len + 95]
}

#[test]
fn every_subset_makes_the_signature_of_the_whole_key() {
    let expected = plain_signature(&key(512), message());
    for (threshold, count, choices) in [(2, 3, 3), (3, 5, 10), (2, 2, 1)] {
        let (public, shares) = deal(threshold, count);
        let subsets = subsets(&partials(&shares, message()), threshold);
        assert_eq!(subsets.len(), choices);
        for subset in &subsets {
            assert_eq!(combine(accelerator(), &public, &message(), subset).unwrap(), expected);
            let quick = combine_optimistic(accelerator(), &public, &message(), subset).unwrap();
            assert_eq!((quick.signature, quick.culprits), (expected.clone(), vec![]));
        }
    }
}

#[test]
fn the_most_shares_and_the_highest_threshold_work() {
    let expected = plain_signature(&key(512), message());
    for threshold in [2, 9, 16] {
        let (public, shares) = deal(threshold, 16);
        let mut all = partials(&shares, message());
        all.reverse();
        assert_eq!(combine(accelerator(), &public, &message(), &all).unwrap(), expected);
    }
}

#[test]
fn longer_keys_and_other_digests_work() {
    for (bits, digest) in [(1024, DigestAlg::Sha1), (1024, DigestAlg::Sha512), (2048, DigestAlg::Sha384)] {
        let key = key(bits);
        let (public, shares) = split(&key, 2, 3).unwrap();
        let request = SigningRequest::new(Scheme::RsaPkcs1Sign { digest }, Input::Message(b"another"));
        let found = combine(accelerator(), &public, &request, &partials(&shares[1..], request)).unwrap();
        assert_eq!(found, plain_signature(&key, request));
    }
}

/// Neither the PSS encoding nor z fills its bytes.
#[test]
fn lengths_of_no_whole_bytes_work() {
    for bits in [514, 516, 522] {
        let key = generate::rsa_safe(bits, |_| ()).unwrap();
        let (public, shares) = split(&key, 2, 2).unwrap();
        let found = combine(accelerator(), &public, &message(), &partials(&shares, message())).unwrap();
        assert_eq!(found, plain_signature(&key, message()), "{bits}");
        let salted = SigningRequest::new(PSS, Input::Message(b"salted")).with_salt(&[7; 20]);
        let partials = partials(&shares, salted);
        assert!(combine_optimistic(accelerator(), &public, &salted, &partials).is_ok(), "{bits}");
    }
}

#[test]
fn many_requests_at_once_are_answered_in_their_order() {
    let (public, shares) = deal(2, 3);
    let digests: Vec<[u8; 32]> = (0..19).map(|n| [n; 32]).collect();
    let mut requests: Vec<_> = digests.iter().map(|d| SigningRequest::new(PKCS1, Input::Digest(d))).collect();
    requests[7].input = Input::Digest(&[1; 20]);
    let answers: Vec<_> = shares[..2].iter().map(|share| sign(accelerator(), share, &requests)).collect();
    for (at, request) in requests.iter().enumerate() {
        if at == 7 {
            assert!(matches!(answers[0][at], Err(ThresholdError::Job(JobError::Length { .. }))));
            continue;
        }
        let pair: Vec<PartialSignature> = answers.iter().map(|answer| answer[at].clone().unwrap()).collect();
        let found = combine(accelerator(), &public, request, &pair).unwrap();
        assert_eq!(found, plain_signature(&key(512), *request), "{at}");
    }
}

#[test]
fn the_queue_gives_what_this_thread_gives() {
    let (public, shares) = deal(2, 3);
    let digests: Vec<[u8; 32]> = (0..9).map(|n| [n; 32]).collect();
    let mut requests: Vec<_> = digests.iter().map(|d| SigningRequest::new(PKCS1, Input::Digest(d))).collect();
    requests[4].salt = &[1];
    let queued = |share| submit(accelerator(), share, &requests, SubmitOptions::default()).unwrap();
    let answers = [queued(&shares[0]).wait(), block_on(queued(&shares[2]))];
    for (at, request) in requests.iter().enumerate().filter(|(at, _)| *at != 4) {
        let pair: Vec<PartialSignature> = answers.iter().map(|answer| answer[at].clone().unwrap()).collect();
        let found = combine(accelerator(), &public, request, &pair).unwrap();
        assert_eq!(found, plain_signature(&key(512), *request), "{at}");
    }
    assert!(matches!(answers[1][4], Err(ThresholdError::Job(JobError::Length { what: "salt", .. }))));
    let nothing = submit(accelerator(), &shares[0], &[], SubmitOptions::default()).unwrap();
    assert!(nothing.wait().is_empty() && block_on(queued(&shares[0])).len() == 9);
}

/// Polls on this thread, which sleeps until woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn pss_takes_its_salt_from_who_asks() {
    let (public, shares) = deal(2, 3);
    let request = SigningRequest::new(PSS, Input::Message(b"salted")).with_salt(&[7; 20]);
    let signature = combine(accelerator(), &public, &request, &partials(&shares[..2], request)).unwrap();
    let scheme = Scheme::RsaPssVerify {
        digest: DigestAlg::Sha256,
        mgf: DigestAlg::Sha256,
        salt: SaltLength::Exactly(20),
    };
    let check = Job::with_scheme(scheme, public.public(), request.input, &signature);
    assert!(accelerator().run_all(&[check]).get(0).is_ok());
    // Another salt is another request.
    let other = request.with_salt(&[8; 20]);
    let mixed = [partials(&shares[..1], request), partials(&shares[1..2], other)].concat();
    let found = combine(accelerator(), &public, &request, &mixed).unwrap_err();
    assert_eq!(found, ThresholdError::BadPartials { indices: vec![2] });
}

#[test]
fn salts_and_schemes_that_do_not_fit_are_refused() {
    let share = deal(2, 2).1.remove(0);
    let refused = |request| sign(accelerator(), &share, &[request]).remove(0).unwrap_err();
    for (scheme, salt) in [(PSS, &[0; 19][..]), (PSS, &[]), (PKCS1, &[0])] {
        let request = SigningRequest::new(scheme, Input::Message(b"m")).with_salt(salt);
        assert!(matches!(refused(request), ThresholdError::Job(JobError::Length { what: "salt", .. })));
    }
    for scheme in [Scheme::RsaPkcs1Decrypt, Scheme::Ed25519Sign] {
        let request = SigningRequest::new(scheme, Input::Message(&[1; 64]));
        assert!(matches!(refused(request), ThresholdError::Job(JobError::Unsupported { .. })));
    }
    let long = SigningRequest::new(Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha512 }, Input::Message(b"m"));
    assert!(matches!(refused(long), ThresholdError::Job(JobError::Length { what: "modulus", .. })));
}

#[test]
fn each_changed_number_is_detected_and_its_server_named() {
    let (public, shares) = deal(2, 3);
    let good = partials(&shares, message());
    assert_eq!(verify(accelerator(), &public, &message(), &good), Ok(()));
    for end in ends(&public) {
        for server in 0..3 {
            let mut mixed = good.clone();
            mixed[server] = flipped(&public, &good[server], end);
            let wanted = ThresholdError::BadPartials { indices: vec![shares[server].index()] };
            assert_eq!(verify(accelerator(), &public, &message(), &mixed), Err(wanted.clone()));
            assert_eq!(combine(accelerator(), &public, &message(), &mixed), Err(wanted));
        }
    }
}

#[test]
fn the_quick_way_survives_culprits_as_long_as_enough_are_right() {
    let (public, shares) = deal(2, 4);
    let expected = plain_signature(&key(512), message());
    let good = partials(&shares, message());
    let damage = |at: usize| flipped(&public, &good[at], ends(&public)[0]);
    let one = [damage(0), good[1].clone(), good[2].clone()];
    let found = combine_optimistic(accelerator(), &public, &message(), &one).unwrap();
    assert_eq!((found.signature, found.culprits), (expected.clone(), vec![1]));
    let two = [damage(0), good[1].clone(), damage(2), good[3].clone()];
    let found = combine_optimistic(accelerator(), &public, &message(), &two).unwrap();
    assert_eq!((found.signature, found.culprits), (expected.clone(), vec![1, 3]));
    let found = combine_optimistic(accelerator(), &public, &message(), &two[..3]).unwrap_err();
    assert_eq!(found, ThresholdError::BadPartials { indices: vec![1, 3] });
    // A wrong proof of a right x_i does not stand in the way, and only `combine` names it.
    let proof = [flipped(&public, &good[0], ends(&public)[1]), good[1].clone()];
    let found = combine_optimistic(accelerator(), &public, &message(), &proof).unwrap();
    assert_eq!((found.signature, found.culprits), (expected, vec![]));
}

#[test]
fn shares_of_another_deal_or_of_another_key_or_over_another_message_are_named() {
    let ((public, shares), (_, others)) = (deal(2, 3), deal(2, 3));
    let (_, longer) = split(&key(1024), 2, 3).unwrap();
    let another = SigningRequest::new(PKCS1, Input::Message(b"another message"));
    let strangers = [partials(&others, message()), partials(&longer, message()), partials(&shares, another)];
    for stranger in strangers {
        let mixed = [partials(&shares[..1], message()), stranger[1..2].to_vec()].concat();
        let wanted = ThresholdError::BadPartials { indices: vec![2] };
        assert_eq!(combine(accelerator(), &public, &message(), &mixed), Err(wanted.clone()));
        let found = combine_optimistic(accelerator(), &public, &message(), &mixed);
        assert_eq!(found.unwrap_err(), wanted);
    }
}

/// A server that says it is another is the one that is named, because who asks says who was asked.
#[test]
fn a_partial_signature_under_another_index_does_not_verify() {
    let (public, shares) = deal(2, 3);
    let good = partials(&shares, message());
    let posing = PartialSignature::from_bytes(&public, 3, good[0].as_bytes()).unwrap();
    let found = verify(accelerator(), &public, &message(), &[good[1].clone(), posing]);
    assert_eq!(found, Err(ThresholdError::BadPartials { indices: vec![3] }));
}

#[test]
fn too_few_twice_and_strangers_are_refused() {
    let (public, shares) = deal(3, 5);
    let good = partials(&shares, message());
    let both = |partials: &[PartialSignature]| {
        let found = combine(accelerator(), &public, &message(), partials).unwrap_err();
        let quick = combine_optimistic(accelerator(), &public, &message(), partials).unwrap_err();
        assert_eq!(found, quick);
        found
    };
    assert_eq!(both(&[]), ThresholdError::TooFew { needed: 3, found: 0 });
    assert_eq!(both(&good[..2]), ThresholdError::TooFew { needed: 3, found: 2 });
    let twice = [good[0].clone(), good[1].clone(), good[0].clone()];
    assert_eq!(both(&twice), ThresholdError::Duplicate { index: 1 });
    let (_, more) = deal(3, 6);
    let stranger = [&partials(&more[5..], message())[..], &good].concat();
    assert_eq!(both(&stranger), ThresholdError::Index { shares: 5, found: 6 });
}

#[test]
fn bytes_come_back_and_bytes_of_another_form_are_refused() {
    let (public, shares) = deal(2, 3);
    let partial = partials(&shares[..1], message()).remove(0);
    let bytes = partial.as_bytes();
    assert_eq!((bytes.len(), PartialSignature::len_under(&public)), (64 + 128 + 32, 64 + 128 + 32));
    assert_eq!(PartialSignature::from_bytes(&public, 1, bytes).unwrap(), partial);
    for len in (0..bytes.len()).chain([bytes.len() + 1]) {
        let cut: Vec<u8> = bytes.iter().copied().chain([0]).take(len).collect();
        let wanted = ThresholdError::PartialLength { index: 1, expected: bytes.len(), found: len };
        assert_eq!(PartialSignature::from_bytes(&public, 1, &cut), Err(wanted));
    }
    for index in [0, 4, 255] {
        let wanted = ThresholdError::Index { shares: 3, found: index };
        assert_eq!(PartialSignature::from_bytes(&public, index, bytes), Err(wanted));
    }
    let changes = [("x_i", 0..64, 0xFF), ("x_i", 0..64, 0), ("z", 64..192, 0), ("c", 192..224, 0)];
    for (what, range, fill) in changes {
        let mut changed = bytes.to_vec();
        changed[range].fill(fill);
        let wanted = ThresholdError::PartialRange { index: 1, what };
        assert_eq!(PartialSignature::from_bytes(&public, 1, &changed), Err(wanted));
    }
}

/// Nothing that a server can send makes the one who combines fail or take a wrong signature.
#[test]
fn no_garbled_partial_signature_passes() {
    let (public, shares) = deal(2, 2);
    let good = partials(&shares, message());
    for at in (0..good[0].as_bytes().len()).step_by(5) {
        let mut bytes = good[0].as_bytes().to_vec();
        bytes[at] ^= 0x5A;
        let Ok(garbled) = PartialSignature::from_bytes(&public, 1, &bytes) else { continue };
        let found = combine(accelerator(), &public, &message(), &[garbled, good[1].clone()]);
        assert_eq!(found, Err(ThresholdError::BadPartials { indices: vec![1] }), "byte {at}");
    }
}

fn kept(name: &str) -> String {
    format!("{}/../../engine/keys/tests/data/threshold/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A proof of version 1 is as `docs/math/threshold-rsa.md` says. The script `verify.py` beside the files, which is
/// independent of this code, agrees.
#[test]
fn a_kept_partial_signature_verifies() {
    let public = ThresholdKey::from_pem(&std::fs::read(kept("key512.pem")).unwrap()).unwrap();
    let text = std::fs::read_to_string(kept("partial512.hex")).unwrap();
    let digits = text.trim().as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let bytes: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    let partial = PartialSignature::from_bytes(&public, 1, &bytes).unwrap();
    assert_eq!(verify(accelerator(), &public, &message(), &[partial]), Ok(()));
}

#[test]
#[ignore = "writes the kept file"]
fn sign_the_kept_partial_signature() {
    let share = Share::from_pem(&std::fs::read(kept("share512.pem")).unwrap(), None).unwrap();
    let partial = partials(&[share], message()).remove(0);
    let text: String = partial.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(kept("partial512.hex"), text + "\n").unwrap();
}

#[test]
fn whose_fault_it_was_is_told() {
    use oarlock::Blame;
    let peer = ThresholdError::BadPartials { indices: vec![1] };
    assert_eq!(peer.blame(), Blame::Peer);
    assert_eq!(ThresholdError::TooFew { needed: 2, found: 1 }.blame(), Blame::Caller);
    assert_eq!(ThresholdError::WrongSignature.blame(), Blame::Machine);
    assert_eq!(peer.to_string(), "wrong partial signatures of the servers [1]");
    assert!(raw::secret(vec![1]).is_ok_and(|key| split(&key, 2, 3).is_err()));
}
