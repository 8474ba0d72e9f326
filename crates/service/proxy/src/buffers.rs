//! The buffers of the relay. A thread lends them to connections with data in transit, so that an idle connection has
//! none.

use std::cell::RefCell;

/// The length of a buffer in bytes: four full records of TLS, which leave by one system call.
pub(crate) const BUFFER_LEN: usize = 64 << 10;

/// The maximum number of unused buffers that a thread keeps: 4 MiB.
const MAX_UNUSED: usize = 64;

thread_local! {
    static UNUSED: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer that returns to its thread when it is dropped.
#[derive(Debug)]
pub(crate) struct LentBuffer(Box<[u8]>);

impl LentBuffer {
    pub(crate) fn take() -> Self {
        let unused = UNUSED.with_borrow_mut(Vec::pop);
        Self(unused.unwrap_or_else(|| vec![0; BUFFER_LEN].into_boxed_slice()))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for LentBuffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        // Fails if the thread is ending. Then the buffer is freed.
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() < MAX_UNUSED {
                unused.push(buffer);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_and_not_hoarded() {
        let first = LentBuffer::take();
        let address = first.bytes().as_ptr();
        drop(first);
        assert_eq!(LentBuffer::take().bytes().as_ptr(), address);
        let many: Vec<LentBuffer> = (0..MAX_UNUSED + 9).map(|_| LentBuffer::take()).collect();
        drop(many);
        assert_eq!(UNUSED.with_borrow(Vec::len), MAX_UNUSED);
    }
}
