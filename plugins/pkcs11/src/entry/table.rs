//! The tables of all versions, and the interfaces by which programs find them.

use std::ffi::{CStr, c_void};

use cryptoki_sys::{
    CK_FLAGS, CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_0, CK_FUNCTION_LIST_3_2, CK_INTERFACE, CK_ULONG,
    CK_UTF8CHAR, CK_VERSION, CKF_INTERFACE_FORK_SAFE,
};
use oarlock_cryptoki::ReturnCode;

use super::asynchronous::{C_AsyncComplete, C_AsyncGetID, C_AsyncJoin};
use super::cipher::{
    C_Decrypt, C_DecryptFinal, C_DecryptInit, C_DecryptUpdate, C_Encrypt, C_EncryptFinal, C_EncryptInit,
    C_EncryptUpdate,
};
use super::digest::{
    C_DecryptDigestUpdate, C_DecryptVerifyUpdate, C_Digest, C_DigestEncryptUpdate, C_DigestFinal,
    C_DigestInit, C_DigestKey, C_DigestUpdate, C_SignEncryptUpdate,
};
use super::functions;
use super::general::{C_CancelFunction, C_Finalize, C_GetFunctionStatus, C_GetInfo, C_Initialize, get_info};
use super::key::{
    C_DecapsulateKey, C_DeriveKey, C_EncapsulateKey, C_GenerateKey, C_GenerateKeyPair, C_GenerateRandom,
    C_SeedRandom, C_UnwrapKey, C_WrapKey,
};
use super::many::MANY_FUNCTIONS;
use super::memory::CallerMemory;
use super::message::{
    C_DecryptMessage, C_DecryptMessageBegin, C_DecryptMessageNext, C_EncryptMessage, C_EncryptMessageBegin,
    C_EncryptMessageNext, C_MessageDecryptFinal, C_MessageDecryptInit, C_MessageEncryptFinal,
    C_MessageEncryptInit, C_MessageSignFinal, C_MessageSignInit, C_MessageVerifyFinal, C_MessageVerifyInit,
    C_SignMessage, C_SignMessageBegin, C_SignMessageNext, C_VerifyMessage, C_VerifyMessageBegin,
    C_VerifyMessageNext,
};
use super::object::{
    C_CopyObject, C_CreateObject, C_DestroyObject, C_FindObjects, C_FindObjectsFinal, C_FindObjectsInit,
    C_GetAttributeValue, C_GetObjectSize, C_SetAttributeValue,
};
use super::session::{
    C_CloseAllSessions, C_CloseSession, C_GetOperationState, C_GetSessionInfo, C_GetSessionValidationFlags,
    C_Login, C_LoginUser, C_Logout, C_OpenSession, C_SessionCancel, C_SetOperationState,
};
use super::signature::{
    C_Sign, C_SignFinal, C_SignInit, C_SignUpdate, C_Verify, C_VerifyFinal, C_VerifyInit, C_VerifySignature,
    C_VerifySignatureFinal, C_VerifySignatureInit, C_VerifySignatureUpdate, C_VerifyUpdate,
};
use super::slot::{
    C_GetMechanismInfo, C_GetMechanismList, C_GetSlotInfo, C_GetSlotList, C_GetTokenInfo, C_InitPIN,
    C_InitToken, C_SetPIN, C_WaitForSlotEvent,
};
use super::unsupported::{
    C_SignRecover, C_SignRecoverInit, C_UnwrapKeyAuthenticated, C_VerifyRecover, C_VerifyRecoverInit,
    C_WrapKeyAuthenticated,
};
use crate::library;

/// Makes a table: its version, its `C_GetInfo`, and its functions.
macro_rules! table {
    ($type:ident, $major:literal, $minor:literal, $info:expr; $($name:ident),* $(,)?) => {
        $type {
            version: CK_VERSION { major: $major, minor: $minor },
            C_GetInfo: Some($info),
            C_GetFunctionList: Some(C_GetFunctionList),
            $($name: Some($name),)*
        }
    };
}

