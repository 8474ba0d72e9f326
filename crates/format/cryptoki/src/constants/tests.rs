use std::collections::BTreeSet;

use super::header::HEADER;
use super::*;

/// Returns the value of a name in the header.
fn in_header(name: &str) -> u64 {
    HEADER.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn every_number_is_that_of_the_standard_header() {
    for (name, value) in AttributeType::ALL {
        assert_eq!(value.0, in_header(name), "{name}");
    }
    for (name, value) in MechanismType::ALL {
        assert_eq!(value.0, in_header(name), "{name}");
    }
    for (name, value) in ObjectClass::ALL {
        assert_eq!(value.0, in_header(name), "{name}");
    }
    for (name, value) in KeyTypeNumber::ALL {
        assert_eq!(value.0, in_header(name), "{name}");
    }
    for code in ReturnCode::ALL {
        let text = code.to_string();
        let (name, _) = text.split_once(':').unwrap();
        assert_eq!(code.value(), in_header(name), "{name}");
    }
}

#[test]
fn return_codes_have_the_values_of_the_standard_header() {
    assert_eq!(ReturnCode::BufferTooSmall.value(), cryptoki_sys::CKR_BUFFER_TOO_SMALL);
    assert_eq!(ReturnCode::Pending.value(), cryptoki_sys::CKR_PENDING);
    assert_eq!(ReturnCode::value_of(&Ok::<(), _>(())), cryptoki_sys::CKR_OK);
    let values: BTreeSet<u64> = ReturnCode::ALL.iter().map(|code| code.value()).collect();
    assert_eq!(values.len(), ReturnCode::ALL.len());
}

#[test]
fn types_have_the_values_of_the_standard_header() {
    assert_eq!(AttributeType::ALLOWED_MECHANISMS.0, cryptoki_sys::CKA_ALLOWED_MECHANISMS);
    assert_eq!(AttributeType::NEVER_EXTRACTABLE.0, cryptoki_sys::CKA_NEVER_EXTRACTABLE);
    assert_eq!(MechanismType::AES_KEY_WRAP_KWP.0, cryptoki_sys::CKM_AES_KEY_WRAP_KWP);
    assert_eq!(MechanismType::ECDH1_DERIVE.0, cryptoki_sys::CKM_ECDH1_DERIVE);
    assert_eq!(KeyTypeNumber::EC_MONTGOMERY.0, cryptoki_sys::CKK_EC_MONTGOMERY);
    assert_eq!(ObjectClass::PROFILE.0, cryptoki_sys::CKO_PROFILE);
    assert_eq!(session_flags::ASYNC_SESSION, cryptoki_sys::CKF_ASYNC_SESSION);
    assert_eq!(token_flags::ASYNC_SESSION_SUPPORTED, cryptoki_sys::CKF_ASYNC_SESSION_SUPPORTED);
}

#[test]
fn flags_of_mechanisms_have_the_values_of_the_standard_header() {
    assert_eq!(mechanism_flags::MESSAGE_ENCRYPT, cryptoki_sys::CKF_MESSAGE_ENCRYPT);
    assert_eq!(mechanism_flags::MESSAGE_DECRYPT, cryptoki_sys::CKF_MESSAGE_DECRYPT);
    assert_eq!(mechanism_flags::MESSAGE_SIGN, cryptoki_sys::CKF_MESSAGE_SIGN);
    assert_eq!(mechanism_flags::MESSAGE_VERIFY, cryptoki_sys::CKF_MESSAGE_VERIFY);
    assert_eq!(mechanism_flags::MULTI_MESSAGE, cryptoki_sys::CKF_MULTI_MESSAGE);
    assert_eq!(mechanism_flags::ENCAPSULATE, cryptoki_sys::CKF_ENCAPSULATE);
    assert_eq!(mechanism_flags::DECAPSULATE, cryptoki_sys::CKF_DECAPSULATE);
}

#[test]
fn numbers_without_a_name_are_shown_as_numbers() {
    assert_eq!(MechanismType::ECDSA.to_string(), "CKM_ECDSA");
    assert_eq!(MechanismType(0x8000_0001).to_string(), "CKM 0x80000001");
}
