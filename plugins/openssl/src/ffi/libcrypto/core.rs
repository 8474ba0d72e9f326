//! The functions that OpenSSL's core lends to a provider: the error queue, the configuration, streams, and the other
//! providers of the library context.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

use super::abi::{OsslDispatch, OsslParam, UNMODIFIED, core, kind};
use crate::error::ProviderError;

/// The handle of this provider, and the core's functions.
#[derive(Clone, Copy)]
pub(crate) struct CoreHandle {
    handle: *const c_void,
    get_params: Option<GetParams>,
    errors: Option<ErrorFunctions>,
    bio_gets: Option<BioGets>,
    bio_read: Option<BioRead>,
    bio_write: Option<BioWrite>,
    object_create: Option<ObjectCreate>,
    object_add_signature: Option<ObjectCreate>,
    providers: Option<ProviderFunctions>,
    /// A function of the library that loaded this provider. Its address identifies the library.
    pub(crate) some_function: *const c_void,
}

// SAFETY: the core's functions may be called from any thread with this handle: provider-base(7).
unsafe impl Send for CoreHandle {}
// SAFETY: as above.
unsafe impl Sync for CoreHandle {}

/// The functions of the error queue. An array of addresses becomes this structure, so the order of its fields must be
/// that of C.
#[repr(C)]
#[derive(Clone, Copy)]
struct ErrorFunctions {
    new: unsafe extern "C" fn(*const c_void),
    set_debug: unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char),
    vset: unsafe extern "C" fn(*const c_void, c_uint, *const c_char, *mut c_void),
}

/// The functions that reach other providers, in the order of their numbers.
#[repr(C)]
#[derive(Clone, Copy)]
struct ProviderFunctions {
    register_child: unsafe extern "C" fn(
        *const c_void,
        VisitProvider,
        VisitProvider,
        VisitProperties,
        *mut c_void,
    ) -> c_int,
    deregister_child: unsafe extern "C" fn(*const c_void),
    name: unsafe extern "C" fn(*const c_void) -> *const c_char,
    context: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    dispatch: unsafe extern "C" fn(*const c_void) -> *const OsslDispatch,
    up_ref: unsafe extern "C" fn(*const c_void, c_int) -> c_int,
    free: unsafe extern "C" fn(*const c_void, c_int) -> c_int,
}

type VisitProvider = unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int;
type VisitProperties = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int;

type GetParams = unsafe extern "C" fn(*const c_void, *mut OsslParam) -> c_int;
type BioRead = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut usize) -> c_int;
type BioWrite = unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut usize) -> c_int;
/// An object's number and its two names; or a signature's object, its digest's and its key's.
type ObjectCreate = unsafe extern "C" fn(*const c_void, *const c_char, *const c_char, *const c_char) -> c_int;
type BioGets = unsafe extern "C" fn(*mut c_void, *mut c_char, c_int) -> c_int;

/// `OSSL_CORE_BIO`, a stream.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct CoreBio(*mut c_void);

impl CoreHandle {
    /// Reads the arguments of the initialisation function.
    ///
    /// # Safety
    /// `functions` is null or the array of `OSSL_provider_init`, ended by number 0, with functions of the types that
    /// `core_dispatch.h` gives their numbers.
    pub(crate) unsafe fn new(handle: *const c_void, mut functions: *const OsslDispatch) -> Self {
        // The numbers that a provider uses here end at 111. Cores pass larger numbers too, which are ignored.
        let mut found = [std::ptr::null::<()>(); 112];
        // SAFETY: the pointer is not behind the array's end, which number 0 marks.
        while let Some(entry) = unsafe { functions.as_ref() }.filter(|entry| entry.id != 0) {
            if let Some(slot) = usize::try_from(entry.id).ok().and_then(|id| found.get_mut(id)) {
                *slot = entry.function;
            }
            // SAFETY: the entry is not the end of the array.
            functions = unsafe { functions.add(1) };
        }
        let at = |id: c_int| found[id as usize];
        // SAFETY: the types are those of `core_dispatch.h`; null becomes None, and `repr(C)` keeps the order of the
        // fields.
        unsafe {
            let errors = [core::NEW_ERROR, core::SET_ERROR_DEBUG, core::VSET_ERROR].map(at);
            let providers = [
                core::REGISTER_CHILD_CB,
                core::DEREGISTER_CHILD_CB,
                core::PROVIDER_NAME,
                core::PROVIDER_CONTEXT,
                core::PROVIDER_DISPATCH,
                core::PROVIDER_UP_REF,
                core::PROVIDER_FREE,
            ]
            .map(at);
            Self {
                handle,
                get_params: std::mem::transmute::<*const (), Option<GetParams>>(at(core::GET_PARAMS)),
                errors: (!errors.contains(&std::ptr::null()))
                    .then(|| std::mem::transmute::<[*const (); 3], ErrorFunctions>(errors)),
                bio_read: std::mem::transmute::<*const (), Option<BioRead>>(at(core::BIO_READ_EX)),
                bio_write: std::mem::transmute::<*const (), Option<BioWrite>>(at(core::BIO_WRITE_EX)),
                object_create: std::mem::transmute::<*const (), Option<ObjectCreate>>(at(core::OBJ_CREATE)),
                object_add_signature: std::mem::transmute::<*const (), Option<ObjectCreate>>(at(
                    core::OBJ_ADD_SIGID,
                )),
                bio_gets: std::mem::transmute::<*const (), Option<BioGets>>(at(core::BIO_GETS)),
                providers: (!providers.contains(&std::ptr::null()))
                    .then(|| std::mem::transmute::<[*const (); 7], ProviderFunctions>(providers)),
                some_function: at(core::NEW_ERROR).cast(),
            }
        }
    }

