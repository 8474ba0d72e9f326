//! Key managers. provider-keymgmt(7).

use std::ffi::{c_char, c_int, c_void};

use super::abi::{Dispatch, Param, Table, keymgmt, kind, operation};
use super::params::{Callback, Params, Wanted};
use super::{answer, describe, dispatch, entry, object};
use crate::generation::Generation;
use crate::key::{Family, ProviderKey, Selection, name};
use crate::work::Provider;

/// A family as a type, for the functions that are told of no key.
pub(super) trait OfFamily {
    const FAMILY: Family;
}

pub(super) struct Rsa;
pub(super) struct Ec;
pub(super) struct Ed25519;
struct X25519Keys;

impl OfFamily for Rsa {
    const FAMILY: Family = Family::Rsa;
}
impl OfFamily for Ec {
    const FAMILY: Family = Family::Ec;
}
impl OfFamily for Ed25519 {
    const FAMILY: Family = Family::Ed25519;
}
impl OfFamily for X25519Keys {
    const FAMILY: Family = Family::X25519;
}

pub(super) static RSA: Table<Dispatch> = dispatch! {
    keymgmt::NEW => new::<Rsa>,
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
    keymgmt::GEN_INIT => gen_init::<Rsa>,
    keymgmt::GEN_SET_TEMPLATE => gen_set_template,
    keymgmt::GEN_SET_PARAMS => gen_set_params,
    keymgmt::GEN_SETTABLE_PARAMS => gen_settable_params::<Rsa>,
    keymgmt::GEN => generate_key,
    keymgmt::GEN_CLEANUP => gen_cleanup,
};

pub(super) static EC: Table<Dispatch> = dispatch! {
    keymgmt::NEW => new::<Ec>,
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
    keymgmt::QUERY_OPERATION_NAME => ec_operation_name,
    keymgmt::SET_PARAMS => set_params,
    keymgmt::SETTABLE_PARAMS => settable_params,
    keymgmt::GEN_INIT => gen_init::<Ec>,
    keymgmt::GEN_SET_TEMPLATE => gen_set_template,
    keymgmt::GEN_SET_PARAMS => gen_set_params,
    keymgmt::GEN_SETTABLE_PARAMS => gen_settable_params::<Ec>,
    keymgmt::GEN => generate_key,
    keymgmt::GEN_CLEANUP => gen_cleanup,
};

pub(super) static ED25519: Table<Dispatch> = dispatch! {
    keymgmt::NEW => new::<Ed25519>,
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
    keymgmt::GEN_INIT => gen_init::<Ed25519>,
    keymgmt::GEN_SET_TEMPLATE => gen_set_template,
    keymgmt::GEN_SET_PARAMS => gen_set_params,
    keymgmt::GEN_SETTABLE_PARAMS => gen_settable_params::<Ed25519>,
    keymgmt::GEN => generate_key,
    keymgmt::GEN_CLEANUP => gen_cleanup,
};

pub(super) static X25519: Table<Dispatch> = dispatch! {
    keymgmt::NEW => new::<X25519Keys>,
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
    keymgmt::SET_PARAMS => set_params,
    keymgmt::SETTABLE_PARAMS => settable_params,
    keymgmt::GEN_INIT => gen_init::<X25519Keys>,
    keymgmt::GEN_SET_TEMPLATE => gen_set_template,
    keymgmt::GEN_SET_PARAMS => gen_set_params,
    keymgmt::GEN_SETTABLE_PARAMS => gen_settable_params::<X25519Keys>,
    keymgmt::GEN => generate_key,
    keymgmt::GEN_CLEANUP => gen_cleanup,
};

static TYPES: Table<Param> = describe! {
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
};

static GETTABLE: Table<Param> = describe! {
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
    name::PUBLIC => kind::OCTETS,
    name::PRIVATE => kind::OCTETS,
    name::ENCODED_PUBLIC => kind::OCTETS,
};

static SETTABLE: Table<Param> = describe! { name::ENCODED_PUBLIC => kind::OCTETS };

/// Of RSA keys that are to be made, and of all others.
static RSA_WISHES: Table<Param> = describe! {
    name::BITS => kind::UNSIGNED,
    name::PRIMES => kind::UNSIGNED,
    name::E => kind::UNSIGNED,
};

static WISHES: Table<Param> = describe! { name::GROUP => kind::UTF8 };

/// A number that [`generate_key`] and [`load`] return: a key that is given away.
type Given = Option<Box<ProviderKey>>;

entry! {
    fn new<F: OfFamily>(_provider: *const c_void) -> Given, or None; {
        Some(Box::new(ProviderKey::new(F::FAMILY, None)))
    }
}

