//! ML-KEM, ML-DSA and SLH-DSA by the tables of C, with keys of a token file and of a directory.

use std::ffi::c_void;

use cryptoki_sys::*;
use oarlock::keys::{export, generate};
use oarlock::{MlDsaSet, MlKemSet, SlhDsaSet};

use crate::call;
use crate::common::lattice::{
    DSA_SIGNATURE_LEN, KEM_CIPHERTEXT_LEN, decapsulate, dsa_pair, encapsulate, kem_pair, read, sign, verify,
};
use crate::common::objects::{Template, generate_pair, with_parameter};
use crate::common::raw::{RawModule, attribute, logged_in, plain};
use crate::common::{KEYS, STORE, isolated};

/// The parameter of a mechanism that signs without random bytes.
fn deterministic(context: &'static [u8]) -> CK_SIGN_ADDITIONAL_CONTEXT {
    CK_SIGN_ADDITIONAL_CONTEXT {
        hedgeVariant: CKH_DETERMINISTIC_REQUIRED,
        pContext: context.as_ptr().cast_mut(),
        ulContextLen: context.len() as CK_ULONG,
    }
}

#[test]
fn a_token_encapsulates_and_signs() {
    isolated(
        "lattice::a_token_encapsulates_and_signs",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let (public, private) = kem_pair(&module, session);
            let (ciphertext, sent) = encapsulate(&module, session, public).unwrap();
            assert_eq!(ciphertext.len(), KEM_CIPHERTEXT_LEN);
            let received = decapsulate(&module, session, private, &ciphertext).unwrap();
            let secret = read(&module, session, sent, CKA_VALUE).unwrap();
            assert_eq!((secret.len(), read(&module, session, received, CKA_VALUE)), (32, Ok(secret)));
            let (public, private) = dsa_pair(&module, session);
            let parameter = deterministic(b"a context");
            for kind in [CKM_ML_DSA, CKM_HASH_ML_DSA_SHA512, CKM_HASH_ML_DSA_SHAKE256] {
                let mut mechanism = with_parameter(kind, &parameter);
                let signature = sign(&module, session, mechanism, private, b"a message").unwrap();
                assert_eq!(signature.len(), DSA_SIGNATURE_LEN);
                assert_eq!(verify(&module, session, mechanism, public, b"a message", &signature), CKR_OK);
                let other = verify(&module, session, plain(kind), public, b"a message", &signature);
                assert_eq!(other, CKR_SIGNATURE_INVALID);
                // The same in pieces.
                assert_eq!(call!(module, C_SignInit, session, &mut mechanism, private), CKR_OK);
                for piece in [&b"a mes"[..], b"sage"] {
                    let (data, len) = (piece.as_ptr().cast_mut(), piece.len() as CK_ULONG);
                    assert_eq!(call!(module, C_SignUpdate, session, data, len), CKR_OK);
                }
                let (mut pieces, mut len) = (vec![0; DSA_SIGNATURE_LEN], DSA_SIGNATURE_LEN as CK_ULONG);
                let end = call!(module, C_SignFinal, session, pieces.as_mut_ptr(), &mut len);
                assert_eq!((end, pieces), (CKR_OK, signature));
            }
        },
    );
}

#[test]
fn a_token_signs_by_slh_dsa() {
    isolated(
        "lattice::a_token_signs_by_slh_dsa",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let set = Template::default().number(CKA_PARAMETER_SET, CKP_SLH_DSA_SHA2_128F);
            let secrets = Template::default().bytes(CKA_SENSITIVE, &[CK_TRUE]);
            let (public, private) =
                generate_pair(&module, session, CKM_SLH_DSA_KEY_PAIR_GEN, set, secrets).unwrap();
            assert_eq!(read(&module, session, private, CKA_VALUE), Err(CKR_ATTRIBUTE_SENSITIVE));
            let parameter = deterministic(b"a context");
            for kind in [CKM_SLH_DSA, CKM_HASH_SLH_DSA_SHA256, CKM_HASH_SLH_DSA_SHAKE128] {
                let mechanism = with_parameter(kind, &parameter);
                let signature = sign(&module, session, mechanism, private, b"a message").unwrap();
                assert_eq!(signature.len(), SlhDsaSet::Sha2_128f.signature_len());
                assert_eq!(verify(&module, session, mechanism, public, b"a message", &signature), CKR_OK);
                let other = verify(&module, session, plain(kind), public, b"a message", &signature);
                assert_eq!(other, CKR_SIGNATURE_INVALID);
                let again = sign(&module, session, mechanism, private, b"a message");
                assert_eq!(again, Ok(signature), "the standard's deterministic signature");
            }
            let short = verify(&module, session, plain(CKM_SLH_DSA), public, b"a message", &[0; 17_087]);
            assert_eq!(short, CKR_SIGNATURE_LEN_RANGE);
        },
    );
}

