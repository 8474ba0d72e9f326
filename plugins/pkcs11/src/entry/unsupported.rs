//! Functions of the tables that this module does not have. Each checks its session, as every function does.

use cryptoki_sys::{CK_ATTRIBUTE, CK_BYTE, CK_MECHANISM, CK_OBJECT_HANDLE, CK_SESSION_HANDLE, CK_ULONG};
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
