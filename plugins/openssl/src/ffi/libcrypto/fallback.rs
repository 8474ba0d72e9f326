//! The provider that computes what this one does not offer, which is OpenSSL's default provider if it is active.
//!
//! OpenSSL chooses a provider by the name of an algorithm and its properties. It does not go back if that provider
//! lacks a digest or a padding. So this provider continues with the functions of the other one: those that OpenSSL
//! itself would have called, with the same arguments.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use super::abi::{
    OsslAlgorithm, OsslDispatch, OsslParam, asym_cipher, kdf, keyexch, keymgmt, operation, provider,
    signature,
};
use super::core::{CoreHandle, ProviderReference};
use super::params::{Callback, ParamReader, ParamWriter};

/// Another provider and its functions.
pub(crate) struct FallbackProvider {
    reference: ProviderReference,
    functions: FunctionTable,
}

/// A key of another provider's key manager.
pub(crate) struct FallbackKey {
    provider: Arc<FallbackProvider>,
    functions: FunctionTable,
    data: NonNull<c_void>,
}

/// A key that another provider generates.
pub(crate) struct FallbackGeneration {
    provider: Arc<FallbackProvider>,
    functions: FunctionTable,
    data: NonNull<c_void>,
}

/// An operation of another provider.
pub(crate) struct FallbackContext {
    kind: &'static ContextKind,
    provider: Arc<FallbackProvider>,
    /// The key of its initialisation.
    key: Option<Arc<FallbackKey>>,
    functions: FunctionTable,
    data: NonNull<c_void>,
}

/// A kind of operation: its number, and those of functions that all kinds have.
pub(crate) struct ContextKind {
    operation: c_int,
    free: c_int,
    dup: c_int,
    get_params: c_int,
    set_params: c_int,
}

pub(crate) static SIGNATURE: ContextKind = ContextKind {
    operation: operation::SIGNATURE,
    free: signature::FREECTX,
    dup: signature::DUPCTX,
    get_params: signature::GET_CTX_PARAMS,
    set_params: signature::SET_CTX_PARAMS,
};

pub(crate) static ASYM_CIPHER: ContextKind = ContextKind {
    operation: operation::ASYM_CIPHER,
    free: asym_cipher::FREECTX,
    dup: asym_cipher::DUPCTX,
    get_params: asym_cipher::GET_CTX_PARAMS,
    set_params: asym_cipher::SET_CTX_PARAMS,
};

pub(crate) static KEYEXCH: ContextKind = ContextKind {
    operation: operation::KEYEXCH,
    free: keyexch::FREECTX,
    dup: keyexch::DUPCTX,
    get_params: keyexch::GET_CTX_PARAMS,
    set_params: keyexch::SET_CTX_PARAMS,
};

pub(crate) static KDF: ContextKind = ContextKind {
    operation: operation::KDF,
    free: kdf::FREECTX,
    dup: kdf::DUPCTX,
    get_params: kdf::GET_CTX_PARAMS,
    set_params: kdf::SET_CTX_PARAMS,
};

// SAFETY: OpenSSL lends keys to several threads at once, and moves contexts between threads: provider(7).
unsafe impl Send for FallbackKey {}
// SAFETY: as above.
unsafe impl Sync for FallbackKey {}
// SAFETY: as above.
unsafe impl Send for FallbackContext {}
// SAFETY: as above.
unsafe impl Send for FallbackGeneration {}

/// A table of functions by number, which is valid as long as its provider.
#[derive(Clone, Copy)]
struct FunctionTable(*const OsslDispatch);

// SAFETY: a provider does not change the tables that it has given to the core: provider-base(7).
unsafe impl Send for FunctionTable {}
// SAFETY: as above.
unsafe impl Sync for FunctionTable {}

