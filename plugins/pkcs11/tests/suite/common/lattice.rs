//! Keys of ML-KEM-768 and ML-DSA-65, and what they do, by the tables of C.

use std::ptr::null_mut;

use cryptoki_sys::*;

use super::objects::{Template, generate_pair};
use super::raw::{RawModule, attribute, plain};
use crate::call;

pub const KEM_CIPHERTEXT_LEN: usize = 1088;
pub const DSA_SIGNATURE_LEN: usize = 3309;

/// Generates a pair of ML-KEM-768 whose secrets can be read.
pub fn kem_pair(module: &RawModule, session: CK_SESSION_HANDLE) -> (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) {
    let public = Template::default().number(CKA_PARAMETER_SET, CKP_ML_KEM_768);
    generate_pair(module, session, CKM_ML_KEM_KEY_PAIR_GEN, public, readable()).unwrap()
}

/// Generates a pair of ML-DSA-65 whose secrets can be read.
pub fn dsa_pair(module: &RawModule, session: CK_SESSION_HANDLE) -> (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) {
    let public = Template::default().number(CKA_PARAMETER_SET, CKP_ML_DSA_65);
    generate_pair(module, session, CKM_ML_DSA_KEY_PAIR_GEN, public, readable()).unwrap()
}

fn readable() -> Template {
    Template::default().bytes(CKA_SENSITIVE, &[CK_FALSE]).bytes(CKA_EXTRACTABLE, &[CK_TRUE])
}

/// Reads the bytes of an attribute.
pub fn read(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    object: CK_OBJECT_HANDLE,
    kind: CK_ATTRIBUTE_TYPE,
) -> Result<Vec<u8>, CK_RV> {
    let mut value = vec![0; 8192];
    let mut query = attribute(kind, value.as_mut_ptr().cast(), value.len());
    match call!(module, C_GetAttributeValue, session, object, &mut query, 1) {
        CKR_OK => {
            value.truncate(query.ulValueLen as usize);
            Ok(value)
        }
        code => Err(code),
    }
}

/// Encapsulates by ML-KEM: asks for the length, and then takes the ciphertext and the key.
pub fn encapsulate(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    public: CK_OBJECT_HANDLE,
) -> Result<(Vec<u8>, CK_OBJECT_HANDLE), CK_RV> {
    let (mut mechanism, mut template) = (plain(CKM_ML_KEM), readable());
    let mut list = template.list();
    let (count, list) = (list.len() as CK_ULONG, list.as_mut_ptr());
    let (m, mut len, mut secret) = (&raw mut mechanism, 0, 0);
    let asked =
        call!(module, C_EncapsulateKey, session, m, public, list, count, null_mut(), &mut len, null_mut());
    if asked != CKR_OK {
        return Err(asked);
    }
    let mut ciphertext = vec![0; len as usize];
    let out = ciphertext.as_mut_ptr();
    match call!(module, C_EncapsulateKey, session, m, public, list, count, out, &mut len, &mut secret) {
        CKR_OK => Ok((ciphertext, secret)),
        code => Err(code),
    }
}

/// Decapsulates by ML-KEM.
pub fn decapsulate(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    private: CK_OBJECT_HANDLE,
    ciphertext: &[u8],
) -> Result<CK_OBJECT_HANDLE, CK_RV> {
    let (mut mechanism, mut template, mut secret) = (plain(CKM_ML_KEM), readable(), 0);
    let mut list = template.list();
    let (count, list) = (list.len() as CK_ULONG, list.as_mut_ptr());
    let (m, bytes, len) = (&raw mut mechanism, ciphertext.as_ptr().cast_mut(), ciphertext.len() as CK_ULONG);
    match call!(module, C_DecapsulateKey, session, m, private, list, count, bytes, len, &mut secret) {
        CKR_OK => Ok(secret),
        code => Err(code),
    }
}

/// Signs data in one part, by a mechanism with its parameter.
pub fn sign(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    mut mechanism: CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    data: &[u8],
) -> Result<Vec<u8>, CK_RV> {
    let (data, data_len) = (data.as_ptr().cast_mut(), data.len() as CK_ULONG);
    let begun = call!(module, C_SignInit, session, &mut mechanism, key);
    if begun != CKR_OK {
        return Err(begun);
    }
    let mut len = 0;
    let asked = call!(module, C_Sign, session, data, data_len, null_mut(), &mut len);
    if asked != CKR_OK {
        return Err(asked);
    }
    let mut signature = vec![0; len as usize];
    match call!(module, C_Sign, session, data, data_len, signature.as_mut_ptr(), &mut len) {
        CKR_OK => Ok(signature),
        code => Err(code),
    }
}

/// Verifies a signature in one part, by a mechanism with its parameter.
pub fn verify(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    mut mechanism: CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    data: &[u8],
    signature: &[u8],
) -> CK_RV {
    let begun = call!(module, C_VerifyInit, session, &mut mechanism, key);
    if begun != CKR_OK {
        return begun;
    }
    let (data, data_len) = (data.as_ptr().cast_mut(), data.len() as CK_ULONG);
    let (signature, len) = (signature.as_ptr().cast_mut(), signature.len() as CK_ULONG);
    call!(module, C_Verify, session, data, data_len, signature, len)
}
