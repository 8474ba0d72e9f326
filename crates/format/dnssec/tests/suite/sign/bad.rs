//! Zones, keys and options that cannot be signed.

use oarlock::Key;
use oarlock::engine_api::KeyParts;
use oarlock::keys::raw;
use oarlock::{Fingerprint, KeyKind};
use oarlock_dnssec::sign::{
    DenialMethod, KeyRole, Nsec3Options, SignOptions, SignatureLifetime, SignerKey, SigningPlan, ZoneDraft,
    ZoneSignError,
};
use oarlock_dnssec::{DnssecAlgorithm, KeyPhase, RecordType};

use super::{NOW, draft, key, options, pair, scalar, zone};
use crate::common::ONE_TAG;

const APEX: &str = "$ORIGIN example.\n$TTL 60\n@ SOA . . 7 2 3 4 5\n@ NS ns\n";

fn refused(text: &str) -> String {
    draft(text, options()).unwrap_err().to_string()
}

fn refused_with(keys: Vec<SignerKey>, options: SignOptions) -> ZoneSignError {
    ZoneDraft::new(&scalar(), &zone(APEX), keys, options, None).unwrap_err()
}

#[test]
fn rejects_contradictory_zones_with_their_lines() {
    let digest = "00".repeat(32);
    for (more, error) in [
        ("a CNAME b\na A 192.0.2.1\n", "line 5: a.example. CNAME: a CNAME stands alone"),
        ("a CNAME b\na CNAME c\n", "line 6: a.example. CNAME: a second CNAME or DNAME record"),
        ("a DNAME b\na DNAME c\n", "line 6: a.example. DNAME: a second CNAME or DNAME record"),
        ("@ SOA . . 8 2 3 4 5\n", "line 5: example. SOA: a second SOA record"),
        ("a SOA . . 8 2 3 4 5\n", "line 5: a.example. SOA: a second SOA record"),
        (&format!("a DS 1 13 2 {digest}\n"), "line 5: a.example. DS: a DS record without delegation"),
        (&format!("@ DS 1 13 2 {digest}\n"), "line 5: example. DS: a DS record without delegation"),
    ] {
        assert_eq!(refused(&format!("{APEX}{more}")), error);
    }
    assert!(draft(&format!("{APEX}a CNAME b\na NSEC b CNAME\na RRSIG CNAME 13 2 60 20300101000000 20200101000000 1 example. AAAA\n"), options()).is_ok());
    assert_eq!(draft("example. 60 NS a.\n", options()).unwrap_err(), ZoneSignError::NoSoa);
    assert_eq!(draft("", options()).unwrap_err(), ZoneSignError::NoSoa);
}

#[test]
fn rejects_keys_that_cannot_sign() {
    assert_eq!(refused_with(vec![], options()), ZoneSignError::NoKey);
    let twice = vec![key(13, KeyRole::Ksk, 1), key(13, KeyRole::Ksk, 1)];
    assert!(matches!(refused_with(twice, options()), ZoneSignError::SameKey { .. }));
    // Two keys of one tag, unless one of them is neither in the zone nor signs.
    let [one, two] = ONE_TAG.map(|seed| {
        let key = raw::ed25519_private(&seed).unwrap();
        SignerKey::new(key, KeyRole::Csk, 257, DnssecAlgorithm::ED25519).unwrap()
    });
    let same_tag = ZoneSignError::SameTag { tag: one.tag(), algorithm: DnssecAlgorithm::ED25519 };
    for phase in [KeyPhase::Active, KeyPhase::Published, KeyPhase::Presigning, KeyPhase::Inactive] {
        let keys = vec![two.clone().with_phase(phase), one.clone()];
        assert_eq!(refused_with(keys, options()), same_tag, "{phase}");
    }
    let keys = vec![one, two.with_phase(KeyPhase::Removed)];
    assert!(ZoneDraft::new(&scalar(), &zone(APEX), keys, options(), None).is_ok());
    let seed = || raw::ed25519_private(&[1; 32]).unwrap();
    for algorithm in [DnssecAlgorithm::ED448, DnssecAlgorithm(3), DnssecAlgorithm(99)] {
        let error = SignerKey::new(seed(), KeyRole::Csk, 257, algorithm).unwrap_err();
        assert_eq!(error, ZoneSignError::CannotSign(algorithm));
    }
    assert!(matches!(
        SignerKey::new(seed(), KeyRole::Csk, 257, DnssecAlgorithm(13)),
        Err(ZoneSignError::Key(_))
    ));
    let public = raw::ed25519_public(seed().ed25519_public().unwrap()).unwrap();
    let error = SignerKey::new(public, KeyRole::Csk, 257, DnssecAlgorithm::ED25519).unwrap_err();
    assert_eq!(error, ZoneSignError::PublicKey);
}