type Query = unsafe extern "C" fn(*mut c_void, c_int, *mut c_int) -> *const OsslAlgorithm;
type GetCapabilities = unsafe extern "C" fn(*mut c_void, *const c_char, Callback, *mut c_void) -> c_int;
type New = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type NewSignature = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Dup = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type DupKey = unsafe extern "C" fn(*const c_void, c_int) -> *mut c_void;
type Import = unsafe extern "C" fn(*mut c_void, c_int, *const OsslParam) -> c_int;
type Export = unsafe extern "C" fn(*mut c_void, c_int, Callback, *mut c_void) -> c_int;
type Has = unsafe extern "C" fn(*const c_void, c_int) -> c_int;
type Match = unsafe extern "C" fn(*const c_void, *const c_void, c_int) -> c_int;
type Validate = unsafe extern "C" fn(*const c_void, c_int, c_int) -> c_int;
type GetParams = unsafe extern "C" fn(*mut c_void, *mut OsslParam) -> c_int;
type SetParams = unsafe extern "C" fn(*mut c_void, *const OsslParam) -> c_int;
type ListParams = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const OsslParam;
type GenerationInit = unsafe extern "C" fn(*mut c_void, c_int, *const OsslParam) -> *mut c_void;
type Generate = unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void) -> *mut c_void;
type WithKey = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *const OsslParam) -> c_int;
type DigestInit = unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_void, *const OsslParam) -> c_int;
type Conclude = unsafe extern "C" fn(*mut c_void) -> c_int;
type Update = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int;
type Transform = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize, *const u8, usize) -> c_int;
type Finish = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;
type Derive = unsafe extern "C" fn(*mut c_void, *mut u8, usize, *const OsslParam) -> c_int;
type Verify = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int;

impl FunctionTable {
    /// Returns the function of this number, or None if the table lacks it.
    ///
    /// # Safety
    /// `F` is the type that `core_dispatch.h` gives the function.
    unsafe fn get<F: Copy>(self, id: c_int) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*const ()>(), "a pointer to a function") };
        let mut entry = self.0;
        // SAFETY: not behind the end of the table, which number 0 marks.
        while let Some(found) = unsafe { entry.as_ref() }.filter(|entry| entry.id != 0) {
            if found.id == id && !found.function.is_null() {
                // SAFETY: as the caller promises.
                return Some(unsafe { std::mem::transmute_copy::<*const (), F>(&found.function) });
            }
            // SAFETY: `entry` is not the end of the table.
            entry = unsafe { entry.add(1) };
        }
        None
    }
}

impl FallbackProvider {
    /// Finds the default provider, or else the first other provider that manages RSA keys.
    pub(crate) fn find(core: &CoreHandle) -> Option<Self> {
        let mut others = core.other_providers();
        others.sort_by_key(|other| other.name() != Some("default"));
        others
            .into_iter()
            .map(|reference| Self { functions: FunctionTable(reference.dispatch()), reference })
            .find(|provider| provider.algorithm(operation::KEYMGMT, "RSA").is_some())
    }

    /// Returns the functions of the algorithm that has this name.
    fn algorithm(&self, operation: c_int, name: &str) -> Option<FunctionTable> {
        let mut is_changing = 0;
        // SAFETY: the type of this number.
        let query = unsafe { self.functions.get::<Query>(provider::QUERY_OPERATION) }?;
        // SAFETY: the provider's own function and context.
        let mut algorithm = unsafe { query(self.reference.context(), operation, &mut is_changing) };
        // SAFETY: not behind the end of the array, which has no names.
        while let Some(found) = unsafe { algorithm.as_ref() }.filter(|found| !found.names.is_null()) {
            // SAFETY: names end with a zero byte.
            let names = unsafe { oarlock_ffi::text(found.names) };
            if names.is_some_and(|names| names.split(':').any(|known| known.eq_ignore_ascii_case(name))) {
                return Some(FunctionTable(found.functions));
            }
            // SAFETY: `algorithm` is not the end of the array.
            algorithm = unsafe { algorithm.add(1) };
        }
        None
    }

