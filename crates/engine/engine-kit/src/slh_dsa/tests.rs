// Miri would take hours for the thousands of hashes of one signature.
#![cfg(not(miri))]

use std::cell::Cell;

use super::*;
use crate::hash::{HashState, Sha256};

/// PK.root, and the SHA-256 of the deterministic signature of `message` with the context `context`, for the private key
/// whose seeds are the bytes from 0 on. Made by the crate fips205, version 0.4.1.
const ANSWERS: [(&str, &str); 12] = [
    ("990ce6298792b128846a8e4a3a68954c", "7a761609d23a469cf8ce2d35acc603177b7f083b748493561fe57fd34bc2a6c7"),
    ("3b56e816847f000386aeec2e2bb9e1b5", "8cf6744657b5f19defae315b07dd467376357b6b67ea48d289139cc9a8a7ec2c"),
    (
        "b6f282ce116ff59bce2d9fc4a67c6031dabdce326c34f541",
        "593dad4fa2e51eab3539ac28db7ddde277bc8f3068eab3e63862bf417331a5aa",
    ),
    (
        "9236ccebbb3a90ac2452dd89de49dab1340ec02419a2870e",
        "33a43b99830ebb6b49df8896b25758dcf885d45ac5f3071cb6ea76edec62c72f",
    ),
    (
        "da7163e601352515bc0f06f9f4f44be71a5a65ee9dca5575cf4a7b6d4a87d6e2",
        "6d38fab0d2e1a4d3ad5ae2425c017562e0e00b80ee04e20ff1976fb38380e705",
    ),
    (
        "42cffe64ddbd6731063752684df77c8b58c225dc6b491208916b654ea1393176",
        "886f2dbaf1290936da7524d97f0550c8d519b572de36df9b69edf15582fd7f01",
    ),
    ("89fd81fdbb5b94129b14761bdc6bf682", "e24064f4afe2ee40557c33edc82b3e46d05e7ff5abb6da082c5c08a2a8f5d19f"),
    ("a90e4715b9a925c332801767fd786371", "8907c75a4dfdb1e57906686ed40a980886ee7893f75c1b82b598017aca3019e4"),
    (
        "eb247f955d8eca24a5860536c56b2c4d1e8d8e835eb27d2d",
        "5b4e4026c1c7079076edc002683fe9f3b8566ef8cddf9f2b446124db18026dac",
    ),
    (
        "3f01b06bebed020a459696868d115fe8507ded8dc08e825d",
        "9abfcf564852cd3b9fe98f49e2248adbc6e7e125df85aa5a143d9c42918bc662",
    ),
    (
        "27ea444dbc8ca9c169fd484b9e977eb77a4f233550757e025cf180ede7e8839f",
        "1d8545337ddaf26b041b4bedb1e598c42ad97b7c30aabdef1a06f200ed5418af",
    ),
    (
        "818d7e76beef979b5bbf9161fdefa21bd0fe0bfe19157a5711a8de8a8f6878e6",
        "86d0c942ea9b8cccecd5353f033ce609b88ec81c2f4ed79a1419514dc9c0629a",
    ),
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A private key whose seeds are the bytes from `first` on, its steps, and an encoded message.
struct Fixture {
    set: SlhDsaSet,
    private: Vec<u8>,
    steps: PortableSteps,
    message: Vec<u8>,
}

impl Fixture {
    fn new(set: SlhDsaSet, first: u8) -> Self {
        let mut private: Vec<u8> = (first..).take(3 * set.n()).collect();
        let steps = PortableSteps::new(set, [&private[2 * set.n()..]]);
        let root = root(&steps, set, &private[..set.n()], &|| false).unwrap();
        private.extend(root);
        Self { set, private, steps, message: encoded_message(b"context", b"message").unwrap() }
    }

    fn public(&self) -> &[u8] {
        &self.private[self.set.public_len()..]
    }

    fn sign_until(&self, is_cancelled: &dyn Fn() -> bool) -> Result<Vec<u8>, SlhDsaFault> {
        let mut signature = vec![0; self.set.signature_len()];
        let opt_rand = &self.public()[..self.set.n()];
        let (message, out) = (&self.message, &mut signature);
        sign(&self.steps, self.set, &self.private, message, opt_rand, out, is_cancelled)?;
        Ok(signature)
    }

    fn sign(&self) -> Vec<u8> {
        self.sign_until(&|| false).unwrap()
    }

    fn check<'a>(&'a self, signature: &'a [u8]) -> SignatureCheck<'a> {
        SignatureCheck { public: self.public(), message: &self.message, signature }
    }

    fn verifies(&self, signature: &[u8]) -> bool {
        verify(&self.steps, self.set, &[self.check(signature)]) == [true]
    }
}

#[test]
fn keys_and_signatures_are_those_of_another_implementation_and_verify() {
    check_answers(|set| set.signing_hashes() < SLOW_HASHES);
}

#[test]
#[ignore = "signatures of these sets take seconds: .ci/long runs it"]
fn keys_and_signatures_of_slow_sets_are_those_of_another_implementation_and_verify() {
    check_answers(|set| set.signing_hashes() >= SLOW_HASHES);
}

/// The number of hashes from which a test of a set is slow: that of the sets 192s and 256s.
const SLOW_HASHES: usize = 3_000_000;

fn check_answers(is_wanted: impl Fn(SlhDsaSet) -> bool) {
    let answers = SlhDsaSet::ALL.into_iter().zip(ANSWERS).filter(|(set, _)| is_wanted(*set));
    for (set, (root, signature_hash)) in answers {
        let fixture = Fixture::new(set, 0);
        assert_eq!(hex(&fixture.public()[set.n()..]), root, "{set}");
        let signature = fixture.sign();
        let mut hash = [0; 32];
        let mut state = Sha256::new();
        state.update(&signature);
        state.finish(&mut hash);
        assert_eq!(hex(&hash), signature_hash, "{set}");
        assert!(fixture.verifies(&signature), "{set}");
    }
}

#[test]
fn a_change_of_any_part_of_a_signature_is_found() {
    for set in [SlhDsaSet::Sha2_128f, SlhDsaSet::Sha2_192f, SlhDsaSet::Shake256f] {
        let fixture = Fixture::new(set, 1);
        let signature = fixture.sign();
        let fors_end = set.n() + fors::signature_len(set);
        // The randomizer; a secret value and a path of FORS; a chain and a path of the lowest and the highest layer.
        let offsets = [0, set.n(), fors_end - 1, fors_end, signature.len() - 1];
        for offset in offsets {
            let mut changed = signature.clone();
            changed[offset] ^= 1;
            assert!(!fixture.verifies(&changed), "{set}: {offset}");
        }
        assert!(!fixture.verifies(&signature[1..]) && !fixture.verifies(&[&signature[..], &[0]].concat()));
        let other = if set.is_shake() { SlhDsaSet::Sha2_256f } else { SlhDsaSet::Shake128f };
        let other = Fixture::new(other, 1);
        assert!(!other.verifies(&signature));
    }
}

#[test]
fn signatures_under_several_keys_are_verified_side_by_side() {
    let set = SlhDsaSet::Sha2_128f;
    let fixtures = [0, 50, 100].map(|first| Fixture::new(set, first));
    let signatures = fixtures.each_ref().map(Fixture::sign);
    let steps = PortableSteps::new(set, fixtures.iter().map(Fixture::public));
    let mut checks = [0, 1, 2].map(|at| fixtures[at].check(&signatures[at]));
    assert_eq!(verify(&steps, set, &checks), [true; 3]);
    // A signature of another key, and one that is too short, among a good one.
    checks[0].signature = &signatures[1];
    checks[1].signature = &signatures[1][..100];
    assert_eq!(verify(&steps, set, &checks), [false, false, true]);
}

#[test]
fn a_key_with_another_root_signs_nothing() {
    let mut fixture = Fixture::new(SlhDsaSet::Shake128f, 0);
    *fixture.private.last_mut().unwrap() ^= 1;
    assert_eq!(fixture.sign_until(&|| false), Err(SlhDsaFault::BadKey));
    fixture.private.pop();
    assert_eq!(fixture.sign_until(&|| false), Err(SlhDsaFault::BadKey));
}

#[test]
fn a_signature_can_be_cancelled_between_any_two_groups_of_leaves() {
    let fixture = Fixture::new(SlhDsaSet::Sha2_128f, 0);
    // One group of FORS trees, and one tree of eight leaves in each of 22 layers.
    for wanted in [0, 1, 2, 22] {
        let asked = Cell::new(0);
        let is_cancelled = || asked.replace(asked.get() + 1) == wanted;
        assert_eq!(fixture.sign_until(&is_cancelled), Err(SlhDsaFault::Cancelled), "{wanted}");
    }
    let asked = Cell::new(0);
    fixture.sign_until(&|| asked.replace(asked.get() + 1) == 23).unwrap();
    assert_eq!(asked.get(), 23);
}

/// Steps that make one value wrong: the node or the end of a chain with a number, counted through all calls.
struct FaultySteps<'a> {
    steps: &'a PortableSteps,
    nodes_left: Cell<usize>,
}

