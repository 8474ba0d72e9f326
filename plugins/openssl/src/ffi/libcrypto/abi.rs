//! OpenSSL's provider interface by number: `core_dispatch.h`, `core.h`, `core_names.h`, `core_object.h` and `rsa.h` of
//! OpenSSL 3.0, all of which 4.0 keeps. The numbers are the interface, so the build needs neither a header nor the
//! library.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// `OSSL_DISPATCH`: a function by number. Number 0 ends an array.
#[repr(C)]
pub(crate) struct OsslDispatch {
    pub(crate) id: c_int,
    // C has `void (*)(void)`. POSIX gives pointers to data and functions the same size: dlsym(3).
    pub(crate) function: *const (),
}

/// `OSSL_ALGORITHM`: names separated by colons. An entry without names ends an array.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct OsslAlgorithm {
    pub(crate) names: *const c_char,
    pub(crate) properties: *const c_char,
    pub(crate) functions: *const OsslDispatch,
    pub(crate) description: *const c_char,
}

/// `OSSL_PARAM`: a named value. An entry without name ends an array.
#[repr(C)]
pub(crate) struct OsslParam {
    pub(crate) key: *const c_char,
    pub(crate) kind: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) size: usize,
    pub(crate) returned: usize,
}

/// `OSSL_ITEM`: the text of an error's reason. Number 0 ends an array.
#[repr(C)]
pub(crate) struct OsslItem {
    pub(crate) id: c_uint,
    pub(crate) text: *const c_char,
}

/// An array that never changes, as C reads it.
pub(crate) struct StaticTable<T: 'static>(pub(crate) &'static [T]);

/// An entry of a [`StaticTable`]: its pointers are null or point at constants and functions.
pub(crate) trait StaticEntry {}

impl StaticEntry for OsslDispatch {}
impl StaticEntry for OsslAlgorithm {}
impl StaticEntry for OsslParam {}
impl StaticEntry for OsslItem {}

// SAFETY: tables are constants, and so is everything that the pointers of these entries point at.
unsafe impl<T: StaticEntry> Sync for StaticTable<T> {}

impl<T> StaticTable<T> {
    pub(crate) fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }
}

impl OsslDispatch {
    pub(crate) const fn new(id: c_int, function: *const ()) -> Self {
        Self { id, function }
    }

    pub(crate) const END: Self = Self::new(0, std::ptr::null());
}

impl OsslAlgorithm {
    pub(crate) const fn new(
        names: &'static CStr,
        properties: &'static CStr,
        functions: &'static StaticTable<OsslDispatch>,
        description: &'static CStr,
    ) -> Self {
        Self {
            names: names.as_ptr(),
            properties: properties.as_ptr(),
            functions: functions.0.as_ptr(),
            description: description.as_ptr(),
        }
    }

    pub(crate) const END: Self = Self {
        names: std::ptr::null(),
        properties: std::ptr::null(),
        functions: std::ptr::null(),
        description: std::ptr::null(),
    };
}

impl OsslParam {
    /// Describes a parameter: a name and a type without data.
    pub(crate) const fn describe(key: &'static CStr, kind: c_uint) -> Self {
        Self { key: key.as_ptr(), kind, data: std::ptr::null_mut(), size: 0, returned: UNMODIFIED }
    }

    pub(crate) const END: Self =
        Self { key: std::ptr::null(), kind: 0, data: std::ptr::null_mut(), size: 0, returned: 0 };
}

/// `OSSL_PARAM_UNMODIFIED`.
pub(crate) const UNMODIFIED: usize = usize::MAX;

/// The types of parameters.
pub(crate) mod kind {
    use super::c_uint;
    pub(crate) const INTEGER: c_uint = 1;
    pub(crate) const UNSIGNED: c_uint = 2;
    pub(crate) const UTF8: c_uint = 4;
    pub(crate) const OCTETS: c_uint = 5;
    pub(crate) const UTF8_PTR: c_uint = 6;
}

