//! Key managers. provider-keymgmt(7).

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;

use oarlock::{MlDsaSet, MlKemSet};

use super::{describe, dispatch, entry, object, report_result};
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, keymgmt, kind, operation};
use crate::ffi::libcrypto::params::{Callback, ParamReader, ParamWriter};
use crate::generation::KeyGeneration;
use crate::key::{KeyFamily, KeySelection, ProviderKey, name};
use crate::provider::LoadedProvider;

/// A family of keys as a type, for functions that have no key as an argument.
pub(super) trait FamilyMarker {
    const FAMILY: KeyFamily;
}

pub(super) struct RsaFamily;
pub(super) struct EcFamily;
pub(super) struct Ed25519Family;
pub(super) struct X25519Family;

pub(super) struct MlKem512Family;
pub(super) struct MlKem768Family;
pub(super) struct MlKem1024Family;
pub(super) struct MlDsa44Family;
pub(super) struct MlDsa65Family;
pub(super) struct MlDsa87Family;

impl FamilyMarker for RsaFamily {
    const FAMILY: KeyFamily = KeyFamily::Rsa;
}
impl FamilyMarker for EcFamily {
    const FAMILY: KeyFamily = KeyFamily::Ec;
}
impl FamilyMarker for Ed25519Family {
    const FAMILY: KeyFamily = KeyFamily::Ed25519;
}
impl FamilyMarker for X25519Family {
    const FAMILY: KeyFamily = KeyFamily::X25519;
}

impl FamilyMarker for MlKem512Family {
    const FAMILY: KeyFamily = KeyFamily::MlKem(MlKemSet::MlKem512);
}
impl FamilyMarker for MlKem768Family {
    const FAMILY: KeyFamily = KeyFamily::MlKem(MlKemSet::MlKem768);
}
impl FamilyMarker for MlKem1024Family {
    const FAMILY: KeyFamily = KeyFamily::MlKem(MlKemSet::MlKem1024);
}
impl FamilyMarker for MlDsa44Family {
    const FAMILY: KeyFamily = KeyFamily::MlDsa(MlDsaSet::MlDsa44);
}
impl FamilyMarker for MlDsa65Family {
    const FAMILY: KeyFamily = KeyFamily::MlDsa(MlDsaSet::MlDsa65);
}
impl FamilyMarker for MlDsa87Family {
    const FAMILY: KeyFamily = KeyFamily::MlDsa(MlDsaSet::MlDsa87);
}

/// The functions of all key managers, and others for some of them.
macro_rules! keymgmt_table {
    ($family:ty $(, $id:path => $function:expr)* $(,)?) => {
        dispatch! {
            keymgmt::NEW => new::<$family>,
            keymgmt::LOAD => load,
            keymgmt::FREE => free,
            keymgmt::DUP => dup,
            keymgmt::HAS => has,
            keymgmt::MATCH => matches,
            keymgmt::VALIDATE => validate,
            keymgmt::IMPORT => import,
            keymgmt::IMPORT_TYPES => types,
            keymgmt::EXPORT => export,
            keymgmt::EXPORT_TYPES => types,
            keymgmt::GET_PARAMS => get_params,
            keymgmt::GETTABLE_PARAMS => gettable_params,
            keymgmt::GEN_INIT => gen_init::<$family>,
            keymgmt::GEN_SET_TEMPLATE => gen_set_template,
            keymgmt::GEN_SET_PARAMS => gen_set_params,
            keymgmt::GEN_SETTABLE_PARAMS => gen_settable_params::<$family>,
            keymgmt::GEN => generate_key,
            keymgmt::GEN_CLEANUP => gen_cleanup,
            $($id => $function,)*
        }
    };
}

pub(super) static RSA: StaticTable<OsslDispatch> = keymgmt_table!(RsaFamily);

pub(super) static EC: StaticTable<OsslDispatch> = keymgmt_table! {
    EcFamily,
    keymgmt::QUERY_OPERATION_NAME => ec_operation_name,
    keymgmt::SET_PARAMS => set_params,
    keymgmt::SETTABLE_PARAMS => settable_params,
};