/// Calls `table` with the functions of version 2.40 and others.
macro_rules! with_functions_2_40 {
    ($type:ident, $major:literal, $minor:literal, $info:expr; $($more:ident),* $(,)?) => {
        table! {
            $type, $major, $minor, $info;
            C_Initialize, C_Finalize, C_GetSlotList, C_GetSlotInfo, C_GetTokenInfo, C_GetMechanismList,
            C_GetMechanismInfo, C_InitToken, C_InitPIN, C_SetPIN, C_OpenSession, C_CloseSession,
            C_CloseAllSessions, C_GetSessionInfo, C_GetOperationState, C_SetOperationState, C_Login,
            C_Logout, C_CreateObject, C_CopyObject, C_DestroyObject, C_GetObjectSize, C_GetAttributeValue,
            C_SetAttributeValue, C_FindObjectsInit, C_FindObjects, C_FindObjectsFinal, C_EncryptInit,
            C_Encrypt, C_EncryptUpdate, C_EncryptFinal, C_DecryptInit, C_Decrypt, C_DecryptUpdate,
            C_DecryptFinal, C_DigestInit, C_Digest, C_DigestUpdate, C_DigestKey, C_DigestFinal, C_SignInit,
            C_Sign, C_SignUpdate, C_SignFinal, C_SignRecoverInit, C_SignRecover, C_VerifyInit, C_Verify,
            C_VerifyUpdate, C_VerifyFinal, C_VerifyRecoverInit, C_VerifyRecover, C_DigestEncryptUpdate,
            C_DecryptDigestUpdate, C_SignEncryptUpdate, C_DecryptVerifyUpdate, C_GenerateKey,
            C_GenerateKeyPair, C_WrapKey, C_UnwrapKey, C_DeriveKey, C_SeedRandom, C_GenerateRandom,
            C_GetFunctionStatus, C_CancelFunction, C_WaitForSlotEvent,
            $($more),*
        }
    };
}

/// Calls `table` with the functions of version 3.0 and others.
macro_rules! with_functions_3_0 {
    ($type:ident, $major:literal, $minor:literal, $info:expr; $($more:ident),* $(,)?) => {
        with_functions_2_40! {
            $type, $major, $minor, $info;
            C_GetInterfaceList, C_GetInterface,
            C_LoginUser, C_SessionCancel, C_MessageEncryptInit, C_EncryptMessage, C_EncryptMessageBegin,
            C_EncryptMessageNext, C_MessageEncryptFinal, C_MessageDecryptInit, C_DecryptMessage,
            C_DecryptMessageBegin, C_DecryptMessageNext, C_MessageDecryptFinal, C_MessageSignInit,
            C_SignMessage, C_SignMessageBegin, C_SignMessageNext, C_MessageSignFinal, C_MessageVerifyInit,
            C_VerifyMessage, C_VerifyMessageBegin, C_VerifyMessageNext, C_MessageVerifyFinal,
            $($more),*
        }
    };
}

static FUNCTIONS_2_40: CK_FUNCTION_LIST =
    with_functions_2_40! { CK_FUNCTION_LIST, 2, 40, get_info::<2, 40>; };

static FUNCTIONS_3_0: CK_FUNCTION_LIST_3_0 =
    with_functions_3_0! { CK_FUNCTION_LIST_3_0, 3, 0, get_info::<3, 0>; };

static FUNCTIONS_3_2: CK_FUNCTION_LIST_3_2 = with_functions_3_0! {
    CK_FUNCTION_LIST_3_2, 3, 2, C_GetInfo;
    C_EncapsulateKey, C_DecapsulateKey, C_VerifySignatureInit, C_VerifySignature, C_VerifySignatureUpdate,
    C_VerifySignatureFinal, C_GetSessionValidationFlags, C_AsyncComplete, C_AsyncGetID, C_AsyncJoin,
    C_WrapKeyAuthenticated, C_UnwrapKeyAuthenticated,
};

/// The name of the interfaces of the standard.
const STANDARD: &CStr = c"PKCS 11";

/// The name of the interface for many operations in one call.
const VENDOR: &CStr = c"Vendor Oarlock";

/// The interfaces, the default first.
struct InterfaceList([CK_INTERFACE; 4]);

// SAFETY: the pointers lead to statics, which nobody writes.
unsafe impl Sync for InterfaceList {}

/// Makes an interface of a table.
const fn interface<T>(name: &'static CStr, functions: &'static T, flags: CK_FLAGS) -> CK_INTERFACE {
    CK_INTERFACE {
        pInterfaceName: name.as_ptr().cast_mut().cast(),
        pFunctionList: std::ptr::from_ref(functions).cast_mut().cast(),
        flags,
    }
}

const fn interfaces(flags: CK_FLAGS) -> InterfaceList {
    InterfaceList([
        interface(STANDARD, &FUNCTIONS_3_2, flags),
        interface(STANDARD, &FUNCTIONS_3_0, flags),
        interface(STANDARD, &FUNCTIONS_2_40, flags),
        interface(VENDOR, &MANY_FUNCTIONS, flags),
    ])
}

/// The interfaces if each process has its own copy of all state after a fork, and if not.
static FORK_SAFE: InterfaceList = interfaces(CKF_INTERFACE_FORK_SAFE);
static PLAIN: InterfaceList = interfaces(0);

/// The versions of the interfaces, in the same order.
const VERSIONS: [CK_VERSION; 4] = [
    CK_VERSION { major: 3, minor: 2 },
    CK_VERSION { major: 3, minor: 0 },
    CK_VERSION { major: 2, minor: 40 },
    CK_VERSION { major: 1, minor: 0 },
];

