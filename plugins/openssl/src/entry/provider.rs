//! The provider itself: initialisation, what it offers, its end. provider-base(7).

use std::ffi::{CStr, c_char, c_int, c_void};

use super::abi::{Algorithm, Dispatch, Item, Param, Table, kind, operation, provider};
use super::core::Core;
use super::params::{Callback, Made, Wanted};
use super::{cipher, decoder, describe, dispatch, entry, exchange, keymgmt, signature, store};
use crate::config::Config;
use crate::error::REASONS;
use crate::work::{Provider, say};

/// What OpenSSL prefers these algorithms by, as in `default_properties = ?provider=oarlock`.
const PROPERTIES: &CStr = c"provider=oarlock";

/// Key managers that no query prefers: they are found where an operation of this provider needs its own keys, and new keys are made by
/// the default provider, which knows every size and curve. OpenSSL remembers what it found by name alone at times, so that new keys may
/// be asked of these all the same.
const KEYS_ONLY: &CStr = c"oarlock.keys=import";

static FUNCTIONS: Table<Dispatch> = dispatch! {
    provider::TEARDOWN => teardown,
    provider::GETTABLE_PARAMS => gettable_params,
    provider::GET_PARAMS => get_params,
    provider::QUERY_OPERATION => query_operation,
    provider::GET_REASON_STRINGS => reason_strings,
    provider::GET_CAPABILITIES => get_capabilities,
};

static KEYMGMT: Table<Algorithm> = Table(&[
    Algorithm::new(c"RSA:rsaEncryption:1.2.840.113549.1.1.1", KEYS_ONLY, &keymgmt::RSA, c"Oarlock RSA keys"),
    Algorithm::new(c"EC:id-ecPublicKey:1.2.840.10045.2.1", KEYS_ONLY, &keymgmt::EC, c"Oarlock EC keys"),
    Algorithm::new(c"ED25519:1.3.101.112", KEYS_ONLY, &keymgmt::ED25519, c"Oarlock Ed25519 keys"),
    Algorithm::new(c"X25519:1.3.101.110", PROPERTIES, &keymgmt::X25519, c"Oarlock X25519 keys"),
    Algorithm::END,
]);

static SIGNATURE: Table<Algorithm> = Table(&[
    Algorithm::new(
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1",
        PROPERTIES,
        &signature::RSA,
        c"Oarlock RSA signatures",
    ),
    Algorithm::new(c"ECDSA", PROPERTIES, &signature::ECDSA, c"Oarlock ECDSA over P-256 and P-384"),
    Algorithm::new(c"ED25519:1.3.101.112", PROPERTIES, &signature::ED25519, c"Oarlock Ed25519"),
    Algorithm::END,
]);

static ASYM_CIPHER: Table<Algorithm> = Table(&[
    Algorithm::new(
        c"RSA:rsaEncryption:1.2.840.113549.1.1.1",
        PROPERTIES,
        &cipher::RSA,
        c"Oarlock RSA decryption",
    ),
    Algorithm::END,
]);

static KEYEXCH: Table<Algorithm> = Table(&[
    Algorithm::new(c"X25519:1.3.101.110", PROPERTIES, &exchange::X25519, c"Oarlock X25519"),
    Algorithm::END,
]);

/// From PEM to DER, and from DER to the kinds of keys: what loads any file, such as a store, asks for DER first.
static DECODER: Table<Algorithm> = Table(&[
    Algorithm::new(c"DER", c"provider=oarlock,input=pem", &decoder::DER, c"Oarlock references in PEM"),
    Algorithm::new(c"RSA", REFERENCES, &decoder::RSA, c"Oarlock references to RSA keys"),
    Algorithm::new(c"EC", REFERENCES, &decoder::EC, c"Oarlock references to EC keys"),
    Algorithm::new(c"ED25519", REFERENCES, &decoder::ED25519, c"Oarlock references to Ed25519 keys"),
    Algorithm::END,
]);

/// The structure is [`object::STRUCTURE`](super::object::STRUCTURE).
const REFERENCES: &CStr = c"provider=oarlock,input=der,structure=oarlock-reference";

static STORE: Table<Algorithm> = Table(&[
    Algorithm::new(c"oarlock", PROPERTIES, &store::OARLOCK, c"Keys in a cryptoserver"),
    Algorithm::END,
]);

static GETTABLE: Table<Param> = describe! {
    c"name" => kind::UTF8_PTR,
    c"version" => kind::UTF8_PTR,
    c"buildinfo" => kind::UTF8_PTR,
    c"status" => kind::INTEGER,
};

static REASON_STRINGS: Table<Item> = {
    const fn item(index: usize) -> Item {
        Item { id: REASONS[index].0, text: REASONS[index].1.as_ptr() }
    }
    const END: Item = Item { id: 0, text: std::ptr::null() };
    Table(&[item(0), item(1), item(2), item(3), item(4), item(5), item(6), END])
};