/// The functions of the core that a provider may call.
pub(crate) mod core {
    use super::c_int;
    pub(crate) const GET_PARAMS: c_int = 2;
    pub(crate) const NEW_ERROR: c_int = 5;
    pub(crate) const SET_ERROR_DEBUG: c_int = 6;
    pub(crate) const VSET_ERROR: c_int = 7;
    pub(crate) const OBJ_ADD_SIGID: c_int = 11;
    pub(crate) const OBJ_CREATE: c_int = 12;
    pub(crate) const BIO_READ_EX: c_int = 42;
    pub(crate) const BIO_WRITE_EX: c_int = 43;
    pub(crate) const BIO_GETS: c_int = 49;
    pub(crate) const REGISTER_CHILD_CB: c_int = 105;
    pub(crate) const DEREGISTER_CHILD_CB: c_int = 106;
    pub(crate) const PROVIDER_NAME: c_int = 107;
    pub(crate) const PROVIDER_CONTEXT: c_int = 108;
    pub(crate) const PROVIDER_DISPATCH: c_int = 109;
    pub(crate) const PROVIDER_UP_REF: c_int = 110;
    pub(crate) const PROVIDER_FREE: c_int = 111;
}

pub(crate) mod provider {
    use super::c_int;
    pub(crate) const TEARDOWN: c_int = 1024;
    pub(crate) const GETTABLE_PARAMS: c_int = 1025;
    pub(crate) const GET_PARAMS: c_int = 1026;
    pub(crate) const QUERY_OPERATION: c_int = 1027;
    pub(crate) const GET_REASON_STRINGS: c_int = 1029;
    pub(crate) const GET_CAPABILITIES: c_int = 1030;
}

pub(crate) mod operation {
    use super::c_int;
    pub(crate) const KDF: c_int = 4;
    pub(crate) const KEYMGMT: c_int = 10;
    pub(crate) const KEYEXCH: c_int = 11;
    pub(crate) const SIGNATURE: c_int = 12;
    pub(crate) const ASYM_CIPHER: c_int = 13;
    pub(crate) const KEM: c_int = 14;
    pub(crate) const ENCODER: c_int = 20;
    pub(crate) const DECODER: c_int = 21;
    pub(crate) const STORE: c_int = 22;
}

pub(crate) mod kdf {
    use super::c_int;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const DUPCTX: c_int = 2;
    pub(crate) const FREECTX: c_int = 3;
    pub(crate) const RESET: c_int = 4;
    pub(crate) const DERIVE: c_int = 5;
    pub(crate) const GETTABLE_CTX_PARAMS: c_int = 7;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 8;
    pub(crate) const GET_CTX_PARAMS: c_int = 10;
    pub(crate) const SET_CTX_PARAMS: c_int = 11;
}

pub(crate) mod keymgmt {
    use super::c_int;
    pub(crate) const NEW: c_int = 1;
    pub(crate) const GEN_INIT: c_int = 2;
    pub(crate) const GEN_SET_TEMPLATE: c_int = 3;
    pub(crate) const GEN_SET_PARAMS: c_int = 4;
    pub(crate) const GEN_SETTABLE_PARAMS: c_int = 5;
    pub(crate) const GEN: c_int = 6;
    pub(crate) const GEN_CLEANUP: c_int = 7;
    pub(crate) const LOAD: c_int = 8;
    pub(crate) const FREE: c_int = 10;
    pub(crate) const GET_PARAMS: c_int = 11;
    pub(crate) const GETTABLE_PARAMS: c_int = 12;
    pub(crate) const SET_PARAMS: c_int = 13;
    pub(crate) const SETTABLE_PARAMS: c_int = 14;
    pub(crate) const QUERY_OPERATION_NAME: c_int = 20;
    pub(crate) const HAS: c_int = 21;
    pub(crate) const VALIDATE: c_int = 22;
    pub(crate) const MATCH: c_int = 23;
    pub(crate) const IMPORT: c_int = 40;
    pub(crate) const IMPORT_TYPES: c_int = 41;
    pub(crate) const EXPORT: c_int = 42;
    pub(crate) const EXPORT_TYPES: c_int = 43;
    pub(crate) const DUP: c_int = 44;
}

pub(crate) mod keyexch {
    use super::c_int;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const INIT: c_int = 2;
    pub(crate) const DERIVE: c_int = 3;
    pub(crate) const SET_PEER: c_int = 4;
    pub(crate) const FREECTX: c_int = 5;
    pub(crate) const DUPCTX: c_int = 6;
    pub(crate) const SET_CTX_PARAMS: c_int = 7;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 8;
    pub(crate) const GET_CTX_PARAMS: c_int = 9;
    pub(crate) const GETTABLE_CTX_PARAMS: c_int = 10;
}

