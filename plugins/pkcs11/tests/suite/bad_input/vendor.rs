//! Wrong arguments of the functions for many inputs.

use std::ffi::c_int;
use std::ptr::{null, null_mut};

use cryptoki_sys::*;

use crate::common::objects::{aes_key, with_parameter};
use crate::common::raw::{RawModule, logged_in, plain};
use crate::common::{STORE, isolated};

/// `O_INPUTS`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Inputs {
    data: *const u8,
    data_len: CK_ULONG,
    count: CK_ULONG,
    len: CK_ULONG,
    stride: CK_ULONG,
    offsets: *const u64,
}

/// `O_OUTPUTS`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Outputs {
    data: *mut u8,
    data_len: CK_ULONG,
    stride: CK_ULONG,
    lens: *mut CK_ULONG,
    results: *mut CK_RV,
}

type SignMany = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    *mut CK_MECHANISM,
    CK_OBJECT_HANDLE,
    *const Inputs,
    *const Outputs,
) -> CK_RV;

type CipherMany = unsafe extern "C" fn(
    CK_SESSION_HANDLE,
    *mut CK_MECHANISM,
    CK_OBJECT_HANDLE,
    *const Inputs,
    *const u8,
    CK_ULONG,
    *const Outputs,
) -> CK_RV;

/// `O_FUNCTION_LIST`.
#[repr(C)]
struct VendorTable {
    version: CK_VERSION,
    sign: SignMany,
    verify: unsafe extern "C" fn(
        CK_SESSION_HANDLE,
        *mut CK_MECHANISM,
        CK_OBJECT_HANDLE,
        *const Inputs,
        *const Inputs,
        *mut CK_RV,
    ) -> CK_RV,
    mac: SignMany,
    encrypt: CipherMany,
    decrypt: CipherMany,
    descriptor: unsafe extern "C" fn(CK_SESSION_HANDLE, *mut c_int) -> CK_RV,
}

/// A session with a key, and the functions for many inputs.
struct Vendor {
    table: &'static VendorTable,
    session: CK_SESSION_HANDLE,
    key: CK_OBJECT_HANDLE,
}

/// The number of inputs.
const COUNT: usize = 4;
const SESSION_ERROR: CK_RV = CKR_SESSION_HANDLE_INVALID;

impl Vendor {
    fn new(module: &RawModule) -> Self {
        let session = logged_in(module);
        let interface = module.interface(Some("Vendor Oarlock\0")).unwrap();
        // SAFETY: the interface of this name has this table, a static of the module.
        let table: &VendorTable = unsafe { &*interface.pFunctionList.cast() };
        assert_eq!((table.version.major, table.version.minor), (1, 0));
        let key = aes_key(module, session, &[CKA_ENCRYPT, CKA_DECRYPT, CKA_SIGN, CKA_VERIFY]);
        Self { table, session, key }
    }

    fn encrypt(&self, inputs: *const Inputs, ivs: (*const u8, CK_ULONG), outputs: *const Outputs) -> CK_RV {
        let iv = [3_u8; 16];
        let mut mechanism = with_parameter(CKM_AES_CBC, &iv);
        // SAFETY: memory of the test, null pointers, and lengths that the module must reject.
        unsafe { (self.table.encrypt)(self.session, &mut mechanism, self.key, inputs, ivs.0, ivs.1, outputs) }
    }

    fn mac(&self, inputs: *const Inputs, outputs: *const Outputs) -> CK_RV {
        let mut mechanism = plain(CKM_AES_CMAC);
        // SAFETY: as above.
        unsafe { (self.table.mac)(self.session, &mut mechanism, self.key, inputs, outputs) }
    }
}