/// A group of TLS, under one of its names.
struct Group {
    name: &'static str,
    /// What its key manager calls it.
    internal: &'static str,
    algorithm: &'static str,
    id: c_int,
    security_bits: c_int,
}

/// RFC 8446 4.2.7; with the names that OpenSSL's configurations use.
const GROUPS: [Group; 5] = [
    Group { name: "x25519", internal: "X25519", algorithm: "X25519", id: 0x1D, security_bits: 128 },
    Group { name: "secp256r1", internal: "prime256v1", algorithm: "EC", id: 0x17, security_bits: 128 },
    Group { name: "P-256", internal: "prime256v1", algorithm: "EC", id: 0x17, security_bits: 128 },
    Group { name: "secp384r1", internal: "secp384r1", algorithm: "EC", id: 0x18, security_bits: 192 },
    Group { name: "P-384", internal: "secp384r1", algorithm: "EC", id: 0x18, security_bits: 192 },
];

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

/// The one symbol that OpenSSL looks for: `OSSL_provider_init`.
///
/// # Safety
/// Called by OpenSSL alone, with what provider(7) says.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    functions: *const Dispatch,
    out: Option<&mut *const Dispatch>,
    context: Option<&mut *mut c_void>,
) -> c_int {
    let made = oarlock_ffi::guard(|| {
        // SAFETY: the handle and functions that OpenSSL gives to a provider.
        let core = unsafe { Core::new(handle, functions) };
        let section = |name: &str| std::ffi::CString::new(name).ok().and_then(|name| core.setting(&name));
        match Config::read(section, oarlock_ffi::environment) {
            Ok((config, ignored)) => {
                ignored.into_iter().for_each(say);
                Some(Box::new(Provider::new(core, config)))
            }
            Err(failure) => {
                // Most programs go on without a provider that they could not load, and look at no error.
                say(&format!("not loaded: {failure}"));
                core.raise(&failure);
                None
            }
        }
    });
    let (Some(Some(provider)), Some(out), Some(context)) = (made, out, context) else { return 0 };
    *context = Box::into_raw(provider).cast();
    *out = FUNCTIONS.as_ptr();
    1
}

entry! {
    fn teardown(provider: Option<Box<Provider>>) -> (), or (); { drop(provider); }
}

entry! {
    fn gettable_params(_provider: *const c_void) -> *const Param, or std::ptr::null(); { GETTABLE.as_ptr() }
}

entry! {
    fn get_params(_provider: *const c_void, wanted: Wanted<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        let is_written = wanted.text(c"name", c"Oarlock")
            & wanted.text(c"version", VERSION)
            & wanted.text(c"buildinfo", VERSION)
            & wanted.number(c"status", 1);
        is_written.into()
    }
}

entry! {
    fn query_operation(_provider: *const c_void, id: c_int, no_cache: Option<&mut c_int>) -> *const Algorithm,
        or std::ptr::null();
    {
        if let Some(no_cache) = no_cache {
            *no_cache = 0;
        }
        match id {
            operation::KEYMGMT => KEYMGMT.as_ptr(),
            operation::KEYEXCH => KEYEXCH.as_ptr(),
            operation::SIGNATURE => SIGNATURE.as_ptr(),
            operation::ASYM_CIPHER => ASYM_CIPHER.as_ptr(),
            operation::DECODER => DECODER.as_ptr(),
            operation::STORE => STORE.as_ptr(),
            _ => std::ptr::null(),
        }
    }
}

entry! {
    /// TLS takes a group from the provider whose key manager it finds for it, and from no other: provider-base(7).
    fn get_capabilities(_provider: *const c_void, wanted: Name, callback: Option<Callback>, argument: *mut c_void)
        -> c_int, or 0;
    {
        // SAFETY: OpenSSL passes a name that ends with zero, or null.
        let wanted = (!wanted.is_null()).then(|| unsafe { CStr::from_ptr(wanted) });
        if !wanted.is_some_and(|wanted| wanted.to_bytes().eq_ignore_ascii_case(b"TLS-GROUP")) {
            return 1;
        }
        GROUPS.iter().all(|group| group.made().give(callback, argument)).into()
    }
}

impl Group {
    fn made(&self) -> Made {
        let mut made = Made::default();
        made.text(c"tls-group-name", self.name)
            .text(c"tls-group-name-internal", self.internal)
            .text(c"tls-group-alg", self.algorithm)
            .number(c"tls-group-id", self.id)
            .number(c"tls-group-sec-bits", self.security_bits)
            // From TLS 1.0 and DTLS 1.0 on.
            .number(c"tls-min-tls", 0x0301)
            .number(c"tls-max-tls", 0)
            .number(c"tls-min-dtls", 0xFEFF)
            .number(c"tls-max-dtls", 0)
            .number(c"tls-group-is-kem", 0);
        made
    }
}

entry! {
    fn reason_strings(_provider: *const c_void) -> *const Item, or std::ptr::null(); { REASON_STRINGS.as_ptr() }
}

/// Names that C lends.
pub(super) type Name = *const c_char;