    /// Passes the capabilities of this name to a callback. False if one of its calls fails.
    pub(crate) fn capabilities(&self, name: &CStr, callback: Callback, argument: *mut c_void) -> bool {
        // SAFETY: the type of this number.
        let get = unsafe { self.functions.get::<GetCapabilities>(provider::GET_CAPABILITIES) };
        // SAFETY: the provider's own function and context, and a callback with its argument.
        get.is_none_or(|get| unsafe { get(self.reference.context(), name.as_ptr(), callback, argument) } == 1)
    }

    /// Lists the parameters of new keys, or returns None if no key of this family can be generated.
    pub(crate) fn generation_params(&self, family: &str) -> Option<*const OsslParam> {
        let functions = self.algorithm(operation::KEYMGMT, family)?;
        // SAFETY: the type of this number.
        let list = unsafe { functions.get::<ListParams>(keymgmt::GEN_SETTABLE_PARAMS) }?;
        // OpenSSL asks without a generation, too: EVP_KEYMGMT_gen_settable_params(3).
        // SAFETY: the provider's own function and context.
        Some(unsafe { list(std::ptr::null_mut(), self.reference.context()) })
    }
}

impl FallbackKey {
    /// Imports a key of a family from its numbers.
    pub(crate) fn import(
        provider: &Arc<FallbackProvider>,
        family: &str,
        selection: c_int,
        params: ParamReader<'_>,
    ) -> Option<Self> {
        let functions = provider.algorithm(operation::KEYMGMT, family)?;
        // SAFETY: the types of these numbers.
        let (new, import) =
            unsafe { (functions.get::<New>(keymgmt::NEW)?, functions.get::<Import>(keymgmt::IMPORT)?) };
        // SAFETY: the provider's own function and context.
        let data = NonNull::new(unsafe { new(provider.reference.context()) })?;
        let key = Self { provider: Arc::clone(provider), functions, data };
        // SAFETY: the provider's own function and key, and an array of parameters.
        (unsafe { import(data.as_ptr(), selection, params.as_ptr()) } == 1).then_some(key)
    }

    /// Passes the selected parts to a callback. False if the callback fails.
    pub(crate) fn export(&self, selection: c_int, callback: Option<Callback>, argument: *mut c_void) -> bool {
        // SAFETY: the type of this number.
        let export = unsafe { self.functions.get::<Export>(keymgmt::EXPORT) };
        // SAFETY: the provider's own function and key, and a callback with its argument.
        export.zip(callback).is_some_and(|(export, callback)| unsafe {
            export(self.data.as_ptr(), selection, callback, argument) == 1
        })
    }

