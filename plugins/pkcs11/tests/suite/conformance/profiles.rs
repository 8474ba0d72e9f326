//! The mandatory test cases of "PKCS #11 Profiles Version 3.2" by the OASIS PKCS 11 Technical Committee: BL-M-1-32,
//! EXT-M-1-32, AUTH-M-1-32 and CERT-M-1-32.
//!
//! The sequences of calls, flags and lengths are those of the cases. Texts, versions, handles, lists and values may
//! vary, as the document says in "Permitted Test Case Variations". Numbers of sessions and sizes of keys are those of
//! this module, and the flag `CKF_RESTORE_KEY_NOT_NEEDED` is not set because no state of an operation can be saved.

use std::ptr::null_mut;
use std::sync::LazyLock;

use cryptoki_sys::*;

use crate::call;
use crate::common::objects::{Template, create, generate_pair};
use crate::common::raw::{RawModule, attribute, plain};
use crate::common::{SO_PIN, STORE, USER_PIN, isolated};

/// The label that CERT-M-1-32 reads. It includes a zero byte.
const CERTIFICATE_LABEL: &[u8; 22] = b"Mozilla Builtin Roots\0";

/// Runs a case in a process of its own, with a token that has a key pair and certificates.
fn run_case(name: &str, case: impl FnOnce(&RawModule)) {
    isolated(
        &format!("conformance::profiles::{name}"),
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            prepare(&module);
            case(&module);
        },
    );
}

fn prepare(module: &RawModule) {
    assert_eq!(module.initialize(), CKR_OK);
    let label = [b' '; 32];
    let (so, so_len) = pin(SO_PIN);
    assert_eq!(call!(module, C_InitToken, 0, so, so_len, label.as_ptr().cast_mut()), CKR_OK);
    let session = module.open(0, 0);
    assert_eq!(call!(module, C_Login, session, CKU_SO, so, so_len), CKR_OK);
    let (user, user_len) = pin(USER_PIN);
    assert_eq!(call!(module, C_InitPIN, session, user, user_len), CKR_OK);
    assert_eq!(call!(module, C_Logout, session), CKR_OK);
    assert_eq!(call!(module, C_Login, session, CKU_USER, user, user_len), CKR_OK);
    make_key_pair(module, session);
    create_certificate(module, session);
    assert_eq!(module.finalize(), CKR_OK);
}

fn pin(pin: &'static str) -> (*mut u8, CK_ULONG) {
    (pin.as_ptr().cast_mut(), pin.len() as CK_ULONG)
}

fn make_key_pair(module: &RawModule, session: CK_SESSION_HANDLE) {
    let named = |label: &str| Template::default().flags(&[CKA_TOKEN]).bytes(CKA_LABEL, label.as_bytes());
    let public = named("testrsa-pub").number(CKA_MODULUS_BITS, 2048);
    let private = named("testrsa-pri").flags(&[CKA_SIGN]);
    generate_pair(module, session, CKM_RSA_PKCS_KEY_PAIR_GEN, public, private).unwrap();
}

fn create_certificate(module: &RawModule, session: CK_SESSION_HANDLE) {
    let template = Template::default()
        .number(CKA_CLASS, CKO_CERTIFICATE)
        .number(CKA_CERTIFICATE_TYPE, CKC_X_509)
        .flags(&[CKA_TOKEN])
        .bytes(CKA_LABEL, CERTIFICATE_LABEL)
        .bytes(CKA_SUBJECT, &[0x30, 0])
        .bytes(CKA_VALUE, &certificate());
    create(module, session, template).unwrap();
}

/// Returns the same certificate at each call.
fn certificate() -> Vec<u8> {
    static CERTIFICATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let key = rcgen::KeyPair::generate().unwrap();
        let about = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        about.self_signed(&key).unwrap().der().to_vec()
    });
    CERTIFICATE.clone()
}

/// The calls with which every case begins. Returns the slot.
fn begin(module: &RawModule) -> CK_SLOT_ID {
    assert_eq!(module.initialize(), CKR_OK);
    let mut info = CK_INFO::default();
    assert_eq!(call!(module, C_GetInfo, &mut info), CKR_OK);
    assert_eq!((info.cryptokiVersion.major, info.cryptokiVersion.minor), (3, 2));
    assert_eq!(info.flags, 0);
    let mut count = 0;
    assert_eq!(call!(module, C_GetSlotList, CK_TRUE, null_mut(), &mut count), CKR_OK);
    let mut slots = vec![CK_SLOT_ID::MAX; count as usize];
    assert_eq!(call!(module, C_GetSlotList, CK_TRUE, slots.as_mut_ptr(), &mut count), CKR_OK);
    assert_eq!(count as usize, slots.len());
    slots[0]
}

