//! The memory of the two rings of a connection.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::memory::mapping::{HEADER_BYTES, MappedRing, Mapping, check_sealed, create_file};
use crate::protocol::{Reader, Writer};
use crate::{RingError, RingReader, RingWriter};

/// The sizes of the two rings in bytes, powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSizes {
    /// The bytes of the ring of requests.
    pub requests: usize,
    /// The bytes of the ring of answers.
    pub answers: usize,
}

impl RingSizes {
    /// The minimum size of a ring.
    pub const MIN: usize = 4096;
    /// The maximum size of a ring.
    pub const MAX: usize = 1 << 28;

    /// Returns the sizes that hold at least so many bytes, and no more than `max` in each ring.
    #[must_use]
    pub fn fitting(requests: u64, answers: u64, max: usize) -> Self {
        let max = if max.is_power_of_two() { max } else { max.next_power_of_two() / 2 };
        let max = max.clamp(Self::MIN, Self::MAX);
        let fit = |wanted: u64| {
            let wanted = usize::try_from(wanted).unwrap_or(max).clamp(Self::MIN, max);
            wanted.next_power_of_two()
        };
        Self { requests: fit(requests), answers: fit(answers) }
    }

    /// Returns the bytes of the memory file.
    #[must_use]
    pub fn file_len(self) -> usize {
        HEADER_BYTES + self.requests + self.answers
    }

    fn check(self) -> Result<(), RingError> {
        let (min, max) = (Self::MIN, Self::MAX);
        let is_good = |size: &usize| size.is_power_of_two() && (min..=max).contains(size);
        match [self.requests, self.answers].into_iter().find(|size| !is_good(size)) {
            None => Ok(()),
            Some(found) => Err(RingError::Size { found: found as u64, min, max }),
        }
    }
}

/// The memory of two rings, mapped into this process.
#[derive(Debug)]
pub struct RingPair {
    mapping: Arc<Mapping>,
    sizes: RingSizes,
    file: OwnedFd,
}

impl RingPair {
    /// Creates the memory, which is zero and cannot change its size.
    ///
    /// # Errors
    /// The sizes are out of range, or the system refuses a file in memory or its mapping.
    pub fn create(sizes: RingSizes) -> Result<Self, RingError> {
        sizes.check()?;
        let file = create_file(sizes.file_len())?;
        Self::map(file, sizes)
    }

    /// Maps the memory that another process has created.
    ///
    /// # Errors
    /// The sizes are out of range or do not fit the file, the file is not sealed, or the system refuses the mapping.
    pub fn open(file: OwnedFd, sizes: RingSizes) -> Result<Self, RingError> {
        sizes.check()?;
        // A file that can be cut would end this process by SIGBUS at the next access.
        check_sealed(file.as_fd(), sizes.file_len())?;
        Self::map(file, sizes)
    }

    fn map(file: OwnedFd, sizes: RingSizes) -> Result<Self, RingError> {
        let mapping = Arc::new(Mapping::new(file.as_fd(), sizes.file_len())?);
        Ok(Self { mapping, sizes, file })
    }

    /// Returns the file, to be sent to the other process.
    #[must_use]
    pub fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns the sizes of the rings.
    #[must_use]
    pub fn sizes(&self) -> RingSizes {
        self.sizes
    }

    /// Returns the ends of a client, which writes requests and reads answers.
    #[must_use]
    pub fn into_client(self) -> (RingWriter, RingReader) {
        (Writer::new(self.request_ring()), Reader::new(self.answer_ring()))
    }

    /// Returns the ends of a server, which reads requests and writes answers.
    #[must_use]
    pub fn into_server(self) -> (RingReader, RingWriter) {
        (Reader::new(self.request_ring()), Writer::new(self.answer_ring()))
    }

    fn request_ring(&self) -> MappedRing {
        MappedRing::new(&self.mapping, 0, HEADER_BYTES, self.sizes.requests)
    }

    fn answer_ring(&self) -> MappedRing {
        let start = HEADER_BYTES + self.sizes.requests;
        MappedRing::new(&self.mapping, 1, start, self.sizes.answers)
    }
}