    /// Lends the selected parts as numbers. None without them.
    pub(crate) fn with_numbers<T, R>(&self, selection: c_int, read: R) -> Option<T>
    where
        R: FnOnce(ParamReader<'_>) -> T,
    {
        let mut slot = NumberReader { read: Some(read), result: None };
        self.export(selection, Some(read_numbers::<T, R>), (&raw mut slot).cast());
        slot.result
    }

    /// True if the key has all selected parts.
    pub(crate) fn has(&self, selection: c_int) -> bool {
        // SAFETY: the type of this number.
        let has = unsafe { self.functions.get::<Has>(keymgmt::HAS) };
        // SAFETY: the provider's own function and key.
        has.is_some_and(|has| unsafe { has(self.data.as_ptr(), selection) } == 1)
    }

    /// True if the selected parts of both keys are equal.
    pub(crate) fn matches(&self, other: &Self, selection: c_int) -> bool {
        // SAFETY: the type of this number.
        let matches = unsafe { self.functions.get::<Match>(keymgmt::MATCH) };
        // SAFETY: the provider's own function and keys.
        matches.is_some_and(
            |matches| unsafe { matches(self.data.as_ptr(), other.data.as_ptr(), selection) } == 1,
        )
    }

    /// True if the selected parts are valid. `kind` is `OSSL_KEYMGMT_VALIDATE_*`.
    pub(crate) fn is_valid(&self, selection: c_int, kind: c_int) -> bool {
        // SAFETY: the type of this number.
        let validate = unsafe { self.functions.get::<Validate>(keymgmt::VALIDATE) };
        // SAFETY: the provider's own function and key.
        validate.is_some_and(|validate| unsafe { validate(self.data.as_ptr(), selection, kind) } == 1)
    }

    /// Copies the selected parts.
    pub(crate) fn copy_selected(&self, selection: c_int) -> Option<Self> {
        // SAFETY: the type of this number.
        let dup = unsafe { self.functions.get::<DupKey>(keymgmt::DUP) }?;
        // SAFETY: the provider's own function and key.
        let data = NonNull::new(unsafe { dup(self.data.as_ptr(), selection) })?;
        Some(Self { provider: Arc::clone(&self.provider), functions: self.functions, data })
    }

    /// Writes the parameters that are asked for. False if it fails.
    pub(crate) fn describe(&self, wanted: &mut ParamWriter<'_>) -> bool {
        // SAFETY: the type of this number.
        let get = unsafe { self.functions.get::<GetParams>(keymgmt::GET_PARAMS) };
        // SAFETY: the provider's own function and key, and the array of the caller.
        get.is_some_and(|get| unsafe { get(self.data.as_ptr(), wanted.as_mut_ptr()) } == 1)
    }

    /// Sets parameters. False if it fails.
    pub(crate) fn set(&self, params: ParamReader<'_>) -> bool {
        // SAFETY: the type of this number.
        let set = unsafe { self.functions.get::<SetParams>(keymgmt::SET_PARAMS) };
        // A manager without this function has no such parameters, and unknown ones are ignored: OSSL_PARAM(3).
        // SAFETY: the provider's own function and key, and the array of the caller.
        set.is_none_or(|set| unsafe { set(self.data.as_ptr(), params.as_ptr()) } == 1)
    }
}

impl std::fmt::Debug for FallbackKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FallbackKey").finish_non_exhaustive()
    }
}

impl Drop for FallbackKey {
    fn drop(&mut self) {
        // SAFETY: the type of this number.
        if let Some(free) = unsafe { self.functions.get::<Free>(keymgmt::FREE) } {
            // SAFETY: the provider's own function and key, which nothing uses any more.
            unsafe { free(self.data.as_ptr()) };
        }
    }
}

/// The argument of [`read_numbers`].
struct NumberReader<T, R> {
    read: Option<R>,
    result: Option<T>,
}

unsafe extern "C" fn read_numbers<T, R: FnOnce(ParamReader<'_>) -> T>(
    params: *const OsslParam,
    argument: *mut c_void,
) -> c_int {
    let done = oarlock_ffi::guard(|| {
        // SAFETY: the argument of `with_numbers`, which waits for this call.
        let slot = unsafe { argument.cast::<NumberReader<T, R>>().as_mut() }?;
        let read = slot.read.take()?;
        // SAFETY: the parameters of an export, which live as long as this call.
        slot.result = Some(read(unsafe { ParamReader::new(params) }));
        Some(())
    });
    c_int::from(done.flatten().is_some())
}

impl FallbackGeneration {
    /// Begins to generate a key. None if the family or a parameter is refused.
    pub(crate) fn new(
        provider: &Arc<FallbackProvider>,
        family: &str,
        selection: c_int,
        params: ParamReader<'_>,
    ) -> Option<Self> {
        let functions = provider.algorithm(operation::KEYMGMT, family)?;
        // SAFETY: the type of this number.
        let init = unsafe { functions.get::<GenerationInit>(keymgmt::GEN_INIT) }?;
        // SAFETY: the provider's own function and context, and an array of parameters.
        let data = NonNull::new(unsafe { init(provider.reference.context(), selection, params.as_ptr()) })?;
        Some(Self { provider: Arc::clone(provider), functions, data })
    }