/// The calls that describe the slot and the token.
fn describe(module: &RawModule, slot: CK_SLOT_ID) {
    let mut about_slot = CK_SLOT_INFO::default();
    assert_eq!(call!(module, C_GetSlotInfo, slot, &mut about_slot), CKR_OK);
    assert_eq!(about_slot.flags, CKF_TOKEN_PRESENT);
    let mut about_token = CK_TOKEN_INFO::default();
    assert_eq!(call!(module, C_GetTokenInfo, slot, &mut about_token), CKR_OK);
    let flags = CKF_RNG | CKF_LOGIN_REQUIRED | CKF_USER_PIN_INITIALIZED | CKF_TOKEN_INITIALIZED;
    assert_eq!(about_token.flags & flags, flags);
    assert_eq!((about_token.ulMaxPinLen, about_token.ulMinPinLen), (255, 4));
    assert_eq!((about_token.ulSessionCount, about_token.ulRwSessionCount), (0, 0));
}

fn open(module: &RawModule, slot: CK_SLOT_ID, flags: CK_FLAGS) -> CK_SESSION_HANDLE {
    let mut session = 0;
    assert_eq!(call!(module, C_OpenSession, slot, flags, null_mut(), None, &mut session), CKR_OK);
    session
}

fn log_in(module: &RawModule, session: CK_SESSION_HANDLE) {
    let (user, len) = pin(USER_PIN);
    assert_eq!(call!(module, C_Login, session, CKU_USER, user, len), CKR_OK);
}

/// Finds at most `max` objects of the token with these attributes.
fn find(module: &RawModule, session: CK_SESSION_HANDLE, more: Template, max: usize) -> Vec<CK_OBJECT_HANDLE> {
    let mut template = more.flags(&[CKA_TOKEN]);
    let mut list = template.list();
    let count = list.len() as CK_ULONG;
    assert_eq!(call!(module, C_FindObjectsInit, session, list.as_mut_ptr(), count), CKR_OK);
    let (mut found, mut count) = (vec![0; max], 0);
    assert_eq!(
        call!(module, C_FindObjects, session, found.as_mut_ptr(), max as CK_ULONG, &mut count),
        CKR_OK
    );
    assert_eq!(call!(module, C_FindObjectsFinal, session), CKR_OK);
    found.truncate(count as usize);
    found
}

/// Reads an attribute in two calls: its length, and then its value.
fn read(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
    kind: CK_ATTRIBUTE_TYPE,
) -> Option<Vec<u8>> {
    let mut asked = attribute(kind, null_mut(), 0);
    match call!(module, C_GetAttributeValue, session, object, &mut asked, 1) {
        CKR_OK => (),
        CKR_ATTRIBUTE_TYPE_INVALID => return None,
        other => panic!("{other:#x}"),
    }
    let mut value = vec![0; asked.ulValueLen as usize];
    asked.pValue = value.as_mut_ptr().cast();
    assert_eq!(call!(module, C_GetAttributeValue, session, object, &mut asked, 1), CKR_OK);
    assert_eq!(asked.ulValueLen as usize, value.len());
    Some(value)
}

/// The calls with which every case ends.
fn end(module: &RawModule, slot: CK_SLOT_ID, session: CK_SESSION_HANDLE) {
    assert_eq!(call!(module, C_CloseSession, session), CKR_OK);
    assert_eq!(call!(module, C_CloseAllSessions, slot), CKR_OK);
    assert_eq!(module.finalize(), CKR_OK);
}

/// Checks that the token says which profile it has.
fn has_profile(module: &RawModule, session: CK_SESSION_HANDLE, profile: CK_ULONG) {
    let more = Template::default().number(CKA_CLASS, CKO_PROFILE).number(CKA_PROFILE_ID, profile);
    assert_eq!(find(module, session, more, 2).len(), 1, "profile {profile}");
}

#[test]
fn bl_m_1_32() {
    run_case("bl_m_1_32", |module| {
        let slot = begin(module);
        describe(module, slot);
        let session = open(module, slot, CKF_SERIAL_SESSION);
        assert_eq!(find(module, session, Template::default(), 1).len(), 1);
        has_profile(module, session, CKP_BASELINE_PROVIDER);
        end(module, slot, session);
    });
}

