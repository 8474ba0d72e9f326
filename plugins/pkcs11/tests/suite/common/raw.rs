//! The tables of the module as a C program sees them.

use std::ffi::c_void;
use std::ptr::null_mut;

use cryptoki_sys::*;
use libloading::Library;

use super::{SO_PIN, USER_PIN, module};

/// The module, loaded. It is never unloaded.
pub struct RawModule {
    pub table: &'static CK_FUNCTION_LIST_3_2,
    library: &'static Library,
}

/// Calls a function of a table.
#[macro_export]
macro_rules! call {
    ($module:expr, $name:ident $(, $argument:expr)* $(,)?) => {
        // SAFETY: the function of the table, with the arguments that the test chose: pointers to its own memory, null
        // pointers, and lengths that the module must reject.
        unsafe { $module.table.$name.unwrap()($($argument),*) }
    };
}

impl RawModule {
    pub fn load() -> Self {
        // SAFETY: the module of this build, whose initialisers do nothing.
        let library = Box::leak(Box::new(unsafe { Library::new(module()) }.unwrap()));
        let mut module = Self { table: Box::leak(Box::new(empty())), library };
        let interface = module.interface(None).unwrap();
        // SAFETY: the default interface is that of version 3.2, a static of the module.
        module.table = unsafe { &*interface.pFunctionList.cast() };
        module
    }

    /// Returns an interface by its name, which ends with a zero byte.
    pub fn interface(&self, name: Option<&str>) -> Option<CK_INTERFACE> {
        self.find_interface(name, 0)
    }

    /// Returns the default interface if it has all these flags.
    pub fn interface_with(&self, flags: CK_FLAGS) -> Option<CK_INTERFACE> {
        self.find_interface(None, flags)
    }

    fn find_interface(&self, name: Option<&str>, flags: CK_FLAGS) -> Option<CK_INTERFACE> {
        // SAFETY: a function of the module, with its type.
        let get = unsafe { self.library.get::<CK_C_GetInterface>(b"C_GetInterface\0") }.unwrap();
        let mut interface: *mut CK_INTERFACE = null_mut();
        let name = name.map_or(null_mut(), |name| name.as_ptr().cast_mut());
        // SAFETY: a null pointer or text that ends with a zero byte, and a place for the result.
        let result = unsafe { get.unwrap()(name, null_mut(), &mut interface, flags) };
        // SAFETY: a successful call has written the address of a static.
        (result == 0).then(|| unsafe { *interface })
    }

    pub fn initialize(&self) -> CK_RV {
        call!(self, C_Initialize, null_mut())
    }

    pub fn finalize(&self) -> CK_RV {
        call!(self, C_Finalize, null_mut())
    }

    /// Opens a session on a slot.
    pub fn open(&self, slot: CK_SLOT_ID, more_flags: CK_FLAGS) -> CK_SESSION_HANDLE {
        let mut session = 0;
        let flags = CKF_SERIAL_SESSION | CKF_RW_SESSION | more_flags;
        assert_eq!(call!(self, C_OpenSession, slot, flags, null_mut(), None, &mut session), 0);
        session
    }

    /// Opens a read-only session on a slot, as tokens that are never written want it.
    pub fn open_read_only(&self, slot: CK_SLOT_ID) -> CK_SESSION_HANDLE {
        let mut session = 0;
        assert_eq!(call!(self, C_OpenSession, slot, CKF_SERIAL_SESSION, null_mut(), None, &mut session), 0);
        session
    }

    /// Finds the first object with a class and a label.
    pub fn find(&self, session: CK_SESSION_HANDLE, class: CK_ULONG, label: &str) -> Option<CK_OBJECT_HANDLE> {
        let mut class = class;
        let mut template = [
            attribute(0, (&raw mut class).cast(), size_of::<CK_ULONG>()),
            attribute(3, label.as_ptr().cast_mut().cast(), label.len()),
        ];
        assert_eq!(call!(self, C_FindObjectsInit, session, template.as_mut_ptr(), 2), 0);
        let (mut found, mut count) = (0, 0);
        assert_eq!(call!(self, C_FindObjects, session, &mut found, 1, &mut count), 0);
        assert_eq!(call!(self, C_FindObjectsFinal, session), 0);
        (count == 1).then_some(found)
    }

    /// Signs data in one part.
    pub fn sign(
        &self,
        session: CK_SESSION_HANDLE,
        kind: CK_MECHANISM_TYPE,
        key: CK_OBJECT_HANDLE,
        data: &[u8],
    ) -> Result<Vec<u8>, CK_RV> {
        let mut mechanism = plain(kind);
        let result = call!(self, C_SignInit, session, &mut mechanism, key);
        if result != 0 {
            return Err(result);
        }
        let mut signature = vec![0; 512];
        let mut len = signature.len() as CK_ULONG;
        let data_len = data.len() as CK_ULONG;
        let out = signature.as_mut_ptr();
        match call!(self, C_Sign, session, data.as_ptr().cast_mut(), data_len, out, &mut len) {
            0 => {
                signature.truncate(len as usize);
                Ok(signature)
            }
            result => Err(result),
        }
    }

    /// Verifies a signature in one part.
    pub fn verify(
        &self,
        session: CK_SESSION_HANDLE,
        kind: CK_MECHANISM_TYPE,
        key: CK_OBJECT_HANDLE,
        data: &[u8],
        signature: &[u8],
    ) -> CK_RV {
        let mut mechanism = plain(kind);
        let result = call!(self, C_VerifyInit, session, &mut mechanism, key);
        if result != 0 {
            return result;
        }
        let (data, data_len) = (data.as_ptr().cast_mut(), data.len() as CK_ULONG);
        let (signature, signature_len) = (signature.as_ptr().cast_mut(), signature.len() as CK_ULONG);
        call!(self, C_Verify, session, data, data_len, signature, signature_len)
    }
}

/// Makes a mechanism without a parameter.
pub fn plain(kind: CK_MECHANISM_TYPE) -> CK_MECHANISM {
    CK_MECHANISM { mechanism: kind, pParameter: null_mut(), ulParameterLen: 0 }
}

pub fn attribute(kind: CK_ULONG, value: *mut c_void, len: usize) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE { type_: kind, pValue: value, ulValueLen: len as CK_ULONG }
}

/// Initialises the token of slot 0, sets both PINs, and logs the user in.
pub fn logged_in(module: &RawModule) -> CK_SESSION_HANDLE {
    assert_eq!(module.initialize(), CKR_OK);
    let label = b"a token                         ".as_ptr().cast_mut();
    let text = |text: &str| (text.as_ptr().cast_mut(), text.len() as CK_ULONG);
    let ((so_pin, so_len), (pin, len)) = (text(SO_PIN), text(USER_PIN));
    assert_eq!(call!(module, C_InitToken, 0, so_pin, so_len, label), CKR_OK);
    let session = module.open(0, 0);
    assert_eq!(call!(module, C_Login, session, CKU_SO, so_pin, so_len), CKR_OK);
    assert_eq!(call!(module, C_InitPIN, session, pin, len), CKR_OK);
    assert_eq!(call!(module, C_Logout, session), CKR_OK);
    assert_eq!(call!(module, C_Login, session, CKU_USER, pin, len), CKR_OK);
    session
}

fn empty() -> CK_FUNCTION_LIST_3_2 {
    // SAFETY: every field is a version or an optional function, for which zero is a value.
    unsafe { std::mem::zeroed() }
}

// The functions of a module may be called by any thread.
// SAFETY: the table is a static, and the library is shared by reference.
unsafe impl Sync for RawModule {}