pub(super) static ED25519: StaticTable<OsslDispatch> = keymgmt_table!(Ed25519Family);

/// TLS sets a peer's key share as a parameter.
pub(super) static X25519: StaticTable<OsslDispatch> = keymgmt_table! {
    X25519Family,
    keymgmt::SET_PARAMS => set_params,
    keymgmt::SETTABLE_PARAMS => settable_params,
};

/// The functions of ML-KEM, whose encoded public key is a parameter too.
macro_rules! ml_kem_table {
    ($family:ty) => {
        keymgmt_table! {
            $family,
            keymgmt::SET_PARAMS => set_params,
            keymgmt::SETTABLE_PARAMS => settable_params,
        }
    };
}

pub(super) static ML_KEM_512: StaticTable<OsslDispatch> = ml_kem_table!(MlKem512Family);
pub(super) static ML_KEM_768: StaticTable<OsslDispatch> = ml_kem_table!(MlKem768Family);
pub(super) static ML_KEM_1024: StaticTable<OsslDispatch> = ml_kem_table!(MlKem1024Family);
pub(super) static ML_DSA_44: StaticTable<OsslDispatch> = keymgmt_table!(MlDsa44Family);
pub(super) static ML_DSA_65: StaticTable<OsslDispatch> = keymgmt_table!(MlDsa65Family);
pub(super) static ML_DSA_87: StaticTable<OsslDispatch> = keymgmt_table!(MlDsa87Family);

/// The key manager of a family without parameters that are set.
pub(super) struct FamilyKeys<F>(PhantomData<F>);

impl<F: FamilyMarker> FamilyKeys<F> {
    pub(super) const TABLE: StaticTable<OsslDispatch> = keymgmt_table!(F);
}

static TYPES: StaticTable<OsslParam> = describe! {
    name::N => kind::UNSIGNED,
    name::E => kind::UNSIGNED,
    name::D => kind::UNSIGNED,
    name::FACTOR1 => kind::UNSIGNED,
    name::FACTOR2 => kind::UNSIGNED,
    name::EXPONENT1 => kind::UNSIGNED,
    name::EXPONENT2 => kind::UNSIGNED,
    name::COEFFICIENT1 => kind::UNSIGNED,
    name::GROUP => kind::UTF8,
    name::PUBLIC => kind::OCTETS,
    name::PRIVATE => kind::OCTETS,
    name::ENCODING => kind::UTF8,
    name::POINT_FORMAT => kind::UTF8,
    name::INCLUDE_PUBLIC => kind::INTEGER,
    name::COFACTOR_FLAG => kind::INTEGER,
    name::GROUP_CHECK => kind::UTF8,
    name::FIELD_TYPE => kind::UTF8,
    name::P => kind::UNSIGNED,
    name::A => kind::UNSIGNED,
    name::B => kind::UNSIGNED,
    name::GENERATOR => kind::OCTETS,
    name::ORDER => kind::UNSIGNED,
    name::COFACTOR => kind::UNSIGNED,
    name::SEED => kind::OCTETS,
};

