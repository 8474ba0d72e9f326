use oarlock::MlKemSet;
use rustls::crypto::aws_lc_rs::kx_group;

use super::*;

fn accelerator() -> Accelerator {
    Accelerator::builder().engines(["scalar"]).lazy().build().unwrap()
}

fn ours(group: Group) -> JobKxGroup {
    JobKxGroup { accelerator: accelerator(), group }
}

const HYBRIDS: [Group; 2] = [Group::X25519MlKem768, Group::SecP256r1MlKem768];

/// The group of AWS-LC with the same name.
fn theirs(group: NamedGroup) -> &'static dyn SupportedKxGroup {
    let all = rustls::crypto::aws_lc_rs::ALL_KX_GROUPS;
    *all.iter().find(|found| found.name() == group).unwrap()
}

fn our_groups() -> [JobKxGroup; 3] {
    [Group::X25519, Group::X25519MlKem768, Group::SecP256r1MlKem768].map(ours)
}

#[test]
fn every_group_agrees_with_aws_lc() {
    for ours in our_groups() {
        let theirs = theirs(ours.name());
        let client = theirs.start().unwrap();
        let server = ours.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(server.group, ours.name());
        assert_eq!(client.complete(&server.pub_key).unwrap().secret_bytes(), server.secret.secret_bytes());
        let client = ours.start().unwrap();
        assert_eq!(client.group(), ours.name());
        let server = theirs.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(client.complete(&server.pub_key).unwrap().secret_bytes(), server.secret.secret_bytes());
    }
}

#[test]
fn the_curve_of_a_hybrid_agrees_alone() {
    assert!(ours(Group::X25519).start().unwrap().hybrid_component().is_none());
    for (group, curve) in HYBRIDS.into_iter().zip([NamedGroup::X25519, NamedGroup::secp256r1]) {
        let client = ours(group).start().unwrap();
        let (name, share) = client.hybrid_component().unwrap();
        assert_eq!(name, curve);
        let server = theirs(name).start_and_complete(share).unwrap();
        let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    }
}

/// Both halves wait together: a server that computed them one after the other would submit twice.
#[test]
fn both_halves_are_one_set_of_jobs() {
    let ours = ours(Group::X25519MlKem768);
    let jobs = |before: u64| ours.accelerator.counters().submitted - before;
    let client = ours.start().unwrap();
    assert_eq!(jobs(0), 2, "two keys");
    let server = ours.start_and_complete(client.pub_key()).unwrap();
    assert_eq!(jobs(2), 3, "an encapsulation, an agreement and a key");
    client.complete(&server.pub_key).unwrap();
    assert_eq!(jobs(5), 2, "a decapsulation and an agreement");
}

#[test]
fn shares_of_another_length_are_the_peers_fault() {
    for ours in our_groups() {
        let client_share = theirs(ours.name()).start().unwrap().pub_key().to_vec();
        let server_share = ours.start_and_complete(&client_share).unwrap().pub_key;
        for share in [client_share, server_share] {
            let longer = [&share[..], &[1]].concat();
            for share in [&[][..], &share[..31], &share[..share.len() - 1], &longer] {
                assert_eq!(ours.start_and_complete(share).err(), Some(INVALID_SHARE), "{}", share.len());
                assert_eq!(
                    ours.start().unwrap().complete(share).err(),
                    Some(INVALID_SHARE),
                    "{}",
                    share.len()
                );
            }
        }
    }
}

/// The other half is valid in every case.
#[test]
fn one_invalid_half_is_enough() {
    for group in HYBRIDS {
        let ours = ours(group);
        let client = theirs(ours.name()).start().unwrap();
        let (ml_kem, curve) = group.split_client_share(client.pub_key()).unwrap();
        let with = |ml_kem: &[u8], curve: &[u8]| ours.start_and_complete(&group.join(ml_kem, curve));
        with(ml_kem, curve).unwrap();
        // A point of small order of X25519, and no point on P-256.
        let zeros = vec![0; curve.len()];
        assert_eq!(with(ml_kem, &zeros).err(), Some(INVALID_SHARE), "{group:?}");
        // The first coefficient is 4095, above q.
        let mut beyond = ml_kem.to_vec();
        beyond[..2].copy_from_slice(&[0xff, 0x0f]);
        assert_eq!(with(&beyond, curve).err(), Some(INVALID_SHARE), "{group:?}");

        let ciphertext = vec![7; MlKemSet::MlKem768.ciphertext_len()];
        let answer = group.join(&ciphertext, &zeros);
        assert_eq!(ours.start().unwrap().complete(&answer).err(), Some(INVALID_SHARE), "{group:?}");
        // Every ciphertext gives a secret, which is not the other side's. FIPS 203 6.3.
        ours.start().unwrap().complete(&group.join(&ciphertext, curve)).unwrap();
    }
}

#[test]
fn small_orders_are_the_peers_fault() {
    let ours = ours(Group::X25519);
    assert_eq!(ours.start_and_complete(&[0; 32]).err(), Some(INVALID_SHARE));
    assert_eq!(ours.start().unwrap().complete(&[0; 32]).err(), Some(INVALID_SHARE));
}

#[test]
fn hybrids_are_for_tls_1_3_only() {
    for ours in our_groups().iter().skip(1) {
        assert!(ours.usable_for_version(ProtocolVersion::TLSv1_3));
        assert!(!ours.usable_for_version(ProtocolVersion::TLSv1_2));
    }
    assert!(kx_group::X25519.usable_for_version(ProtocolVersion::TLSv1_2));
}