    /// Copies the parameters of another key. False if it fails.
    pub(crate) fn take_template(&mut self, key: &FallbackKey) -> bool {
        // SAFETY: the type of this number.
        let take = unsafe { self.functions.get::<WithKey>(keymgmt::GEN_SET_TEMPLATE) };
        // SAFETY: the provider's own function, generation and key.
        take.is_some_and(|take| unsafe { take(self.data.as_ptr(), key.data.as_ptr()) } == 1)
    }

    /// Sets parameters. False if it fails.
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> bool {
        // SAFETY: the type of this number.
        let set = unsafe { self.functions.get::<SetParams>(keymgmt::GEN_SET_PARAMS) };
        // SAFETY: the provider's own function and generation, and the array of the caller.
        set.is_some_and(|set| unsafe { set(self.data.as_ptr(), params.as_ptr()) } == 1)
    }

    /// Generates the key. `report` and `argument` are the callback of OpenSSL for reports of progress.
    pub(crate) fn generate(&mut self, report: *const c_void, argument: *mut c_void) -> Option<FallbackKey> {
        // SAFETY: the type of this number.
        let generate = unsafe { self.functions.get::<Generate>(keymgmt::GEN) }?;
        // SAFETY: the provider's own function and generation, and the callback of the caller.
        let data = NonNull::new(unsafe { generate(self.data.as_ptr(), report, argument) })?;
        Some(FallbackKey { provider: Arc::clone(&self.provider), functions: self.functions, data })
    }
}

impl Drop for FallbackGeneration {
    fn drop(&mut self) {
        // SAFETY: the type of this number.
        if let Some(cleanup) = unsafe { self.functions.get::<Free>(keymgmt::GEN_CLEANUP) } {
            // SAFETY: the provider's own function and generation, which nothing uses any more.
            unsafe { cleanup(self.data.as_ptr()) };
        }
    }
}

impl FallbackContext {
    /// Makes a context for the algorithm that has this name, with a key for its initialisation. `properties` are those
    /// of a signature's digests.
    pub(crate) fn new(
        kind: &'static ContextKind,
        name: &str,
        key: Arc<FallbackKey>,
        properties: Option<&CStr>,
    ) -> Option<Self> {
        let provider = Arc::clone(&key.provider);
        Self::make(kind, name, provider, Some(key), properties)
    }

    /// Makes a context of a kind that takes no key.
    pub(crate) fn without_key(
        kind: &'static ContextKind,
        name: &str,
        provider: &Arc<FallbackProvider>,
    ) -> Option<Self> {
        Self::make(kind, name, Arc::clone(provider), None, None)
    }

    fn make(
        kind: &'static ContextKind,
        name: &str,
        provider: Arc<FallbackProvider>,
        key: Option<Arc<FallbackKey>>,
        properties: Option<&CStr>,
    ) -> Option<Self> {
        // The contexts of all kinds begin with number 1.
        const NEWCTX: c_int = 1;
        let functions = provider.algorithm(kind.operation, name)?;
        let context = provider.reference.context();
        let data = if kind.operation == operation::SIGNATURE {
            let properties = properties.map_or(std::ptr::null(), CStr::as_ptr);
            // SAFETY: the type of this number, and the provider's own context.
            unsafe { functions.get::<NewSignature>(NEWCTX)?(context, properties) }
        } else {
            // SAFETY: as above.
            unsafe { functions.get::<New>(NEWCTX)?(context) }
        };
        Some(Self { kind, provider, key, functions, data: NonNull::new(data)? })
    }

    /// Calls an initialisation that takes a key and parameters.
    pub(crate) fn init(&mut self, id: c_int, params: ParamReader<'_>) -> c_int {
        // SAFETY: the type of this number.
        let init = unsafe { self.functions.get::<Init>(id) };
        // SAFETY: the provider's own function, context and key, and the array of the caller.
        init.map_or(0, |init| unsafe { init(self.data.as_ptr(), self.key_data(), params.as_ptr()) })
    }

