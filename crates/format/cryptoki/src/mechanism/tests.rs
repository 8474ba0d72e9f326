use std::collections::BTreeSet;

use super::*;
use crate::constants::{KeyTypeNumber, MechanismType, ReturnCode, mechanism_flags};

#[test]
fn every_mechanism_stands_in_the_table_once() {
    let kinds: BTreeSet<u64> = mechanisms().iter().map(|facts| facts.kind.0).collect();
    assert_eq!(kinds.len(), mechanisms().len());
    assert!(mechanisms().iter().all(|facts| facts.kind.name().is_some()));
}

#[test]
fn a_mechanism_without_a_key_type_generates_or_digests() {
    let keyless = mechanism_flags::DIGEST | mechanism_flags::GENERATE | mechanism_flags::GENERATE_KEY_PAIR;
    for facts in mechanisms() {
        let takes_some = KeyTypeNumber::ALL.iter().any(|(_, key)| facts.family.takes(*key));
        assert_ne!(takes_some, facts.flags & keyless != 0, "{}", facts.kind);
    }
}

#[test]
fn flat_parameters_are_read_at_their_exact_length() {
    let pss = [0x250_usize, 2, 32].map(usize::to_ne_bytes).concat();
    let parsed = Mechanism::parse_flat(MechanismType::RSA_PKCS_PSS, &pss).unwrap();
    assert_eq!(
        format!("{parsed:?}"),
        "Mechanism(CKM_RSA_PKCS_PSS, Pss(CKM_SHA256, CKG 2, salt of 32 bytes))"
    );
    let short = Mechanism::parse_flat(MechanismType::RSA_PKCS_PSS, &pss[1..]);
    assert_eq!(short.unwrap_err(), ReturnCode::MechanismParamInvalid);
    let iv = Mechanism::parse_flat(MechanismType::AES_CBC, &[7; 15]);
    assert_eq!(iv.unwrap_err(), ReturnCode::MechanismParamInvalid);
    let unknown = Mechanism::parse_flat(MechanismType(0x8000_0000), &[]);
    assert_eq!(unknown.unwrap_err(), ReturnCode::MechanismInvalid);
    let unwanted = Mechanism::parse_flat(MechanismType::SHA256, &[1]);
    assert_eq!(unwanted.unwrap_err(), ReturnCode::MechanismParamInvalid);
}

#[test]
fn structures_with_pointers_are_not_parsed_here() {
    for facts in mechanisms().iter().filter(|facts| facts.form.has_pointers()) {
        let parsed = Mechanism::parse_flat(facts.kind, &[0; 40]);
        assert_eq!(parsed.unwrap_err(), ReturnCode::MechanismParamInvalid);
    }
}