#[test]
fn signing_fails_while_the_holder_of_the_key_is_away() {
    let public = KeyParts::Ed25519Public(*raw::ed25519_private(&[1; 32]).unwrap().ed25519_public().unwrap());
    let away = Key::held(KeyKind::Ed25519Private, "server", "name", Some(public), Fingerprint::new([1; 32]));
    let keys = vec![SignerKey::new(away, KeyRole::Csk, 257, DnssecAlgorithm::ED25519).unwrap()];
    let draft = ZoneDraft::new(&scalar(), &zone(APEX), keys, options(), None).unwrap();
    let plan = SigningPlan::new(&draft, None).unwrap();
    let error = plan.sign(&scalar(), 0..plan.name_count()).unwrap_err();
    assert!(
        error.is_machines() && matches!(error, ZoneSignError::Unsigned { rtype: RecordType::NS, .. }),
        "{error}"
    );
}

#[test]
fn rejects_a_key_that_is_published_with_other_flags() {
    let text = format!("{APEX}@ DNSKEY 256 3 15 iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=\n");
    let sign = |role| ZoneDraft::new(&scalar(), &zone(&text), vec![key(15, role, 1)], options(), None);
    let error = sign(KeyRole::Csk).unwrap_err();
    assert!(matches!(error, ZoneSignError::Flags { published: 256, given: 257, .. }), "{error}");
    assert!(sign(KeyRole::Zsk).is_ok());
}

/// RFC 5155 section 2.
#[test]
fn algorithm_5_has_no_nsec3() {
    let denial = DenialMethod::Nsec3(Nsec3Options::default());
    let nsec3 = SignOptions { denial, ..options() };
    let with = |algorithm, options| {
        ZoneDraft::new(&scalar(), &zone(APEX), vec![key(algorithm, KeyRole::Csk, 1)], options, None).map(drop)
    };
    assert_eq!(with(5, nsec3.clone()), Err(ZoneSignError::NoNsec3(DnssecAlgorithm::RSASHA1)));
    assert_eq!((with(7, nsec3), with(5, options())), (Ok(()), Ok(())));
}

#[test]
fn rejects_parameters_that_validators_reject() {
    let with = |iterations, salt: usize| {
        let denial = DenialMethod::Nsec3(Nsec3Options { iterations, salt: vec![0; salt], is_opt_out: false });
        draft(APEX, SignOptions { denial, ..options() }).map(drop)
    };
    assert_eq!((with(150, 255), with(0, 0)), (Ok(()), Ok(())));
    assert_eq!(with(151, 0), Err(ZoneSignError::Iterations(151)));
    assert_eq!(with(0, 256), Err(ZoneSignError::Salt(256)));
    let error = draft(APEX, SignOptions { zone_digests: vec![3], ..options() }).unwrap_err();
    assert_eq!(error, ZoneSignError::ZoneDigest(3));
}

#[test]
fn rejects_a_zone_name_too_long_for_hashed_names() {
    let label = "a".repeat(63);
    for (last, fits) in [(28, true), (29, false)] {
        let apex = format!("{label}.{label}.{label}.{}.", "b".repeat(last));
        let text = format!("{apex} 60 SOA . . 1 2 3 4 5\n{apex} NS a.\n");
        let denial = DenialMethod::Nsec3(Nsec3Options::default());
        let drafted = draft(&text, SignOptions { denial, ..options() });
        assert_eq!(drafted.is_ok(), fits, "{drafted:?}");
        assert!(fits || matches!(drafted, Err(ZoneSignError::LongApex(_))));
        assert!(draft(&text, options()).is_ok());
    }
}

#[test]
fn rejects_lifetimes_without_valid_signatures() {
    let with = |change: fn(&mut SignatureLifetime)| {
        let mut lifetime = SignatureLifetime::from(NOW);
        change(&mut lifetime);
        refused_or_not(lifetime)
    };
    assert_eq!(with(|_| {}), Ok(()));
    assert_eq!(with(|lifetime| lifetime.expiration = lifetime.inception), Err(ZoneSignError::Inception));
    assert_eq!(with(|lifetime| lifetime.expiration = lifetime.inception - 1), Err(ZoneSignError::Inception));
    assert_eq!(
        with(|lifetime| lifetime.expiration = lifetime.inception.wrapping_add(1 << 31)),
        Err(ZoneSignError::Inception)
    );
    assert_eq!(with(|lifetime| lifetime.expiration = lifetime.now), Err(ZoneSignError::Expiration));
    assert_eq!(with(|lifetime| lifetime.jitter_s = 30 * 86_400 - 1), Ok(()));
    assert!(matches!(with(|lifetime| lifetime.jitter_s = 30 * 86_400), Err(ZoneSignError::Jitter { .. })));
}

fn refused_or_not(lifetime: SignatureLifetime) -> Result<(), ZoneSignError> {
    let zone = zone(&format!("{APEX}ns A 192.0.2.1\n"));
    ZoneDraft::new(&scalar(), &zone, pair(), SignOptions::new(lifetime), None).map(drop)
}
