//! A PKCS#11 module, loaded: its tables.

use std::ffi::{CStr, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

use cryptoki_sys::*;
use libloading::Library;

/// A module. It is never unloaded.
pub(crate) struct LoadedModule {
    pub(crate) table: &'static CK_FUNCTION_LIST,
    /// The functions of 3.2, if the module has them.
    pub(crate) table_3_2: Option<&'static CK_FUNCTION_LIST_3_2>,
    /// The functions of "Vendor Oarlock", if the module has them.
    pub(crate) vendor: Option<&'static VendorFunctions>,
}

/// `O_INPUTS` of `oarlock_pkcs11.h`.
#[repr(C)]
pub(crate) struct VendorInputs {
    pub(crate) data: *const CK_BYTE,
    pub(crate) data_len: CK_ULONG,
    pub(crate) count: CK_ULONG,
    pub(crate) len: CK_ULONG,
    pub(crate) stride: CK_ULONG,
    pub(crate) offsets: *const u64,
}

/// `O_OUTPUTS` of `oarlock_pkcs11.h`.
#[repr(C)]
pub(crate) struct VendorOutputs {
    pub(crate) data: *mut CK_BYTE,
    pub(crate) data_len: CK_ULONG,
    pub(crate) stride: CK_ULONG,
    pub(crate) lens: *mut CK_ULONG,
    pub(crate) results: *mut CK_RV,
}

type SignMany = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    *mut CK_MECHANISM,
    CK_OBJECT_HANDLE,
    *const VendorInputs,
    *const VendorOutputs,
) -> CK_RV;
type VerifyMany = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    *mut CK_MECHANISM,
    CK_OBJECT_HANDLE,
    *const VendorInputs,
    *const VendorInputs,
    *mut CK_RV,
) -> CK_RV;
type CipherMany = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    *mut CK_MECHANISM,
    CK_OBJECT_HANDLE,
    *const VendorInputs,
    *const CK_BYTE,
    CK_ULONG,
    *const VendorOutputs,
) -> CK_RV;

/// `O_FUNCTION_LIST` of `oarlock_pkcs11.h`.
#[repr(C)]
#[allow(non_snake_case)]
pub(crate) struct VendorFunctions {
    version: CK_VERSION,
    pub(crate) O_SignMany: Option<SignMany>,
    O_VerifyMany: Option<VerifyMany>,
    pub(crate) O_MacMany: Option<SignMany>,
    pub(crate) O_EncryptMany: Option<CipherMany>,
    O_DecryptMany: Option<CipherMany>,
    pub(crate) O_Descriptor: Option<unsafe extern "C" fn(CK_SESSION_HANDLE, *mut c_int) -> CK_RV>,
}

/// Calls a function of a table and returns its `CK_RV`.
#[macro_export]
macro_rules! call_function {
    ($table:expr, $name:ident $(, $argument:expr)* $(,)?) => {
        // SAFETY: a function of the module's table, whose pointers are valid for the lengths beside them.
        unsafe { $table.$name.unwrap()($($argument),*) }
    };
}

/// Calls a function of a table that must succeed.
#[macro_export]
macro_rules! must {
    ($table:expr, $name:ident $(, $argument:expr)* $(,)?) => {{
        let result = $crate::call_function!($table, $name $(, $argument)*);
        assert!(result == 0, "{}: {result:#x}", stringify!($name));
    }};
}

impl LoadedModule {
    /// Loads and initialises a module.
    pub(crate) fn load(path: &Path) -> Self {
        // SAFETY: the user names the module, and loading it is what this program is for.
        let library = unsafe { Library::new(path) };
        let library = library.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the type of this function in the standard.
        let get = unsafe { library.get::<CK_C_GetFunctionList>(b"C_GetFunctionList\0") }.unwrap();
        let mut list = null_mut();
        // SAFETY: writes the address of a table.
        assert_eq!(unsafe { get.unwrap()(&mut list) }, CKR_OK);
        // SAFETY: a table of the module, which is never unloaded.
        let table = unsafe { &*list };
        // SAFETY: the type of this function in the standard.
        let interfaces = unsafe { library.get::<CK_C_GetInterface>(b"C_GetInterface\0") }.ok();
        let interface = |name: &CStr, version: Option<CK_VERSION>| {
            let mut version = version;
            let version = version.as_mut().map_or(null_mut(), |version| version as *mut CK_VERSION);
            let mut found: *mut CK_INTERFACE = null_mut();
            let name = name.as_ptr().cast_mut().cast();
            // SAFETY: a name that ends with a zero byte, and space for the result.
            let result = unsafe { interfaces.as_ref()?.unwrap()(name, version, &mut found, 0) };
            // SAFETY: a successful call has written the address of an interface.
            (result == CKR_OK).then(|| unsafe { (*found).pFunctionList.cast_const() })
        };
        let table_3_2 = interface(c"PKCS 11", Some(CK_VERSION { major: 3, minor: 2 }));
        let vendor = interface(c"Vendor Oarlock", None);
        // Without the flag, SoftHSM takes no locks.
        let mut arguments = CK_C_INITIALIZE_ARGS { flags: CKF_OS_LOCKING_OK, ..Default::default() };
        must!(table, C_Initialize, (&raw mut arguments).cast());
        Self {
            table,
            // SAFETY: the interface of this name and version has this table.
            table_3_2: table_3_2.map(|list: *const c_void| unsafe { &*list.cast() }),
            // SAFETY: the interface of this name has this table.
            vendor: vendor.map(|list: *const c_void| unsafe { &*list.cast() }),
        }
    }
}

/// Returns a mechanism with an IV, or without a parameter if it is empty.
pub(crate) fn mechanism(kind: CK_MECHANISM_TYPE, iv: &mut [u8]) -> CK_MECHANISM {
    let pointer = if iv.is_empty() { null_mut() } else { iv.as_mut_ptr().cast() };
    CK_MECHANISM { mechanism: kind, pParameter: pointer, ulParameterLen: iv.len() as CK_ULONG }
}

/// Returns inputs of equal length that lie side by side.
pub(crate) fn inputs(data: &[u8], len: usize) -> VendorInputs {
    let (count, len) = ((data.len() / len) as CK_ULONG, len as CK_ULONG);
    VendorInputs {
        data: data.as_ptr(),
        data_len: data.len() as CK_ULONG,
        count,
        len,
        stride: len,
        offsets: null(),
    }
}