functions! { memory:
    fn C_GetFunctionList(list: *mut *mut CK_FUNCTION_LIST) {
        memory.write(list, std::ptr::from_ref(&FUNCTIONS_2_40).cast_mut())
    }

    fn C_GetInterfaceList(list: *mut CK_INTERFACE, count: *mut CK_ULONG) {
        memory.write_list(&own_interfaces().0, list, count)
    }

    fn C_GetInterface(
        name: *mut CK_UTF8CHAR,
        version: *mut CK_VERSION,
        interface: *mut *mut CK_INTERFACE,
        flags: CK_FLAGS,
    ) {
        let version = if version.is_null() { None } else { Some(memory.read(version)?) };
        let found = find_interface(memory, name, version, flags)?;
        memory.write(interface, std::ptr::from_ref(found).cast_mut())
    }
}

fn own_interfaces() -> &'static InterfaceList {
    if library::is_fork_safe() { &FORK_SAFE } else { &PLAIN }
}

/// Finds the first interface that has a name, a version and all flags. A null name is that of the default.
fn find_interface(
    memory: CallerMemory<'_>,
    name: *const CK_UTF8CHAR,
    version: Option<CK_VERSION>,
    flags: CK_FLAGS,
) -> Result<&'static CK_INTERFACE, ReturnCode> {
    let mut interfaces = own_interfaces().0.iter().zip(VERSIONS);
    let found = interfaces.find(|(interface, offered)| {
        let own_name =
            if std::ptr::eq(interface.pFunctionList, vendor_functions()) { VENDOR } else { STANDARD };
        (name.is_null() || is_name(memory, name, own_name))
            && version.is_none_or(|version| (version.major, version.minor) == (offered.major, offered.minor))
            && interface.flags & flags == flags
    });
    found.map(|(interface, _)| interface).ok_or(ReturnCode::FunctionFailed)
}

fn vendor_functions() -> *const c_void {
    std::ptr::from_ref(&MANY_FUNCTIONS).cast()
}

/// True if a text of the caller, which ends with a zero byte, is a name.
fn is_name(memory: CallerMemory<'_>, text: *const CK_UTF8CHAR, name: &CStr) -> bool {
    // Ends at the first difference, so that nothing behind the text's end is read.
    name.to_bytes_with_nul()
        .iter()
        .enumerate()
        .all(|(index, byte)| memory.read(text.wrapping_add(index)) == Ok(*byte))
}

#[cfg(test)]
mod tests {
    use std::ptr::null;

    use super::*;

    fn find(name: Option<&CStr>, version: Option<(u8, u8)>) -> Option<(u8, u8)> {
        // SAFETY: texts that end with zero bytes.
        let memory = unsafe { CallerMemory::trust() };
        let name = name.map_or(null(), |name| name.as_ptr().cast());
        let version = version.map(|(major, minor)| CK_VERSION { major, minor });
        let found = find_interface(memory, name, version, 0).ok()?;
        // SAFETY: every table begins with its version.
        let version = unsafe { found.pFunctionList.cast::<CK_VERSION>().read() };
        Some((version.major, version.minor))
    }

    #[test]
    fn interfaces_are_found_by_name_and_version() {
        assert_eq!(find(None, None), Some((3, 2)));
        assert_eq!(find(Some(c"PKCS 11"), None), Some((3, 2)));
        for version in [(3, 2), (3, 0), (2, 40)] {
            assert_eq!(find(Some(c"PKCS 11"), Some(version)), Some(version));
        }
        assert_eq!(find(Some(c"Vendor Oarlock"), None), Some((1, 0)));
        assert_eq!(find(Some(c"Vendor Oarlock"), Some((2, 0))), None);
        assert_eq!(find(Some(c"PKCS 1"), None), None);
        assert_eq!(find(Some(c"PKCS 11 "), None), None);
        assert_eq!(find(Some(c"PKCS 11"), Some((3, 1))), None);
    }

    #[test]
    fn no_function_of_a_table_is_missing() {
        // A table is its version, padded to a pointer, and pointers.
        fn pointers<T>(table: &'static T) -> usize {
            let words = size_of::<T>() / size_of::<usize>();
            let start = std::ptr::from_ref(table).cast::<usize>();
            // SAFETY: the table has this many words. The first is a version, and the others are pointers.
            (1..words).filter(|word| unsafe { start.add(*word).read() } != 0).count()
        }
        assert_eq!(pointers(&FUNCTIONS_2_40), 68);
        assert_eq!(pointers(&FUNCTIONS_3_0), 92);
        assert_eq!(pointers(&FUNCTIONS_3_2), 104);
    }
}
