//! Key managers of the groups that join ML-KEM with a curve. provider-keymgmt(7).

use std::ffi::{c_int, c_void};

use oarlock::tls_groups::Group;

use super::{describe, dispatch, entry, report_result};
use crate::error::ProviderError;
use crate::ffi::libcrypto::abi::{OsslDispatch, OsslParam, StaticTable, keymgmt, kind};
use crate::ffi::libcrypto::params::{Callback, ParamReader, ParamWriter};
use crate::hybrid::HybridKey;
use crate::key::{KeySelection, name};
use crate::provider::LoadedProvider;

/// A group as a type, for functions that have no key as an argument.
trait GroupMarker {
    const GROUP: Group;
}

struct X25519MlKem768;
struct SecP256r1MlKem768;
struct SecP384r1MlKem1024;

impl GroupMarker for X25519MlKem768 {
    const GROUP: Group = Group::X25519MlKem768;
}
impl GroupMarker for SecP256r1MlKem768 {
    const GROUP: Group = Group::SecP256r1MlKem768;
}
impl GroupMarker for SecP384r1MlKem1024 {
    const GROUP: Group = Group::SecP384r1MlKem1024;
}

macro_rules! keymgmt_table {
    ($group:ty) => {
        dispatch! {
            keymgmt::NEW => new::<$group>,
            keymgmt::FREE => free,
            keymgmt::DUP => dup,
            keymgmt::HAS => has,
            keymgmt::MATCH => matches,
            keymgmt::IMPORT => import,
            keymgmt::IMPORT_TYPES => types,
            keymgmt::EXPORT => export,
            keymgmt::EXPORT_TYPES => types,
            keymgmt::GET_PARAMS => get_params,
            keymgmt::GETTABLE_PARAMS => gettable_params,
            keymgmt::SET_PARAMS => set_params,
            keymgmt::SETTABLE_PARAMS => settable_params,
            keymgmt::GEN_INIT => gen_init::<$group>,
            keymgmt::GEN_SET_TEMPLATE => gen_set_template,
            keymgmt::GEN_SET_PARAMS => gen_set_params,
            keymgmt::GEN_SETTABLE_PARAMS => gen_settable_params,
            keymgmt::GEN => generate_key,
            keymgmt::GEN_CLEANUP => gen_cleanup,
        }
    };
}

pub(super) static X25519_ML_KEM_768: StaticTable<OsslDispatch> = keymgmt_table!(X25519MlKem768);
pub(super) static SECP256R1_ML_KEM_768: StaticTable<OsslDispatch> = keymgmt_table!(SecP256r1MlKem768);
pub(super) static SECP384R1_ML_KEM_1024: StaticTable<OsslDispatch> = keymgmt_table!(SecP384r1MlKem1024);

static TYPES: StaticTable<OsslParam> = describe! { name::PUBLIC => kind::OCTETS };

static GETTABLE: StaticTable<OsslParam> = describe! {
    name::BITS => kind::INTEGER,
    name::SECURITY_BITS => kind::INTEGER,
    name::MAX_SIZE => kind::INTEGER,
    name::PUBLIC => kind::OCTETS,
    name::ENCODED_PUBLIC => kind::OCTETS,
};

static SETTABLE: StaticTable<OsslParam> = describe! { name::ENCODED_PUBLIC => kind::OCTETS };

static GENERATION: StaticTable<OsslParam> = describe! { name::GROUP => kind::UTF8 };

/// A key whose ownership passes to or from OpenSSL.
type OwnedKey = Option<Box<HybridKey>>;

/// A key that is being generated, or an empty one for the share of the peer.
struct HybridGeneration {
    provider: LoadedProvider,
    group: Group,
    selection: KeySelection,
}

entry! {
    fn new<G: GroupMarker>(provider: Option<&LoadedProvider>) -> OwnedKey, or None; {
        provider.map(|provider| Box::new(HybridKey::new(provider, G::GROUP)))
    }
}

entry! {
    fn free(key: OwnedKey) -> (), or (); { drop(key); }
}

entry! {
    fn dup(key: Option<&HybridKey>, selection: c_int) -> OwnedKey, or None; {
        key?.copy_selected(KeySelection(selection)).ok().map(Box::new)
    }
}

