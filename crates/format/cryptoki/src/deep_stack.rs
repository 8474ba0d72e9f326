//! Threads for computations that take more stack than a caller may have.

use std::thread::{self, Builder};

use crate::constants::ReturnCode;

/// AWS-LC takes up to 160 KiB for ML-DSA-87.
const STACK_BYTES: usize = 1 << 20;

/// Runs `work` on a thread of its own and waits for it. Keys of ML-KEM and ML-DSA are expanded and used so: the caller
/// of PKCS#11 may be a coroutine of OpenSSL, whose stack of 32 KiB ends without a guard page.
///
/// # Errors
/// [`ReturnCode::HostMemory`] if there is no thread, [`ReturnCode::GeneralError`] if `work` panics.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, ReturnCode> {
    thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.map_err(|_| ReturnCode::HostMemory)?.join().map_err(|_| ReturnCode::GeneralError)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_its_own_stack_and_a_panic_is_an_error() {
        let caller = thread::current().id();
        let other = on_deep_stack(|| {
            // As much as the longest computation.
            let used = std::hint::black_box([7_u8; 256 << 10]);
            (thread::current().id(), used.iter().filter(|byte| **byte == 7).count())
        });
        let (thread, used) = other.unwrap();
        assert_ne!(thread, caller);
        assert_eq!(used, 256 << 10);
        let failed: Result<(), _> = on_deep_stack(|| panic!("on purpose"));
        assert_eq!(failed, Err(ReturnCode::GeneralError));
    }
}
