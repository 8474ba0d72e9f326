//! Initialisation, information about the library, and the functions for parallel work of old versions.

use std::ffi::c_void;

use cryptoki_sys::{CK_C_INITIALIZE_ARGS, CK_INFO, CK_RV, CK_SESSION_HANDLE, CK_VERSION};
use oarlock::process::count_forks;
use oarlock_cryptoki::ReturnCode;

use super::memory::{CallerMemory, padded};
use super::{answer, functions};
use crate::library;

/// The version of this library.
const LIBRARY_VERSION: CK_VERSION = CK_VERSION { major: 0, minor: 1 };

functions! { memory:
    fn C_Initialize(init_args: *mut c_void) {
        count_forks();
        check_arguments(memory, init_args.cast())?;
        library::initialize()
    }

    fn C_Finalize(reserved: *mut c_void) {
        if !reserved.is_null() {
            return Err(ReturnCode::ArgumentsBad);
        }
        library::finalize()
    }

    fn C_GetInfo(info: *mut CK_INFO) {
        write_info(memory, info, CK_VERSION { major: 3, minor: 2 })
    }

    fn C_GetFunctionStatus(session: CK_SESSION_HANDLE) {
        library::with(|_| Err(ReturnCode::FunctionNotParallel))
    }

    fn C_CancelFunction(session: CK_SESSION_HANDLE) {
        library::with(|_| Err(ReturnCode::FunctionNotParallel))
    }
}

/// `C_GetInfo` of the table of an older version.
///
/// # Safety
/// As of every function of the standard: `info` is null or may be written.
pub(super) unsafe extern "C" fn get_info<const MAJOR: u8, const MINOR: u8>(info: *mut CK_INFO) -> CK_RV {
    answer(|| {
        // SAFETY: the program passes a pointer that may be written during the call, as PKCS#11 demands.
        let memory = unsafe { CallerMemory::trust() };
        write_info(memory, info, CK_VERSION { major: MAJOR, minor: MINOR })
    })
}

fn write_info(
    memory: CallerMemory<'_>,
    info: *mut CK_INFO,
    cryptoki_version: CK_VERSION,
) -> Result<(), ReturnCode> {
    library::with(|_| {
        let about = CK_INFO {
            cryptokiVersion: cryptoki_version,
            manufacturerID: padded("Oarlock"),
            flags: 0,
            libraryDescription: padded("Oarlock PKCS#11"),
            libraryVersion: LIBRARY_VERSION,
        };
        memory.write(info, about)
    })
}

/// Checks the arguments of `C_Initialize`. PKCS#11 3.2 5.4.
fn check_arguments(
    memory: CallerMemory<'_>,
    arguments: *const CK_C_INITIALIZE_ARGS,
) -> Result<(), ReturnCode> {
    if arguments.is_null() {
        return Ok(());
    }
    let arguments = memory.read(arguments)?;
    let mutexes = [
        arguments.CreateMutex.is_some(),
        arguments.DestroyMutex.is_some(),
        arguments.LockMutex.is_some(),
        arguments.UnlockMutex.is_some(),
    ];
    let has_mutexes = mutexes.iter().all(|is_given| *is_given);
    if !arguments.pReserved.is_null() || (!has_mutexes && mutexes.contains(&true)) {
        return Err(ReturnCode::ArgumentsBad);
    }
    // The engines lock with the mutexes of the operating system, and not those that the program offers. GnuTLS and
    // p11-kit offer mutexes without CKF_OS_LOCKING_OK, and set CKF_LIBRARY_CANT_CREATE_OS_THREADS too. Engines have
    // threads from their first batch on, which call nothing of the program.
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ptr::{from_ref, null, null_mut};

    use cryptoki_sys::{CKF_LIBRARY_CANT_CREATE_OS_THREADS, CKF_OS_LOCKING_OK};

    use super::*;

    unsafe extern "C" fn mutex(_: *mut c_void) -> CK_RV {
        0
    }

    unsafe extern "C" fn create_mutex(_: *mut *mut c_void) -> CK_RV {
        0
    }

    #[test]
    fn arguments_of_initialisation_follow_the_standard() {
        let plain = CK_C_INITIALIZE_ARGS {
            CreateMutex: None,
            DestroyMutex: None,
            LockMutex: None,
            UnlockMutex: None,
            flags: 0,
            pReserved: null_mut(),
        };
        let all_set = CK_C_INITIALIZE_ARGS {
            CreateMutex: Some(create_mutex),
            DestroyMutex: Some(mutex),
            LockMutex: Some(mutex),
            UnlockMutex: Some(mutex),
            ..plain
        };
        let byte = 0_u8;
        for (arguments, expected) in [
            (plain, Ok(())),
            (CK_C_INITIALIZE_ARGS { flags: CKF_OS_LOCKING_OK, ..plain }, Ok(())),
            (CK_C_INITIALIZE_ARGS { flags: CKF_OS_LOCKING_OK, ..all_set }, Ok(())),
            (all_set, Ok(())),
            (CK_C_INITIALIZE_ARGS { LockMutex: None, ..all_set }, Err(ReturnCode::ArgumentsBad)),
            (CK_C_INITIALIZE_ARGS { flags: CKF_LIBRARY_CANT_CREATE_OS_THREADS, ..plain }, Ok(())),
            (
                CK_C_INITIALIZE_ARGS { pReserved: from_ref(&byte).cast_mut().cast(), ..plain },
                Err(ReturnCode::ArgumentsBad),
            ),
        ] {
            // SAFETY: a pointer to a structure of this test.
            let memory = unsafe { CallerMemory::trust() };
            assert_eq!(check_arguments(memory, &arguments), expected);
            assert_eq!(check_arguments(memory, null()), Ok(()));
        }
    }
}