static GETTABLE: StaticTable<OsslParam> = describe! {
    name::BITS => kind::INTEGER,
    name::SECURITY_BITS => kind::INTEGER,
    name::MAX_SIZE => kind::INTEGER,
    name::DEFAULT_DIGEST => kind::UTF8,
    name::MANDATORY_DIGEST => kind::UTF8,
    name::GROUP => kind::UTF8,
    name::POINT_FORMAT => kind::UTF8,
    name::ENCODING => kind::UTF8,
    name::N => kind::UNSIGNED,
    name::E => kind::UNSIGNED,
    name::D => kind::UNSIGNED,
    name::FACTOR1 => kind::UNSIGNED,
    name::FACTOR2 => kind::UNSIGNED,
    name::EXPONENT1 => kind::UNSIGNED,
    name::EXPONENT2 => kind::UNSIGNED,
    name::COEFFICIENT1 => kind::UNSIGNED,
    name::PUBLIC => kind::OCTETS,
    name::PRIVATE => kind::OCTETS,
    name::ENCODED_PUBLIC => kind::OCTETS,
    name::QX => kind::UNSIGNED,
    name::QY => kind::UNSIGNED,
    name::DECODED_FROM_EXPLICIT => kind::INTEGER,
    name::INCLUDE_PUBLIC => kind::INTEGER,
    name::COFACTOR_FLAG => kind::INTEGER,
    name::FIELD_TYPE => kind::UTF8,
    name::P => kind::UNSIGNED,
    name::A => kind::UNSIGNED,
    name::B => kind::UNSIGNED,
    name::GENERATOR => kind::OCTETS,
    name::ORDER => kind::UNSIGNED,
    name::COFACTOR => kind::UNSIGNED,
    name::SEED => kind::OCTETS,
    name::SECURITY_CATEGORY => kind::INTEGER,
    name::CMS_RECIPIENT => kind::INTEGER,
    name::CMS_KDF => kind::OCTETS,
};

static SETTABLE: StaticTable<OsslParam> = describe! {
    name::ENCODED_PUBLIC => kind::OCTETS,
    name::ENCODING => kind::UTF8,
    name::POINT_FORMAT => kind::UTF8,
    name::INCLUDE_PUBLIC => kind::INTEGER,
    name::COFACTOR_FLAG => kind::INTEGER,
    name::GROUP_CHECK => kind::UTF8,
};

/// The parameters of new RSA keys without a fallback.
static RSA_GENERATION: StaticTable<OsslParam> = describe! {
    name::BITS => kind::UNSIGNED,
    name::PRIMES => kind::UNSIGNED,
    name::E => kind::UNSIGNED,
};

/// The parameters of new ML-KEM and ML-DSA keys without a fallback.
static SEED_GENERATION: StaticTable<OsslParam> = describe! { name::SEED => kind::OCTETS };

/// The parameters of all other new keys without a fallback.
static GENERATION: StaticTable<OsslParam> = describe! { name::GROUP => kind::UTF8 };

/// A key whose ownership passes to or from OpenSSL.
type OwnedKey = Option<Box<ProviderKey>>;

entry! {
    fn new<F: FamilyMarker>(provider: Option<&LoadedProvider>) -> OwnedKey, or None; {
        provider.map(|provider| Box::new(ProviderKey::new(provider, F::FAMILY, None)))
    }
}

entry! {
    /// Loads the key that a store or decoder of this provider passes on.
    fn load(reference: *const c_void, len: usize) -> OwnedKey, or None; {
        // SAFETY: OpenSSL passes on the reference of a store or decoder, whose call waits meanwhile:
        // provider-object(7).
        unsafe { object::load_key(reference, len) }.map(Box::new)
    }
}

entry! {
    fn free(key: OwnedKey) -> (), or (); { drop(key); }
}

entry! {
    fn dup(key: Option<&ProviderKey>, selection: c_int) -> OwnedKey, or None; {
        // EVP_PKEY_copy_parameters(3) selects the parameters alone. The copy must not have the private half then.
        key?.copy_selected(KeySelection(selection)).map(Box::new)
    }
}

entry! {
    fn has(key: Option<&ProviderKey>, selection: c_int) -> c_int, or 0; {
        key.is_some_and(|key| key.has(KeySelection(selection))).into()
    }
}

entry! {
    fn matches(key: Option<&ProviderKey>, other: Option<&ProviderKey>, selection: c_int) -> c_int, or 0; {
        key.zip(other).is_some_and(|(key, other)| key.matches(other, KeySelection(selection))).into()
    }
}

entry! {
    fn validate(key: Option<&ProviderKey>, selection: c_int, kind: c_int) -> c_int, or 0; {
        key.is_some_and(|key| key.is_valid(KeySelection(selection), kind)).into()
    }
}

entry! {
    fn import(key: Option<&ProviderKey>, selection: c_int, params: ParamReader<'_>) -> c_int, or 0; {
        key.is_some_and(|key| key.import(params, KeySelection(selection))).into()
    }
}