impl HashSteps for FaultySteps<'_> {
    fn chains(&self, chains: &[Chain], values: &mut [u8]) {
        self.steps.chains(chains, values);
    }

    fn nodes(&self, addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        self.steps.nodes(addresses, children, nodes);
        if self.nodes_left.get() < addresses.len() {
            nodes[self.nodes_left.get() * (nodes.len() / addresses.len())] ^= 1;
        }
        self.nodes_left.set(self.nodes_left.get().wrapping_sub(addresses.len()));
    }
}

/// The reason for computing twice: Castelnovi, Martinelli and Prest, "Grafting trees", PQCrypto 2018.
#[test]
fn a_fault_can_make_a_signature_that_verifies_and_differs() {
    let fixture = Fixture::new(SlhDsaSet::Sha2_128f, 0);
    let (set, private) = (fixture.set, &fixture.private);
    let good = fixture.sign();
    // 33 trees of 63 nodes and the FORS key come before the leaves. The first layer's eight are followed by its
    // neighbours, and one of them is not on the path.
    let leaf = DigestIndices::new(set, &good[..set.n()], fixture.public(), &fixture.message).leaf;
    let neighbour = leaf as usize ^ 1;
    let faulty = FaultySteps { steps: &fixture.steps, nodes_left: Cell::new(33 * 63 + 1 + neighbour) };
    let mut signature = vec![0; set.signature_len()];
    let opt_rand = &fixture.public()[..set.n()];
    sign(&faulty, set, private, &fixture.message, opt_rand, &mut signature, &|| false).unwrap();
    assert!(signature != good && fixture.verifies(&signature));
}
