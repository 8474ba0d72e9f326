use rustls::crypto::aws_lc_rs::kx_group;

use super::*;

fn accelerator() -> Accelerator {
    Accelerator::builder().engines(["scalar"]).lazy().build().unwrap()
}

fn hybrid(curve: HybridCurve) -> HybridGroup {
    HybridGroup { accelerator: accelerator(), curve }
}

/// The group of AWS-LC with the same name.
fn theirs(group: NamedGroup) -> &'static dyn SupportedKxGroup {
    let all = rustls::crypto::aws_lc_rs::ALL_KX_GROUPS;
    *all.iter().find(|found| found.name() == group).unwrap()
}

fn our_groups() -> [Box<dyn SupportedKxGroup>; 3] {
    [
        Box::new(X25519Group(accelerator())),
        Box::new(hybrid(HybridCurve::X25519)),
        Box::new(hybrid(HybridCurve::P256)),
    ]
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
    for curve in [HybridCurve::X25519, HybridCurve::P256] {
        let client = hybrid(curve).start().unwrap();
        let (name, share) = client.hybrid_component().unwrap();
        assert_eq!(name, curve.name());
        let server = theirs(name).start_and_complete(share).unwrap();
        let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    }
}

/// Both halves wait together: a server that computed them one after the other would submit twice.
#[test]
fn both_halves_are_one_set_of_jobs() {
    let ours = hybrid(HybridCurve::X25519);
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
    for curve in [HybridCurve::X25519, HybridCurve::P256] {
        let ours = hybrid(curve);
        let client = theirs(ours.name()).start().unwrap();
        let (post_quantum, classical) = curve.split(client.pub_key(), ML_KEM.public_len()).unwrap();
        let with = |post_quantum: &[u8], classical: &[u8]| {
            ours.start_and_complete(&curve.joined(post_quantum, classical))
        };
        with(post_quantum, classical).unwrap();
        // Zeros are a point of small order of X25519, and no point on P-256. P-256 has the point at infinity as one byte
        // only.
        let zeros = vec![0; curve.share_len()];
        assert_eq!(with(post_quantum, &zeros).err(), Some(INVALID_SHARE), "{curve:?}");
        // The first coefficient is 4,095, above q.
        let mut beyond = post_quantum.to_vec();
        beyond[..2].copy_from_slice(&[0xff, 0x0f]);
        assert_eq!(with(&beyond, classical).err(), Some(INVALID_SHARE), "{curve:?}");
        assert_eq!(with(&beyond, &zeros).err(), Some(INVALID_SHARE), "{curve:?}");

        let ciphertext = vec![7; ML_KEM.ciphertext_len()];
        let answer = curve.joined(&ciphertext, &zeros);
        assert_eq!(ours.start().unwrap().complete(&answer).err(), Some(INVALID_SHARE), "{curve:?}");
        // Every ciphertext gives a secret, which is not the other side's. FIPS 203 6.3.
        ours.start().unwrap().complete(&curve.joined(&ciphertext, classical)).unwrap();
    }
}

/// q itself is the smallest coefficient that is refused, and q - 1 the largest that passes.
#[test]
fn coefficients_of_the_encapsulation_key_are_below_q() {
    let ours = hybrid(HybridCurve::X25519);
    let client = theirs(ours.name()).start().unwrap();
    for (coefficient, is_valid) in [(3_328_u16, true), (3_329, false)] {
        // The last of 768: its 12 bits are the upper half of a byte, and the byte behind it.
        let mut share = client.pub_key().to_vec();
        let end = ML_KEM.public_len() - 32;
        let [high, low] = (coefficient << 4).to_be_bytes();
        share[end - 2] = share[end - 2] & 0x0f | low;
        share[end - 1] = high;
        let answer = ours.start_and_complete(&share);
        assert_eq!(answer.is_ok(), is_valid, "{coefficient}");
        assert!(is_valid || answer.err() == Some(INVALID_SHARE), "{coefficient}");
    }
}

#[test]
fn points_off_the_curve_are_the_peers_fault() {
    let ours = hybrid(HybridCurve::P256);
    let client = theirs(ours.name()).start().unwrap();
    for change in [0, 1, P256_POINT_LEN - 1] {
        let mut share = client.pub_key().to_vec();
        share[change] ^= 1;
        assert_eq!(ours.start_and_complete(&share).err(), Some(INVALID_SHARE), "byte {change}");
    }
}

#[test]
fn small_orders_are_the_peers_fault() {
    let ours = X25519Group(accelerator());
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
