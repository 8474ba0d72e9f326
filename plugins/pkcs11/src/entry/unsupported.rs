//! Functions of the tables that this module does not have. Each checks its session, as every function does.

use std::ffi::c_void;

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_BYTE, CK_FLAGS, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG,
};
use oarlock_cryptoki::ReturnCode;

use super::session::session_handle;
use crate::library;

/// Defines functions that are not supported. The first argument of each is a session.
macro_rules! unsupported {
    ($($name:ident($first:ty $(, $rest:ty)* $(,)?);)*) => {$(
        #[allow(non_snake_case)]
        // SAFETY: as of every exported function, see `functions`.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(session: $first $(, _: $rest)*) -> cryptoki_sys::CK_RV {
            crate::entry::answer(|| not_supported(session))
        }
    )*};
}

fn not_supported(session: CK_SESSION_HANDLE) -> Result<(), ReturnCode> {
    library::with(|library| {
        library.cryptoki.session_description(session_handle(session))?;
        Err(ReturnCode::FunctionNotSupported)
    })
}

unsupported! {
    C_SignRecoverInit(CK_SESSION_HANDLE, *mut CK_MECHANISM, CK_OBJECT_HANDLE);
    C_SignRecover(CK_SESSION_HANDLE, *mut CK_BYTE, CK_ULONG, *mut CK_BYTE, *mut CK_ULONG);
    C_VerifyRecoverInit(CK_SESSION_HANDLE, *mut CK_MECHANISM, CK_OBJECT_HANDLE);
    C_VerifyRecover(CK_SESSION_HANDLE, *mut CK_BYTE, CK_ULONG, *mut CK_BYTE, *mut CK_ULONG);
    C_DecryptDigestUpdate(CK_SESSION_HANDLE, *mut CK_BYTE, CK_ULONG, *mut CK_BYTE, *mut CK_ULONG);
    C_DecryptVerifyUpdate(CK_SESSION_HANDLE, *mut CK_BYTE, CK_ULONG, *mut CK_BYTE, *mut CK_ULONG);
    C_MessageEncryptInit(CK_SESSION_HANDLE, *mut CK_MECHANISM, CK_OBJECT_HANDLE);
    C_EncryptMessage(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
    );
    C_EncryptMessageBegin(CK_SESSION_HANDLE, *mut c_void, CK_ULONG, *mut CK_BYTE, CK_ULONG);
    C_EncryptMessageNext(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
        CK_FLAGS,
    );
    C_MessageEncryptFinal(CK_SESSION_HANDLE);
    C_MessageDecryptInit(CK_SESSION_HANDLE, *mut CK_MECHANISM, CK_OBJECT_HANDLE);
    C_DecryptMessage(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
    );
    C_DecryptMessageBegin(CK_SESSION_HANDLE, *mut c_void, CK_ULONG, *mut CK_BYTE, CK_ULONG);
    C_DecryptMessageNext(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
        CK_FLAGS,
    );
    C_MessageDecryptFinal(CK_SESSION_HANDLE);
    C_MessageSignInit(CK_SESSION_HANDLE, *mut CK_MECHANISM, CK_OBJECT_HANDLE);
    C_SignMessage(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
    );
    C_SignMessageBegin(CK_SESSION_HANDLE, *mut c_void, CK_ULONG);
    C_SignMessageNext(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
    );
    C_MessageSignFinal(CK_SESSION_HANDLE);
    C_MessageVerifyInit(CK_SESSION_HANDLE, *mut CK_MECHANISM, CK_OBJECT_HANDLE);
    C_VerifyMessage(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
    );
    C_VerifyMessageBegin(CK_SESSION_HANDLE, *mut c_void, CK_ULONG);
    C_VerifyMessageNext(
        CK_SESSION_HANDLE,
        *mut c_void,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
    );
    C_MessageVerifyFinal(CK_SESSION_HANDLE);
    C_EncapsulateKey(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        *mut CK_ATTRIBUTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
        *mut CK_OBJECT_HANDLE,
    );
    C_DecapsulateKey(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        *mut CK_ATTRIBUTE,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_OBJECT_HANDLE,
    );
    C_WrapKeyAuthenticated(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        CK_OBJECT_HANDLE,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_BYTE,
        *mut CK_ULONG,
    );
    C_UnwrapKeyAuthenticated(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_ATTRIBUTE,
        CK_ULONG,
        *mut CK_BYTE,
        CK_ULONG,
        *mut CK_OBJECT_HANDLE,
    );
}