#[test]
fn mechanisms_have_the_sizes_of_public_keys() {
    isolated(
        "lattice::mechanisms_have_the_sizes_of_public_keys",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let session = logged_in(&module);
            let facts = |kind| {
                let mut facts = CK_MECHANISM_INFO { ulMinKeySize: 0, ulMaxKeySize: 0, flags: 0 };
                assert_eq!(call!(module, C_GetMechanismInfo, 0, kind, &mut facts), CKR_OK);
                (facts.ulMinKeySize, facts.ulMaxKeySize, facts.flags)
            };
            assert_eq!(facts(CKM_ML_KEM_KEY_PAIR_GEN), (800, 1568, CKF_GENERATE_KEY_PAIR));
            assert_eq!(facts(CKM_ML_KEM), (800, 1568, CKF_ENCAPSULATE | CKF_DECAPSULATE));
            assert_eq!(facts(CKM_ML_DSA_KEY_PAIR_GEN), (1312, 2592, CKF_GENERATE_KEY_PAIR));
            for kind in [CKM_ML_DSA, CKM_HASH_ML_DSA, CKM_HASH_ML_DSA_SHA3_224] {
                let (min, max, flags) = facts(kind);
                assert_eq!((min, max), (1312, 2592));
                assert_eq!(flags & (CKF_SIGN | CKF_VERIFY), CKF_SIGN | CKF_VERIFY);
            }
            assert_eq!(facts(CKM_SLH_DSA_KEY_PAIR_GEN), (32, 64, CKF_GENERATE_KEY_PAIR));
            assert_eq!(call!(module, C_CloseSession, session), CKR_OK);
        },
    );
}

#[test]
fn keys_of_files_are_shown_and_used() {
    isolated(
        "lattice::keys_of_files_are_shown_and_used",
        KEYS,
        |dir| {
            let kem = generate::ml_kem(MlKemSet::MlKem1024).unwrap();
            dir.write("keys/kem.pem", &*export::private_pkcs8_pem(&kem).unwrap());
            let dsa = generate::ml_dsa(MlDsaSet::MlDsa87).unwrap();
            let slh = generate::slh_dsa(SlhDsaSet::Shake128f).unwrap();
            dir.write("keys/slh.pem", &*export::private_pkcs8_pem(&slh).unwrap());
            dir.write("keys/dsa.pem", &*export::private_pkcs8_pem(&dsa).unwrap());
        },
        |_| {
            let module = RawModule::load();
            assert_eq!(module.initialize(), CKR_OK);
            let session = module.open_read_only(0);
            let find = |class, label| module.find(session, class, label).unwrap();
            let halves = |label| (find(CKO_PUBLIC_KEY, label), find(CKO_PRIVATE_KEY, label));
            let (public, private) = halves("kem");
            for key in [public, private] {
                let mut set: CK_ULONG = 0;
                let value = (&raw mut set).cast::<c_void>();
                let mut query = attribute(CKA_PARAMETER_SET, value, size_of::<CK_ULONG>());
                assert_eq!(call!(module, C_GetAttributeValue, session, key, &mut query, 1), CKR_OK);
                assert_eq!(set, CKP_ML_KEM_1024);
            }
            assert_eq!(read(&module, session, public, CKA_VALUE).unwrap().len(), 1568);
            for kind in [CKA_VALUE, CKA_SEED] {
                assert_eq!(read(&module, session, private, kind), Err(CKR_ATTRIBUTE_SENSITIVE));
            }
            let (ciphertext, sent) = encapsulate(&module, session, public).unwrap();
            let received = decapsulate(&module, session, private, &ciphertext).unwrap();
            assert_eq!(
                read(&module, session, sent, CKA_VALUE).unwrap(),
                read(&module, session, received, CKA_VALUE).unwrap()
            );
            let (public, private) = halves("slh");
            assert_eq!(read(&module, session, private, CKA_VALUE), Err(CKR_ATTRIBUTE_SENSITIVE));
            let signature = sign(&module, session, plain(CKM_SLH_DSA), private, b"m").unwrap();
            assert_eq!(verify(&module, session, plain(CKM_SLH_DSA), public, b"m", &signature), CKR_OK);
            let (public, private) = halves("dsa");
            let signature = sign(&module, session, plain(CKM_ML_DSA), private, b"m").unwrap();
            assert_eq!(signature.len(), 4627);
            assert_eq!(verify(&module, session, plain(CKM_ML_DSA), public, b"m", &signature), CKR_OK);
        },
    );
}