    fn key_data(&self) -> *mut c_void {
        self.key.as_ref().map_or(std::ptr::null_mut(), |key| key.data.as_ptr())
    }

    /// Derives a key that fills the output, by the parameters of the context.
    pub(crate) fn derive(&mut self, output: &mut [u8]) -> c_int {
        // SAFETY: the type of this number.
        let derive = unsafe { self.functions.get::<Derive>(kdf::DERIVE) };
        // SAFETY: the provider's own function and context, and a buffer; null is an empty array of parameters.
        derive.map_or(0, |derive| unsafe {
            derive(self.data.as_ptr(), output.as_mut_ptr(), output.len(), std::ptr::null())
        })
    }

    /// Calls an initialisation that takes the name of a digest as well.
    pub(crate) fn digest_init(&mut self, id: c_int, digest: Option<&str>, params: ParamReader<'_>) -> c_int {
        let Ok(digest) = digest.map(CString::new).transpose() else { return 0 };
        let digest = digest.as_deref().map_or(std::ptr::null(), CStr::as_ptr);
        // SAFETY: the type of this number.
        let init = unsafe { self.functions.get::<DigestInit>(id) };
        // SAFETY: the provider's own function, context and key, a name, and the array of the caller.
        init.map_or(0, |init| unsafe { init(self.data.as_ptr(), digest, self.key_data(), params.as_ptr()) })
    }

    /// Calls a function that takes nothing: the verification of a signature that was set as a parameter.
    pub(crate) fn conclude(&mut self, id: c_int) -> c_int {
        // SAFETY: the type of this number.
        let conclude = unsafe { self.functions.get::<Conclude>(id) };
        // SAFETY: the provider's own function and context.
        conclude.map_or(0, |conclude| unsafe { conclude(self.data.as_ptr()) })
    }

    /// Calls a function that takes bytes: the next part of a message, or the signature of the whole.
    pub(crate) fn update(&mut self, id: c_int, data: &[u8]) -> c_int {
        // SAFETY: the type of this number.
        let update = unsafe { self.functions.get::<Update>(id) };
        // SAFETY: the provider's own function and context, and bytes that live as long as the call.
        update.map_or(0, |update| unsafe { update(self.data.as_ptr(), data.as_ptr(), data.len()) })
    }

    /// Calls a function that makes an output of an input.
    ///
    /// # Safety
    /// `address` is null or has space for `size` bytes, and `len` is null or a place for a length.
    pub(crate) unsafe fn transform(
        &mut self,
        id: c_int,
        (address, len, size): (*mut u8, *mut usize, usize),
        input: &[u8],
    ) -> c_int {
        // SAFETY: the type of this number.
        let transform = unsafe { self.functions.get::<Transform>(id) };
        // SAFETY: the provider's own function and context, and the buffers of the caller.
        transform.map_or(0, |transform| unsafe {
            transform(self.data.as_ptr(), address, len, size, input.as_ptr(), input.len())
        })
    }

    /// Calls a function that makes an output of what the context has.
    ///
    /// # Safety
    /// As for [`Self::transform`].
    pub(crate) unsafe fn finish(
        &mut self,
        id: c_int,
        (address, len, size): (*mut u8, *mut usize, usize),
    ) -> c_int {
        // SAFETY: the type of this number.
        let finish = unsafe { self.functions.get::<Finish>(id) };
        // SAFETY: the provider's own function and context, and the buffer of the caller.
        finish.map_or(0, |finish| unsafe { finish(self.data.as_ptr(), address, len, size) })
    }