pub(crate) mod signature {
    use super::c_int;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const SIGN_INIT: c_int = 2;
    pub(crate) const SIGN: c_int = 3;
    pub(crate) const VERIFY_INIT: c_int = 4;
    pub(crate) const VERIFY: c_int = 5;
    pub(crate) const VERIFY_RECOVER_INIT: c_int = 6;
    pub(crate) const VERIFY_RECOVER: c_int = 7;
    pub(crate) const DIGEST_SIGN_INIT: c_int = 8;
    pub(crate) const DIGEST_SIGN_UPDATE: c_int = 9;
    pub(crate) const DIGEST_SIGN_FINAL: c_int = 10;
    pub(crate) const DIGEST_SIGN: c_int = 11;
    pub(crate) const DIGEST_VERIFY_INIT: c_int = 12;
    pub(crate) const DIGEST_VERIFY_UPDATE: c_int = 13;
    pub(crate) const DIGEST_VERIFY_FINAL: c_int = 14;
    pub(crate) const DIGEST_VERIFY: c_int = 15;
    pub(crate) const FREECTX: c_int = 16;
    pub(crate) const DUPCTX: c_int = 17;
    pub(crate) const GET_CTX_PARAMS: c_int = 18;
    pub(crate) const GETTABLE_CTX_PARAMS: c_int = 19;
    pub(crate) const SET_CTX_PARAMS: c_int = 20;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 21;
    // OpenSSL 3.4.
    pub(crate) const SIGN_MESSAGE_INIT: c_int = 27;
    pub(crate) const SIGN_MESSAGE_UPDATE: c_int = 28;
    pub(crate) const SIGN_MESSAGE_FINAL: c_int = 29;
    pub(crate) const VERIFY_MESSAGE_INIT: c_int = 30;
    pub(crate) const VERIFY_MESSAGE_UPDATE: c_int = 31;
    pub(crate) const VERIFY_MESSAGE_FINAL: c_int = 32;
}

pub(crate) mod asym_cipher {
    use super::c_int;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const ENCRYPT_INIT: c_int = 2;
    pub(crate) const ENCRYPT: c_int = 3;
    pub(crate) const DECRYPT_INIT: c_int = 4;
    pub(crate) const DECRYPT: c_int = 5;
    pub(crate) const FREECTX: c_int = 6;
    pub(crate) const DUPCTX: c_int = 7;
    pub(crate) const GET_CTX_PARAMS: c_int = 8;
    pub(crate) const GETTABLE_CTX_PARAMS: c_int = 9;
    pub(crate) const SET_CTX_PARAMS: c_int = 10;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 11;
}

pub(crate) mod kem {
    use super::c_int;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const ENCAPSULATE_INIT: c_int = 2;
    pub(crate) const ENCAPSULATE: c_int = 3;
    pub(crate) const DECAPSULATE_INIT: c_int = 4;
    pub(crate) const DECAPSULATE: c_int = 5;
    pub(crate) const FREECTX: c_int = 6;
    pub(crate) const DUPCTX: c_int = 7;
    pub(crate) const SET_CTX_PARAMS: c_int = 10;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 11;
}

pub(crate) mod encoder {
    use super::c_int;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const FREECTX: c_int = 2;
    pub(crate) const SET_CTX_PARAMS: c_int = 5;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 6;
    pub(crate) const DOES_SELECTION: c_int = 10;
    pub(crate) const ENCODE: c_int = 11;
    pub(crate) const IMPORT_OBJECT: c_int = 20;
    pub(crate) const FREE_OBJECT: c_int = 21;
}

pub(crate) mod decoder {
    use super::c_int;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const FREECTX: c_int = 2;
    pub(crate) const DOES_SELECTION: c_int = 10;
    pub(crate) const DECODE: c_int = 11;
}

pub(crate) mod store {
    use super::c_int;
    pub(crate) const OPEN: c_int = 1;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 3;
    pub(crate) const SET_CTX_PARAMS: c_int = 4;
    pub(crate) const LOAD: c_int = 5;
    pub(crate) const EOF: c_int = 6;
    pub(crate) const CLOSE: c_int = 7;
}

/// `OSSL_OBJECT_PKEY`.
pub(crate) const OBJECT_PKEY: c_int = 2;
