use super::*;

#[test]
fn every_number_is_that_of_the_standard_header() {
    fn check<T: std::fmt::Display + Copy>(numbers: &[(&str, T)], header: &[u64], value: fn(T) -> u64) {
        assert!(!numbers.is_empty());
        assert_eq!(numbers.len(), header.len());
        for ((name, number), header) in numbers.iter().zip(header) {
            assert_eq!((value(*number), number.to_string().as_str()), (*header, *name));
        }
    }
    check(AttributeType::ALL, AttributeType::HEADER, |number| number.0);
    check(MechanismType::ALL, MechanismType::HEADER, |number| number.0);
    check(ObjectClass::ALL, ObjectClass::HEADER, |number| number.0);
    check(KeyTypeNumber::ALL, KeyTypeNumber::HEADER, |number| number.0);
}

#[test]
fn return_codes_have_the_values_of_the_standard_header() {
    for (code, name, value) in return_code::HEADER {
        assert_eq!(code.value(), *value, "{name}");
        assert!(code.to_string().starts_with(&format!("{name}: ")), "{code}");
    }
    assert_eq!(ReturnCode::BufferTooSmall.value(), cryptoki_sys::CKR_BUFFER_TOO_SMALL);
    assert_eq!(ReturnCode::value_of(&Ok::<(), _>(())), cryptoki_sys::CKR_OK);
    assert_eq!(ReturnCode::value_of(&Err::<(), _>(ReturnCode::Pending)), cryptoki_sys::CKR_PENDING);
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
fn parameter_sets_and_hedges_have_the_values_of_the_standard_header() {
    use parameter_values as value;
    let kem = [value::CKP_ML_KEM_512, value::CKP_ML_KEM_768, value::CKP_ML_KEM_1024];
    let kem_header =
        [cryptoki_sys::CKP_ML_KEM_512, cryptoki_sys::CKP_ML_KEM_768, cryptoki_sys::CKP_ML_KEM_1024];
    assert_eq!(kem, kem_header);
    let dsa = [value::CKP_ML_DSA_44, value::CKP_ML_DSA_65, value::CKP_ML_DSA_87];
    let dsa_header = [cryptoki_sys::CKP_ML_DSA_44, cryptoki_sys::CKP_ML_DSA_65, cryptoki_sys::CKP_ML_DSA_87];
    assert_eq!(dsa, dsa_header);
    let slh = [
        (value::CKP_SLH_DSA_SHA2_128S, cryptoki_sys::CKP_SLH_DSA_SHA2_128S),
        (value::CKP_SLH_DSA_SHAKE_128S, cryptoki_sys::CKP_SLH_DSA_SHAKE_128S),
        (value::CKP_SLH_DSA_SHA2_128F, cryptoki_sys::CKP_SLH_DSA_SHA2_128F),
        (value::CKP_SLH_DSA_SHAKE_128F, cryptoki_sys::CKP_SLH_DSA_SHAKE_128F),
        (value::CKP_SLH_DSA_SHA2_192S, cryptoki_sys::CKP_SLH_DSA_SHA2_192S),
        (value::CKP_SLH_DSA_SHAKE_192S, cryptoki_sys::CKP_SLH_DSA_SHAKE_192S),
        (value::CKP_SLH_DSA_SHA2_192F, cryptoki_sys::CKP_SLH_DSA_SHA2_192F),
        (value::CKP_SLH_DSA_SHAKE_192F, cryptoki_sys::CKP_SLH_DSA_SHAKE_192F),
        (value::CKP_SLH_DSA_SHA2_256S, cryptoki_sys::CKP_SLH_DSA_SHA2_256S),
        (value::CKP_SLH_DSA_SHAKE_256S, cryptoki_sys::CKP_SLH_DSA_SHAKE_256S),
        (value::CKP_SLH_DSA_SHA2_256F, cryptoki_sys::CKP_SLH_DSA_SHA2_256F),
        (value::CKP_SLH_DSA_SHAKE_256F, cryptoki_sys::CKP_SLH_DSA_SHAKE_256F),
    ];
    assert!(slh.iter().all(|(ours, header)| ours == header));
    assert_eq!(MechanismType::HASH_SLH_DSA_SHAKE256.0, cryptoki_sys::CKM_HASH_SLH_DSA_SHAKE256);
    assert_eq!(MechanismType::HASH_SLH_DSA.0, cryptoki_sys::CKM_HASH_SLH_DSA);
    assert_eq!(KeyTypeNumber::SLH_DSA.0, cryptoki_sys::CKK_SLH_DSA);
    assert_eq!(value::CKH_HEDGE_PREFERRED, cryptoki_sys::CKH_HEDGE_PREFERRED);
    assert_eq!(value::CKH_HEDGE_REQUIRED, cryptoki_sys::CKH_HEDGE_REQUIRED);
    assert_eq!(value::CKH_DETERMINISTIC_REQUIRED, cryptoki_sys::CKH_DETERMINISTIC_REQUIRED);
}

#[test]
fn numbers_without_a_name_are_shown_as_numbers() {
    assert_eq!(MechanismType::ECDSA.to_string(), "CKM_ECDSA");
    assert_eq!(MechanismType(0x8000_0001).to_string(), "CKM 0x80000001");
}