entry! {
    fn export(
        key: Option<&ProviderKey>,
        selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
    ) -> c_int, or 0;
    {
        key.is_some_and(|key| key.export_to(KeySelection(selection), callback, argument)).into()
    }
}

entry! {
    fn types(selection: c_int) -> *const OsslParam, or std::ptr::null(); {
        let selection = KeySelection(selection);
        // One list serves all families: callers pass what their key has.
        if selection.keypair() || selection.domain() { TYPES.as_ptr() } else { std::ptr::null() }
    }
}

entry! {
    fn get_params(key: Option<&ProviderKey>, wanted: ParamWriter<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        key.is_some_and(|key| key.describe(&mut wanted)).into()
    }
}

entry! {
    fn gettable_params(_provider: *const c_void) -> *const OsslParam, or std::ptr::null(); { GETTABLE.as_ptr() }
}

entry! {
    fn set_params(key: Option<&ProviderKey>, params: ParamReader<'_>) -> c_int, or 0; {
        key.is_some_and(|key| key.set(params)).into()
    }
}

entry! {
    fn settable_params(_provider: *const c_void) -> *const OsslParam, or std::ptr::null(); { SETTABLE.as_ptr() }
}

entry! {
    fn ec_operation_name(operation: c_int) -> *const c_char, or std::ptr::null(); {
        // Without these names OpenSSL would look for a signature algorithm that has the name of the key, EC.
        match operation {
            operation::SIGNATURE => c"ECDSA".as_ptr(),
            operation::KEYEXCH => c"ECDH".as_ptr(),
            _ => std::ptr::null(),
        }
    }
}

entry! {
    fn gen_init<F: FamilyMarker>(provider: Option<&LoadedProvider>, selection: c_int, params: ParamReader<'_>)
        -> Option<Box<KeyGeneration>>, or None;
    {
        let provider = provider?;
        // Null ends the generation, so a parameter that is not offered must not be ignored here.
        match KeyGeneration::begin(provider, F::FAMILY, KeySelection(selection), params) {
            Ok(generation) => Some(Box::new(generation)),
            Err(failure) => {
                provider.core().raise(&failure);
                None
            }
        }
    }
}

entry! {
    fn gen_set_template(generation: Option<&mut KeyGeneration>, template: Option<&ProviderKey>) -> c_int, or 0; {
        generation.is_some_and(|generation| template.is_none_or(|key| generation.take_template(key))).into()
    }
}

entry! {
    fn gen_set_params(generation: Option<&mut KeyGeneration>, params: ParamReader<'_>) -> c_int, or 0; {
        let Some(generation) = generation else { return 0 };
        let done = generation.set(params);
        report_result(&generation.provider, done)
    }
}

entry! {
    fn gen_settable_params<F: FamilyMarker>(_generation: *const c_void, provider: Option<&LoadedProvider>)
        -> *const OsslParam, or std::ptr::null();
    {
        let settable = match F::FAMILY {
            KeyFamily::Rsa => &RSA_GENERATION,
            KeyFamily::MlKem(_) | KeyFamily::MlDsa(_) | KeyFamily::SlhDsa(_) => &SEED_GENERATION,
            _ => &GENERATION,
        };
        let settable = settable.as_ptr();
        let fallback = provider.and_then(LoadedProvider::fallback);
        fallback.and_then(|fallback| fallback.generation_params(F::FAMILY.name())).unwrap_or(settable)
    }
}

entry! {
    fn generate_key(generation: Option<&mut KeyGeneration>, report: *const c_void, argument: *mut c_void) -> OwnedKey, or None; {
        let generation = generation?;
        match generation.generate(report, argument) {
            Ok(key) => Some(Box::new(key)),
            Err(failure) => {
                generation.provider.core().raise(&failure);
                None
            }
        }
    }
}

entry! {
    fn gen_cleanup(generation: Option<Box<KeyGeneration>>) -> (), or (); { drop(generation); }
}