    /// Returns a handle without functions.
    #[cfg(test)]
    pub(crate) fn detached() -> Self {
        // SAFETY: null is an empty array.
        unsafe { Self::new(std::ptr::null(), std::ptr::null()) }
    }

    /// Puts an error on the calling thread's error queue. Programs write the queue to logs, so no error quotes bytes of
    /// keys.
    pub(crate) fn raise(&self, failure: &ProviderError) {
        let Some(errors) = self.errors else { return };
        // The text becomes a format string, so its percent signs are doubled.
        let text = failure.to_string().replace('%', "%%").replace('\0', " ");
        let Ok(text) = CString::new(text) else { return };
        // C passes a `va_list` as a pointer on the architectures that Oarlock has engines for. A format without
        // conversions reads nothing from it.
        let mut no_arguments = [0_u64; 8];
        // SAFETY: the core's own functions and handle; texts end with zero and outlive the calls, the format has no
        // conversion.
        unsafe {
            (errors.new)(self.handle);
            (errors.set_debug)(self.handle, c"oarlock".as_ptr(), 0, c"".as_ptr());
            (errors.vset)(self.handle, failure.reason(), text.as_ptr(), no_arguments.as_mut_ptr().cast());
        }
    }

    /// Returns the value of `name` in the provider's section of the configuration.
    pub(crate) fn setting(&self, name: &CStr) -> Option<String> {
        let mut value = std::ptr::null::<c_char>();
        let mut params = [
            OsslParam {
                key: name.as_ptr(),
                kind: kind::UTF8_PTR,
                data: (&raw mut value).cast(),
                size: 0,
                returned: UNMODIFIED,
            },
            OsslParam::END,
        ];
        // SAFETY: the core's own function and handle, and a buffer for a pointer.
        let is_known =
            self.get_params.is_some_and(|get| unsafe { get(self.handle, params.as_mut_ptr()) } == 1);
        // The core reports success for an unknown name and leaves the parameter unmodified: OSSL_PARAM(3).
        if !is_known || params[0].returned == UNMODIFIED {
            return None;
        }
        // SAFETY: the configuration's text ends with zero and lives as long as the provider.
        unsafe { oarlock_ffi::text(value) }.map(str::to_owned)
    }

    /// Reads the next line of a stream with its end of line, or None at the end of the stream. A line longer than 255
    /// bytes comes in parts.
    pub(crate) fn line(&self, bio: CoreBio) -> Option<Vec<u8>> {
        let mut line = [0_u8; 256];
        // SAFETY: the core's own function on the stream that it lent, and a buffer of this size.
        let len = self
            .bio_gets
            .map(|gets| unsafe { gets(bio.0, line.as_mut_ptr().cast(), line.len() as c_int) })?;
        // 0 is the end, -1 an error, -2 a stream without lines: BIO_gets(3).
        let len = usize::try_from(len).ok().filter(|len| *len > 0)?;
        Some(line[..len].to_vec())
    }

    /// Reads the rest of a stream, or None if it is longer than `max` bytes.
    pub(crate) fn rest(&self, bio: CoreBio, max: usize) -> Option<Vec<u8>> {
        let (mut all, mut part) = (Vec::new(), [0_u8; 1024]);
        loop {
            let mut len = 0;
            // SAFETY: the core's own function on the stream that it lent, and a buffer of this size.
            let status = self
                .bio_read
                .map(|read| unsafe { read(bio.0, part.as_mut_ptr().cast(), part.len(), &mut len) })?;
            // BIO_read_ex(3) reports the end and errors alike. DER that an error has cut does not parse.
            if status != 1 || len == 0 {
                return Some(all);
            }
            all.extend_from_slice(part.get(..len)?);
            if all.len() > max {
                return None;
            }
        }
    }