    /// Signs a whole message.
    ///
    /// # Safety
    /// As for [`Self::transform`].
    pub(crate) unsafe fn digest_sign(
        &mut self,
        output: (*mut u8, *mut usize, usize),
        message: &[u8],
    ) -> c_int {
        // SAFETY: the type of this number.
        if unsafe { self.functions.get::<Transform>(signature::DIGEST_SIGN) }.is_some() {
            // SAFETY: as the caller promises.
            return unsafe { self.transform(signature::DIGEST_SIGN, output, message) };
        }
        // Providers need not have that function: EVP_DigestSign(3). A call for the length alone has no message.
        let is_hashed = output.0.is_null() || self.update(signature::DIGEST_SIGN_UPDATE, message) == 1;
        // SAFETY: as the caller promises.
        if is_hashed { unsafe { self.finish(signature::DIGEST_SIGN_FINAL, output) } } else { 0 }
    }

    /// Verifies the signature of a whole message.
    pub(crate) fn digest_verify(&mut self, signature: &[u8], message: &[u8]) -> c_int {
        // SAFETY: the type of this number.
        if unsafe { self.functions.get::<Verify>(signature::DIGEST_VERIFY) }.is_some() {
            return self.verify(signature::DIGEST_VERIFY, signature, message);
        }
        match self.update(signature::DIGEST_VERIFY_UPDATE, message) {
            1 => self.update(signature::DIGEST_VERIFY_FINAL, signature),
            failed => failed,
        }
    }

    /// Calls a function that verifies a signature.
    pub(crate) fn verify(&mut self, id: c_int, signature: &[u8], input: &[u8]) -> c_int {
        // SAFETY: the type of this number.
        let verify = unsafe { self.functions.get::<Verify>(id) };
        // SAFETY: the provider's own function and context, and bytes that live as long as the call.
        verify.map_or(0, |verify| unsafe {
            verify(self.data.as_ptr(), signature.as_ptr(), signature.len(), input.as_ptr(), input.len())
        })
    }

    /// Sets the peer's public key of an exchange.
    pub(crate) fn set_peer(&mut self, key: &FallbackKey) -> c_int {
        // SAFETY: the type of this number.
        let set = unsafe { self.functions.get::<WithKey>(keyexch::SET_PEER) };
        // SAFETY: the provider's own function, context and key.
        set.map_or(0, |set| unsafe { set(self.data.as_ptr(), key.data.as_ptr()) })
    }

    /// Sets parameters.
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> c_int {
        // SAFETY: the type of this number.
        let set = unsafe { self.functions.get::<SetParams>(self.kind.set_params) };
        // SAFETY: the provider's own function and context, and the array of the caller.
        set.map_or(0, |set| unsafe { set(self.data.as_ptr(), params.as_ptr()) })
    }

    /// Writes the parameters that are asked for.
    pub(crate) fn get(&self, wanted: &mut ParamWriter<'_>) -> c_int {
        // SAFETY: the type of this number.
        let get = unsafe { self.functions.get::<GetParams>(self.kind.get_params) };
        // SAFETY: the provider's own function and context, and the array of the caller.
        get.map_or(0, |get| unsafe { get(self.data.as_ptr(), wanted.as_mut_ptr()) })
    }

    /// Copies the context. None if the other provider cannot.
    pub(crate) fn duplicate(&self) -> Option<Self> {
        // SAFETY: the type of this number.
        let dup = unsafe { self.functions.get::<Dup>(self.kind.dup) }?;
        // SAFETY: the provider's own function and context.
        let data = NonNull::new(unsafe { dup(self.data.as_ptr()) })?;
        let (provider, key) = (Arc::clone(&self.provider), self.key.clone());
        Some(Self { kind: self.kind, provider, key, functions: self.functions, data })
    }
}

impl Drop for FallbackContext {
    fn drop(&mut self) {
        // SAFETY: the type of this number.
        if let Some(free) = unsafe { self.functions.get::<Free>(self.kind.free) } {
            // SAFETY: the provider's own function and context, which nothing uses any more.
            unsafe { free(self.data.as_ptr()) };
        }
    }
}