entry! {
    fn has(key: Option<&HybridKey>, selection: c_int) -> c_int, or 0; {
        key.is_some_and(|key| key.has(KeySelection(selection))).into()
    }
}

entry! {
    fn matches(key: Option<&HybridKey>, other: Option<&HybridKey>, selection: c_int) -> c_int, or 0; {
        key.zip(other).is_some_and(|(key, other)| key.matches(other, KeySelection(selection))).into()
    }
}

entry! {
    fn import(key: Option<&HybridKey>, selection: c_int, params: ParamReader<'_>) -> c_int, or 0; {
        key.map_or(0, |key| report_result(key.provider(), key.import(params, KeySelection(selection))))
    }
}

entry! {
    fn export(
        key: Option<&HybridKey>,
        selection: c_int,
        callback: Option<Callback>,
        argument: *mut c_void,
    ) -> c_int, or 0;
    {
        let made = key.and_then(|key| key.export(KeySelection(selection)));
        made.is_some_and(|mut made| made.pass_to(callback, argument)).into()
    }
}

entry! {
    fn types(selection: c_int) -> *const OsslParam, or std::ptr::null(); {
        if KeySelection(selection).keypair() { TYPES.as_ptr() } else { std::ptr::null() }
    }
}

entry! {
    fn get_params(key: Option<&HybridKey>, wanted: ParamWriter<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        key.is_some_and(|key| key.describe(&mut wanted)).into()
    }
}

entry! {
    fn gettable_params(_provider: *const c_void) -> *const OsslParam, or std::ptr::null(); { GETTABLE.as_ptr() }
}

entry! {
    fn set_params(key: Option<&HybridKey>, params: ParamReader<'_>) -> c_int, or 0; {
        key.map_or(0, |key| report_result(key.provider(), key.set(params)))
    }
}

entry! {
    fn settable_params(_provider: *const c_void) -> *const OsslParam, or std::ptr::null(); { SETTABLE.as_ptr() }
}

entry! {
    fn gen_init<G: GroupMarker>(provider: Option<&LoadedProvider>, selection: c_int, params: ParamReader<'_>)
        -> Option<Box<HybridGeneration>>, or None;
    {
        let provider = provider?.clone();
        let generation = HybridGeneration { provider, group: G::GROUP, selection: KeySelection(selection) };
        (report_result(&generation.provider, generation.check(params)) == 1).then(|| Box::new(generation))
    }
}

entry! {
    /// A key has no parameters besides its group.
    fn gen_set_template(generation: Option<&HybridGeneration>, template: Option<&HybridKey>) -> c_int, or 0; {
        generation.is_some_and(|generation| template.is_none_or(|key| key.group == generation.group)).into()
    }
}

entry! {
    fn gen_set_params(generation: Option<&HybridGeneration>, params: ParamReader<'_>) -> c_int, or 0; {
        generation.map_or(0, |generation| report_result(&generation.provider, generation.check(params)))
    }
}

entry! {
    fn gen_settable_params(_generation: *const c_void, _provider: *const c_void) -> *const OsslParam,
        or std::ptr::null();
    { GENERATION.as_ptr() }
}

entry! {
    fn generate_key(generation: Option<&HybridGeneration>, _report: *const c_void, _argument: *mut c_void) -> OwnedKey, or None; {
        let HybridGeneration { provider, group, selection } = generation?;
        if !selection.keypair() {
            return Some(Box::new(HybridKey::new(provider, *group)));
        }
        match HybridKey::generate(provider, *group) {
            Ok(key) => Some(Box::new(key)),
            Err(failure) => {
                provider.core().raise(&failure);
                None
            }
        }
    }
}

entry! {
    fn gen_cleanup(generation: Option<Box<HybridGeneration>>) -> (), or (); { drop(generation); }
}

impl HybridGeneration {
    /// Checks the name of the group, which libssl sets for every key. Since 3.5 it is empty for KEMs.
    fn check(&self, params: ParamReader<'_>) -> Result<(), ProviderError> {
        match params.text(name::GROUP) {
            Some(group) if !group.is_empty() && !group.eq_ignore_ascii_case(self.group.name()) => {
                let expected = format!("{}, found {group}", self.group.name());
                Err(ProviderError::Parameter { what: "group", expected })
            }
            _ => Ok(()),
        }
    }
}