    /// Writes bytes to a stream. False if it does not take all of them.
    pub(crate) fn write(&self, bio: CoreBio, bytes: &[u8]) -> bool {
        let mut len = 0;
        // SAFETY: the core's own function on the stream that it lent, and bytes that live as long as the call.
        let status =
            self.bio_write.map(|write| unsafe { write(bio.0, bytes.as_ptr().cast(), bytes.len(), &mut len) });
        status == Some(1) && len == bytes.len()
    }

    /// Gives an object identifier its names, unless the library knows it. False if the library cannot.
    pub(crate) fn name_object(&self, oid: &CStr, short: &CStr, long: &CStr) -> bool {
        // SAFETY: the core's own function and handle, and texts that end with zero, which it copies.
        self.object_create.is_some_and(|create| unsafe {
            create(self.handle, oid.as_ptr(), short.as_ptr(), long.as_ptr()) == 1
        })
    }

    /// States that signatures of an object identifier are those of keys that have the same one, and name no digest.
    /// False if the library cannot.
    pub(crate) fn name_signature(&self, oid: &CStr) -> bool {
        // SAFETY: as above.
        self.object_add_signature
            .is_some_and(|add| unsafe { add(self.handle, oid.as_ptr(), c"".as_ptr(), oid.as_ptr()) == 1 })
    }

    /// Returns the active providers of the library context except this one, in the order of their activation.
    pub(crate) fn other_providers(&self) -> Vec<ProviderReference> {
        let Some(functions) = self.providers else { return Vec::new() };
        let mut visit = ProviderVisit { core: *self, functions, found: Vec::new() };
        let argument = (&raw mut visit).cast();
        // The registration calls back for each provider, and nothing here wants to hear of later ones.
        // SAFETY: the core's own functions and handle; the argument lives until the registration has ended.
        unsafe {
            if (functions.register_child)(self.handle, visit_provider, ignore_provider, ignore_text, argument)
                == 1
            {
                (functions.deregister_child)(self.handle);
            }
        }
        visit.found
    }
}

/// Another provider of the library context. It is not freed while this reference exists.
pub(crate) struct ProviderReference {
    functions: ProviderFunctions,
    handle: *const c_void,
}

// SAFETY: as for `CoreHandle`.
unsafe impl Send for ProviderReference {}
// SAFETY: as above.
unsafe impl Sync for ProviderReference {}

impl ProviderReference {
    /// Returns the name under which the configuration loads the provider.
    pub(crate) fn name(&self) -> Option<&str> {
        // SAFETY: the core's own function, on a provider that this reference keeps; the name lives as long.
        unsafe { oarlock_ffi::text((self.functions.name)(self.handle)) }
    }

    /// Returns the context that the provider's functions take.
    pub(crate) fn context(&self) -> *mut c_void {
        // SAFETY: the core's own function, on a provider that this reference keeps.
        unsafe { (self.functions.context)(self.handle) }
    }

    /// Returns the provider's functions.
    pub(crate) fn dispatch(&self) -> *const OsslDispatch {
        // SAFETY: as above.
        unsafe { (self.functions.dispatch)(self.handle) }
    }
}

impl Drop for ProviderReference {
    fn drop(&mut self) {
        // SAFETY: the reference that `visit_provider` took, given back once.
        unsafe { (self.functions.free)(self.handle, 0) };
    }
}

/// The argument of [`visit_provider`].
struct ProviderVisit {
    core: CoreHandle,
    functions: ProviderFunctions,
    found: Vec<ProviderReference>,
}

/// Keeps a provider. The core holds a lock meanwhile, so that nothing else may be called here.
unsafe extern "C" fn visit_provider(handle: *const c_void, visit: *mut c_void) -> c_int {
    let kept = oarlock_ffi::guard(|| {
        // SAFETY: the argument of `other_providers`, which waits for this call.
        let Some(visit) = (unsafe { visit.cast::<ProviderVisit>().as_mut() }) else { return };
        // Without activation (0) the call takes no lock.
        // SAFETY: the core's own function, on a provider that it lends.
        if handle != visit.core.handle && unsafe { (visit.functions.up_ref)(handle, 0) } > 0 {
            visit.found.push(ProviderReference { functions: visit.functions, handle });
        }
    });
    c_int::from(kept.is_some())
}

unsafe extern "C" fn ignore_provider(_handle: *const c_void, _visit: *mut c_void) -> c_int {
    1
}

unsafe extern "C" fn ignore_text(_properties: *const c_char, _visit: *mut c_void) -> c_int {
    1
}