entry! {
    /// The key that a store or decoder of this provider gives.
    fn load(reference: *const c_void, len: usize) -> Given, or None; {
        // SAFETY: OpenSSL passes on what the store or decoder gave, while that waits: provider-object(7).
        unsafe { object::take(reference, len) }.map(Box::new)
    }
}

entry! {
    fn free(key: Given) -> (), or (); { drop(key); }
}

entry! {
    fn dup(key: Option<&ProviderKey>, _selection: c_int) -> Given, or None; {
        key.map(|key| Box::new(key.clone()))
    }
}

entry! {
    fn has(key: Option<&ProviderKey>, selection: c_int) -> c_int, or 0; {
        key.is_some_and(|key| key.has(Selection(selection))).into()
    }
}

entry! {
    fn matches(key: Option<&ProviderKey>, other: Option<&ProviderKey>, selection: c_int) -> c_int, or 0; {
        key.zip(other).is_some_and(|(key, other)| key.matches(other, Selection(selection))).into()
    }
}

entry! {
    /// Keys are validated when they are imported: one that is here is valid.
    fn validate(key: Option<&ProviderKey>, selection: c_int, _kind: c_int) -> c_int, or 0; {
        key.is_some_and(|key| key.has(Selection(selection))).into()
    }
}

entry! {
    fn import(key: Option<&ProviderKey>, selection: c_int, params: Params<'_>) -> c_int, or 0; {
        key.is_some_and(|key| key.import(params, Selection(selection))).into()
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
        let made = key.and_then(|key| key.export(Selection(selection)));
        made.is_some_and(|mut made| made.give(callback, argument)).into()
    }
}

entry! {
    fn types(selection: c_int) -> *const Param, or std::ptr::null(); {
        let selection = Selection(selection);
        if selection.keypair() || selection.domain() { TYPES.as_ptr() } else { std::ptr::null() }
    }
}

entry! {
    fn get_params(key: Option<&ProviderKey>, wanted: Wanted<'_>) -> c_int, or 0; {
        let mut wanted = wanted;
        key.is_some_and(|key| key.describe(&mut wanted)).into()
    }
}

entry! {
    fn gettable_params(_provider: *const c_void) -> *const Param, or std::ptr::null(); { GETTABLE.as_ptr() }
}

entry! {
    fn set_params(key: Option<&ProviderKey>, params: Params<'_>) -> c_int, or 0; {
        let encoded = params.octets(name::ENCODED_PUBLIC);
        key.is_some_and(|key| encoded.is_none_or(|bytes| key.set_encoded_public(bytes).is_ok())).into()
    }
}

entry! {
    fn settable_params(_provider: *const c_void) -> *const Param, or std::ptr::null(); { SETTABLE.as_ptr() }
}

entry! {
    fn ec_operation_name(operation: c_int) -> *const c_char, or std::ptr::null(); {
        match operation {
            operation::SIGNATURE => c"ECDSA".as_ptr(),
            operation::KEYEXCH => c"ECDH".as_ptr(),
            _ => std::ptr::null(),
        }
    }
}

entry! {
    fn gen_init<F: OfFamily>(provider: Option<&Provider>, selection: c_int, params: Params<'_>)
        -> Option<Box<Generation>>, or None;
    {
        let mut generation = Generation::new(provider?.clone(), F::FAMILY, Selection(selection));
        let is_taken = answer_setting(&mut generation, params) == 1;
        is_taken.then(|| Box::new(generation))
    }
}

entry! {
    fn gen_set_template(generation: Option<&mut Generation>, template: Option<&ProviderKey>) -> c_int, or 0; {
        generation.is_some_and(|own| template.is_none_or(|key| own.take_template(key))).into()
    }
}

entry! {
    fn gen_set_params(generation: Option<&mut Generation>, params: Params<'_>) -> c_int, or 0; {
        generation.map_or(0, |generation| answer_setting(generation, params))
    }
}

entry! {
    fn gen_settable_params<F: OfFamily>(_generation: *const c_void, _provider: *const c_void) -> *const Param,
        or std::ptr::null();
    { if F::FAMILY == Family::Rsa { RSA_WISHES.as_ptr() } else { WISHES.as_ptr() } }
}

entry! {
    fn generate_key(generation: Option<&Generation>, _callback: *const c_void, _argument: *mut c_void) -> Given, or None; {
        let generation = generation?;
        match generation.make() {
            Ok(key) => Some(Box::new(key)),
            Err(failure) => {
                generation.provider.core().raise(&failure);
                None
            }
        }
    }
}

entry! {
    fn gen_cleanup(generation: Option<Box<Generation>>) -> (), or (); { drop(generation); }
}

fn answer_setting(generation: &mut Generation, params: Params<'_>) -> c_int {
    let done = generation.set(params);
    answer(&generation.provider, done)
}