#[test]
fn ext_m_1_32() {
    run_case("ext_m_1_32", |module| {
        let slot = begin(module);
        describe(module, slot);
        let mut count = 0;
        assert_eq!(call!(module, C_GetMechanismList, slot, null_mut(), &mut count), CKR_OK);
        let mut list = vec![0; count as usize];
        assert_eq!(call!(module, C_GetMechanismList, slot, list.as_mut_ptr(), &mut count), CKR_OK);
        assert_eq!(count as usize, list.len());
        let both_ways = CKF_ENCRYPT | CKF_DECRYPT | CKF_SIGN | CKF_VERIFY | CKF_WRAP | CKF_UNWRAP;
        let expected = [
            (CKM_SHA512, CKF_DIGEST),
            (CKM_RSA_PKCS_KEY_PAIR_GEN, CKF_GENERATE_KEY_PAIR),
            (CKM_RSA_PKCS, both_ways),
        ];
        for (kind, flags) in expected {
            assert!(list.contains(&kind), "{kind:#x}");
            let mut info = CK_MECHANISM_INFO::default();
            assert_eq!(call!(module, C_GetMechanismInfo, slot, kind, &mut info), CKR_OK);
            assert_eq!(info.flags & flags, flags, "{kind:#x}");
            let has_keys = kind != CKM_SHA512;
            assert_eq!((info.ulMinKeySize > 0, info.ulMaxKeySize > 0), (has_keys, has_keys), "{kind:#x}");
        }
        let session = open(module, slot, CKF_RW_SESSION | CKF_SERIAL_SESSION);
        log_in(module, session);
        assert_eq!(find(module, session, Template::default(), 1).len(), 1);
        has_profile(module, session, CKP_EXTENDED_PROVIDER);
        assert_eq!(call!(module, C_Logout, session), CKR_OK);
        end(module, slot, session);
    });
}

#[test]
fn auth_m_1_32() {
    run_case("auth_m_1_32", |module| {
        let slot = begin(module);
        let session = open(module, slot, CKF_RW_SESSION | CKF_SERIAL_SESSION);
        log_in(module, session);
        let public = module.find(session, CKO_PUBLIC_KEY, "testrsa-pub").unwrap();
        // Both attributes in one call, into memory that is larger than needed.
        let (mut modulus, mut exponent) = ([0_u8; 1024], [0_u8; 1024]);
        let mut template = [
            attribute(CKA_MODULUS, modulus.as_mut_ptr().cast(), 1024),
            attribute(CKA_PUBLIC_EXPONENT, exponent.as_mut_ptr().cast(), 1024),
        ];
        assert_eq!(call!(module, C_GetAttributeValue, session, public, template.as_mut_ptr(), 2), CKR_OK);
        assert_eq!(template.map(|attribute| attribute.ulValueLen), [256, 3]);
        assert_eq!(exponent[..3], [1, 0, 1]);
        let private = module.find(session, CKO_PRIVATE_KEY, "testrsa-pri").unwrap();
        let data = [0x5a; 391];
        let mut mechanism = plain(CKM_SHA256_RSA_PKCS);
        assert_eq!(call!(module, C_SignInit, session, &mut mechanism, private), CKR_OK);
        let (mut signature, mut len) = ([0_u8; 256], 256);
        let (input, output) = (data.as_ptr().cast_mut(), signature.as_mut_ptr());
        assert_eq!(call!(module, C_Sign, session, input, 391, output, &mut len), CKR_OK);
        assert_eq!(len, 256);
        // The private key of the case is not published, so that the signature is verified instead of compared.
        let verify = |data: &[u8]| module.verify(session, CKM_SHA256_RSA_PKCS, public, data, &signature);
        assert_eq!((verify(&data), verify(&data[1..])), (CKR_OK, CKR_SIGNATURE_INVALID));
        has_profile(module, session, CKP_AUTHENTICATION_TOKEN);
        assert_eq!(call!(module, C_Logout, session), CKR_OK);
        end(module, slot, session);
    });
}

#[test]
fn cert_m_1_32() {
    run_case("cert_m_1_32", |module| {
        let slot = begin(module);
        let session = open(module, slot, CKF_SERIAL_SESSION);
        let mut template = Template::default().flags(&[CKA_TOKEN]);
        assert_eq!(call!(module, C_FindObjectsInit, session, template.list().as_mut_ptr(), 1), CKR_OK);
        let (mut objects, mut count) = ([0; 5], 0);
        assert_eq!(call!(module, C_FindObjects, session, objects.as_mut_ptr(), 5, &mut count), CKR_OK);
        assert_eq!(count, 2, "a public key and a certificate");
        // The search continues while attributes are read.
        let has_label = |object: &&CK_OBJECT_HANDLE| {
            read(module, session, **object, CKA_LABEL).is_some_and(|label| label == CERTIFICATE_LABEL)
        };
        let found = objects[..2].iter().find(has_label).unwrap();
        let value = read(module, session, *found, CKA_VALUE).unwrap();
        assert_eq!(value, certificate());
        assert_eq!(call!(module, C_FindObjectsFinal, session), CKR_OK);
        end(module, slot, session);
    });
}