#[test]
fn wrong_pointers_and_lengths_are_bad_arguments() {
    isolated(
        "bad_input::vendor::wrong_pointers_and_lengths_are_bad_arguments",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let vendor = Vendor::new(&module);
            let (data, mut out, mut lens, mut results) =
                ([7_u8; 16 * COUNT], [0_u8; 16 * COUNT], [0; COUNT], [MAX; COUNT]);
            let inputs = Inputs {
                data: data.as_ptr(),
                data_len: data.len() as CK_ULONG,
                count: COUNT as CK_ULONG,
                len: 16,
                stride: 16,
                offsets: null(),
            };
            let outputs = Outputs {
                data: out.as_mut_ptr(),
                data_len: out.len() as CK_ULONG,
                stride: 16,
                lens: lens.as_mut_ptr(),
                results: results.as_mut_ptr(),
            };
            let bad = CKR_ARGUMENTS_BAD;
            let no_ivs = (null(), 0);
            for wrong in [
                Inputs { data: null(), ..inputs },
                Inputs { data_len: MAX, ..inputs },
                Inputs { count: MAX, ..inputs },
                Inputs { count: (1 << 24) + 1, ..inputs },
            ] {
                assert_eq!(vendor.encrypt(&wrong, no_ivs, &outputs), bad);
                assert_eq!(vendor.mac(&wrong, &outputs), bad);
            }
            for wrong in [
                Outputs { data: null_mut(), ..outputs },
                Outputs { lens: null_mut(), ..outputs },
                Outputs { results: null_mut(), ..outputs },
                Outputs { data_len: MAX, ..outputs },
            ] {
                assert_eq!(vendor.encrypt(&inputs, no_ivs, &wrong), bad);
                assert_eq!(vendor.mac(&inputs, &wrong), bad);
            }
            assert_eq!(vendor.encrypt(null(), no_ivs, &outputs), bad);
            assert_eq!(vendor.encrypt(&inputs, no_ivs, null()), bad);
            assert_eq!(vendor.encrypt(&inputs, (null(), 16), &outputs), bad);
            assert_eq!(vendor.encrypt(&inputs, (data.as_ptr(), MAX), &outputs), bad);
            for len in [1, 15, 63] {
                let answer = vendor.encrypt(&inputs, (data.as_ptr(), len), &outputs);
                assert!(
                    answer != CKR_OK || results.iter().all(|result| *result != CKR_OK),
                    "{len} bytes of IVs"
                );
            }
            // SAFETY: a null pointer, and a handle that was never given.
            let wrong = unsafe {
                [
                    (vendor.table.descriptor)(vendor.session, null_mut()),
                    (vendor.table.sign)(vendor.session, null_mut(), vendor.key, &inputs, &outputs),
                    (vendor.table.verify)(
                        vendor.session,
                        &mut plain(CKM_AES_CMAC),
                        1,
                        &inputs,
                        &inputs,
                        null_mut(),
                    ),
                ]
            };
            assert_eq!(wrong, [bad; 3]);
            let other = Vendor { session: MAX, ..vendor };
            assert_eq!(other.encrypt(&inputs, no_ivs, &outputs), SESSION_ERROR);
            let other = Vendor { session: vendor.session, key: MAX, ..vendor };
            assert_eq!(other.encrypt(&inputs, no_ivs, &outputs), CKR_KEY_HANDLE_INVALID);
            assert_eq!(vendor.encrypt(&inputs, no_ivs, &outputs), CKR_OK, "the session still works");
            assert_eq!((lens, results), ([16; COUNT], [CKR_OK; COUNT]));
        },
    );
}

const MAX: CK_ULONG = CK_ULONG::MAX;

/// Inputs outside of the buffer and outputs without space fail alone, and nothing is written beside the outputs.
#[test]
fn places_outside_of_the_buffers_fail_alone() {
    isolated(
        "bad_input::vendor::places_outside_of_the_buffers_fail_alone",
        STORE,
        |_| (),
        |_| {
            let module = RawModule::load();
            let vendor = Vendor::new(&module);
            let (data, mut out, mut lens, mut results) =
                ([7_u8; 16 * COUNT], [9_u8; 16 * COUNT + 16], [0; COUNT], [MAX; COUNT]);
            let outputs = Outputs {
                data: out.as_mut_ptr(),
                data_len: 16 * COUNT as CK_ULONG,
                stride: 16,
                lens: lens.as_mut_ptr(),
                results: results.as_mut_ptr(),
            };
            for offsets in [
                [0, 16, 32, 48, u64::MAX],
                [0, 16, 32, 48, 65],
                [0, 16, 32, 48, 40],
                [0, 16, 32, 64, 48],
                [u64::MAX, 0, 16, 32, 48],
            ] {
                let inputs = Inputs {
                    data: data.as_ptr(),
                    data_len: data.len() as CK_ULONG,
                    count: COUNT as CK_ULONG,
                    len: 0,
                    stride: 0,
                    offsets: offsets.as_ptr(),
                };
                results = [MAX; COUNT];
                let answer = vendor.encrypt(&inputs, (null(), 0), &outputs);
                let failed = results.iter().filter(|result| **result != CKR_OK).count();
                assert!(answer != CKR_OK || failed >= 1, "{offsets:?}: {answer:#x} {results:x?}");
                assert!(answer != CKR_OK || failed <= 2, "{offsets:?}: {results:x?}");
                assert_eq!(out[16 * COUNT..], [9; 16], "{offsets:?}");
            }
            let inputs = Inputs {
                data: data.as_ptr(),
                data_len: data.len() as CK_ULONG,
                count: COUNT as CK_ULONG,
                len: 16,
                stride: 16,
                offsets: null(),
            };
            // One byte too few for the last output, and too few for each.
            let short = Outputs { data_len: 16 * COUNT as CK_ULONG - 1, ..outputs };
            assert_eq!(vendor.encrypt(&inputs, (null(), 0), &short), CKR_OK);
            assert_eq!(results, [CKR_OK, CKR_OK, CKR_OK, CKR_BUFFER_TOO_SMALL]);
            assert_eq!(lens, [16; COUNT]);
            for stride in [0, 15] {
                let narrow = Outputs { stride, ..outputs };
                assert_eq!(vendor.encrypt(&inputs, (null(), 0), &narrow), CKR_OK);
                assert_eq!((lens, results), ([16; COUNT], [CKR_BUFFER_TOO_SMALL; COUNT]));
            }
            let far = Outputs { stride: MAX, ..outputs };
            assert_eq!(vendor.encrypt(&inputs, (null(), 0), &far), CKR_OK);
            assert_eq!(results[1..], [CKR_BUFFER_TOO_SMALL; COUNT - 1]);
            let outside = Inputs { stride: MAX / 2, ..inputs };
            let answer = vendor.encrypt(&outside, (null(), 0), &outputs);
            assert!(answer != CKR_OK || results[1..].iter().all(|result| *result != CKR_OK), "{results:x?}");
            assert_eq!(out[16 * COUNT..], [9; 16]);
        },
    );
}
