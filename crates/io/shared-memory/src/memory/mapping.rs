//! A memory file, its mapping, and the copies into it and out of it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use bytes::buf::UninitSlice;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::RingError;
use crate::memory::{Position, RingMemory};

/// The bytes before those of the rings: the positions.
pub(crate) const HEADER_BYTES: usize = 4096;

/// The distance of two positions. Each has its own pair of cache lines: processors fetch lines in pairs.
const STRIDE: usize = 128;

/// The positions of one ring.
const POSITIONS: usize = 3;

/// The seals that keep the size of a file.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Creates a file in memory that cannot change its size.
pub(crate) fn create_file(len: usize) -> Result<OwnedFd, RingError> {
    let failed = |what| move |errno: Errno| RingError::System { what, error: errno.into() };
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = match memfd_create(c"oarlock-shared-memory", flags | MemfdFlags::NOEXEC_SEAL) {
        // Kernels before 6.3 do not know the flag.
        Err(Errno::INVAL) => memfd_create(c"oarlock-shared-memory", flags),
        created => created,
    };
    let file = file.map_err(failed("memfd_create"))?;
    ftruncate(&file, len as u64).map_err(failed("ftruncate"))?;
    fcntl_add_seals(&file, SEALS).map_err(failed("fcntl(F_ADD_SEALS)"))?;
    Ok(file)
}

/// Checks that a file has this length for ever.
pub(crate) fn check_sealed(file: BorrowedFd<'_>, len: usize) -> Result<(), RingError> {
    // Any file that is not in memory has no seals, and the call fails.
    let seals = fcntl_get_seals(file).map_err(|_| RingError::Unsealed)?;
    if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
        return Err(RingError::Unsealed);
    }
    let stat = fstat(file).map_err(|errno| RingError::System { what: "fstat", error: errno.into() })?;
    let (found, expected) = (stat.st_size as u64, len as u64);
    if found == expected { Ok(()) } else { Err(RingError::FileLen { found, expected }) }
}

/// A memory file in the address space of this process.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping has no owner among threads. All access goes through `MappedRing`, which copies bytes and uses
// atomic positions.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn new(file: BorrowedFd<'_>, len: usize) -> Result<Self, RingError> {
        let failed = |errno: Errno| RingError::System { what: "mmap", error: errno.into() };
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the address is the system's choice, so no memory that is in use is replaced. The file has `len` bytes
        // and is sealed, so each page of the mapping exists for as long as the mapping.
        let start = unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED, file.as_fd(), 0) };
        let start = NonNull::new(start.map_err(failed)?.cast()).ok_or_else(|| failed(Errno::NOMEM))?;
        Ok(Self { start, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `start` and `len` are those of the call to `mmap`, and no `MappedRing` exists any more: each has a
        // reference to this.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(unmapped.is_ok(), "munmap of an own mapping");
    }
}

/// One ring of a mapping.
#[derive(Debug)]
pub struct MappedRing {
    mapping: Arc<Mapping>,
    /// The index of the ring, which selects its positions.
    index: usize,
    /// The offset of its bytes.
    start: usize,
    capacity: usize,
}

impl MappedRing {
    /// Returns the ring whose bytes lie at `start`.
    pub(crate) fn new(mapping: &Arc<Mapping>, index: usize, start: usize, capacity: usize) -> Self {
        assert!(capacity.is_power_of_two() && start + capacity <= mapping.len && index < 2);
        Self { mapping: Arc::clone(mapping), index, start, capacity }
    }

    fn position(&self, position: Position) -> &AtomicU64 {
        let offset = (self.index * POSITIONS + position as usize) * STRIDE;
        debug_assert!(offset + size_of::<u64>() <= HEADER_BYTES);
        // SAFETY: the header page lies in the mapping, which lives as long as `self`. The offset is a multiple of 128,
        // so it is aligned. Every bit pattern is a valid number, and this process accesses the bytes only atomically.
        unsafe { AtomicU64::from_ptr(self.mapping.start.as_ptr().add(offset).cast()) }
    }

    /// Returns the address of position `at`, and the bytes from there to the end of the ring.
    fn address(&self, at: u64) -> (*mut u8, usize) {
        let offset = at as usize & (self.capacity - 1);
        // SAFETY: `start + capacity` is at most the length of the mapping, and `offset` is below `capacity`.
        let address = unsafe { self.mapping.start.as_ptr().add(self.start + offset) };
        (address, self.capacity - offset)
    }

    /// Returns the address of the first byte.
    fn first(&self) -> *mut u8 {
        self.address(0).0
    }
}

impl RingMemory for MappedRing {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn load(&self, position: Position, ordering: Ordering) -> u64 {
        self.position(position).load(ordering)
    }

    fn store(&self, position: Position, value: u64, ordering: Ordering) {
        self.position(position).store(value, ordering);
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn copy_in(&self, at: u64, bytes: &[u8]) {
        assert!(bytes.len() <= self.capacity);
        let (address, until_end) = self.address(at);
        let (first, second) = bytes.split_at(bytes.len().min(until_end));
        // SAFETY: both destinations lie in the ring: `first` ends at its end at the latest, and `second` is shorter
        // than it. The sources are private memory, so they do not overlap. No reference to the ring's bytes exists. If
        // the other process writes to them at the same time, the copy has arbitrary bytes, which are valid.
        unsafe {
            ptr::copy_nonoverlapping(first.as_ptr(), address, first.len());
            ptr::copy_nonoverlapping(second.as_ptr(), self.first(), second.len());
        }
    }

    fn copy_out(&self, at: u64, bytes: &mut UninitSlice) {
        assert!(bytes.len() <= self.capacity);
        let (address, until_end) = self.address(at);
        let first = bytes.len().min(until_end);
        let second = bytes.len() - first;
        let target = bytes.as_mut_ptr();
        // SAFETY: as in `copy_in`, with the directions exchanged. The two parts together are the whole of `bytes`.
        unsafe {
            ptr::copy_nonoverlapping(address, target, first);
            ptr::copy_nonoverlapping(self.first(), target.add(first), second);
        }
    }
    fn wipe(&self, at: u64, len: usize) {
        assert!(len <= self.capacity);
        let (address, until_end) = self.address(at);
        let first = len.min(until_end);
        // SAFETY: as in `copy_in`. Another thread or process reads the bytes as bytes or not at all, so the writes are
        // not removed: the memory is shared, and `store` of the position with release follows.
        unsafe {
            ptr::write_bytes(address, 0, first);
            ptr::write_bytes(self.first(), 0, len - first);
        }
    }
}
