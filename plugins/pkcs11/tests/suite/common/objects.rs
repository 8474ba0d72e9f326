//! Templates, mechanisms with parameters, and keys.

use std::ptr::null_mut;

use cryptoki_sys::*;

use super::raw::{RawModule, attribute, plain};
use crate::call;

/// The curve P-256 as an object identifier in DER.
pub const P256: [u8; 10] = [6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

/// A template that owns its values.
#[derive(Clone, Default)]
pub struct Template(pub Vec<(CK_ATTRIBUTE_TYPE, Vec<u8>)>);

impl Template {
    pub fn number(mut self, kind: CK_ATTRIBUTE_TYPE, value: CK_ULONG) -> Self {
        self.0.push((kind, value.to_ne_bytes().to_vec()));
        self
    }

    pub fn bytes(mut self, kind: CK_ATTRIBUTE_TYPE, value: &[u8]) -> Self {
        self.0.push((kind, value.to_vec()));
        self
    }

    pub fn flags(self, kinds: &[CK_ATTRIBUTE_TYPE]) -> Self {
        kinds.iter().fold(self, |template, kind| template.bytes(*kind, &[CK_TRUE]))
    }

    /// Returns the structures of C, which point into this template.
    pub fn list(&mut self) -> Vec<CK_ATTRIBUTE> {
        let entry = |(kind, value): &mut (CK_ATTRIBUTE_TYPE, Vec<u8>)| {
            attribute(*kind, value.as_mut_ptr().cast(), value.len())
        };
        self.0.iter_mut().map(entry).collect()
    }
}

/// Creates an object from its values.
pub fn create(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    mut template: Template,
) -> Result<CK_OBJECT_HANDLE, CK_RV> {
    let (mut list, mut object) = (template.list(), 0);
    let count = list.len() as CK_ULONG;
    match call!(module, C_CreateObject, session, list.as_mut_ptr(), count, &mut object) {
        CKR_OK => Ok(object),
        code => Err(code),
    }
}

/// Generates a secret key.
pub fn generate(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    kind: CK_MECHANISM_TYPE,
    mut template: Template,
) -> Result<CK_OBJECT_HANDLE, CK_RV> {
    let (mut list, mut mechanism, mut key) = (template.list(), plain(kind), 0);
    let count = list.len() as CK_ULONG;
    match call!(module, C_GenerateKey, session, &mut mechanism, list.as_mut_ptr(), count, &mut key) {
        CKR_OK => Ok(key),
        code => Err(code),
    }
}

/// Generates an AES key of 32 bytes with some uses.
pub fn aes_key(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    uses: &[CK_ATTRIBUTE_TYPE],
) -> CK_OBJECT_HANDLE {
    let template = Template::default().number(CKA_VALUE_LEN, 32).flags(uses);
    generate(module, session, CKM_AES_KEY_GEN, template).unwrap()
}

/// Generates a key pair of a session. Returns the public key and the private key.
pub fn generate_pair(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    kind: CK_MECHANISM_TYPE,
    mut public: Template,
    mut private: Template,
) -> Result<(CK_OBJECT_HANDLE, CK_OBJECT_HANDLE), CK_RV> {
    let (mut public, mut private, mut mechanism) = (public.list(), private.list(), plain(kind));
    let counts = (public.len() as CK_ULONG, private.len() as CK_ULONG);
    let (mut public_key, mut private_key) = (0, 0);
    let made = call!(
        module,
        C_GenerateKeyPair,
        session,
        &mut mechanism,
        public.as_mut_ptr(),
        counts.0,
        private.as_mut_ptr(),
        counts.1,
        &mut public_key,
        &mut private_key
    );
    if made == CKR_OK { Ok((public_key, private_key)) } else { Err(made) }
}

/// Generates a key pair of P-256.
pub fn p256_pair(
    module: &RawModule,
    session: CK_SESSION_HANDLE,
    public: &[CK_ATTRIBUTE_TYPE],
    private: &[CK_ATTRIBUTE_TYPE],
) -> (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) {
    let public = Template::default().bytes(CKA_EC_PARAMS, &P256).flags(public);
    let private = Template::default().flags(private);
    generate_pair(module, session, CKM_EC_KEY_PAIR_GEN, public, private).unwrap()
}

/// Makes a mechanism whose parameter is this value.
pub fn with_parameter<T>(kind: CK_MECHANISM_TYPE, value: &T) -> CK_MECHANISM {
    CK_MECHANISM {
        mechanism: kind,
        pParameter: std::ptr::from_ref(value).cast_mut().cast(),
        ulParameterLen: size_of::<T>() as CK_ULONG,
    }
}

/// Makes parameters of GCM with this IV, no associated data and a tag of 16 bytes.
pub fn gcm_parameters(iv: &[u8]) -> CK_GCM_PARAMS {
    CK_GCM_PARAMS {
        pIv: iv.as_ptr().cast_mut(),
        ulIvLen: iv.len() as CK_ULONG,
        ulIvBits: 8 * iv.len() as CK_ULONG,
        pAAD: null_mut(),
        ulAADLen: 0,
        ulTagBits: 128,
    }
}

/// Makes parameters of ECDH without a public key, as encapsulation has them.
pub fn no_peer() -> CK_ECDH1_DERIVE_PARAMS {
    CK_ECDH1_DERIVE_PARAMS {
        kdf: CKD_NULL,
        ulSharedDataLen: 0,
        pSharedData: null_mut(),
        ulPublicDataLen: 0,
        pPublicData: null_mut(),
    }
}
