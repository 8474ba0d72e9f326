//! Where C's pointers become Rust's slices, and where panics end. The crate's only unsafe code.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function that C calls. A panic ends here, as unwinding into C is undefined: it has been printed
/// by the panic hook, and None stands for it.
pub fn guard<T>(body: impl FnOnce() -> T) -> Option<T> {
    // What a panic leaves behind is seen by later calls with the same handle; handles keep no half-made state.
    catch_unwind(AssertUnwindSafe(body)).ok()
}

/// Bytes that C lends; none for a null pointer.
///
/// # Safety
/// Where `data` is not null, `len` bytes are there, initialised, and nobody writes them for as long as `'a`.
#[must_use]
pub unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: not null, and of so many initialised bytes for so long, as the caller promises.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// Text that C lends, ending with a zero byte; None for a null pointer or what is not UTF-8.
///
/// # Safety
/// Where `data` is not null, a zero byte ends it, and nobody writes it for as long as `'a`.
#[must_use]
pub unsafe fn text<'a>(data: *const c_char) -> Option<&'a str> {
    if data.is_null() {
        return None;
    }
    // SAFETY: not null and ended by a zero byte, as the caller promises.
    unsafe { CStr::from_ptr(data) }.to_str().ok()
}

/// Writes `content` where C has `room` bytes, which need not be initialised. False, and nothing written, where it does
/// not fit or there is no place.
///
/// # Safety
/// Where `place` is not null, `room` bytes may be written there, and `content` does not lie among them.
#[must_use = "false means that nothing was written"]
pub unsafe fn copy_out(content: &[u8], place: *mut u8, room: usize) -> bool {
    if place.is_null() || content.len() > room {
        return false;
    }
    // SAFETY: there is room for so many bytes, apart from `content`, as the caller promises.
    unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), place, content.len()) };
    true
}

/// True in a program that runs with more rights than the user who started it: set-user-ID, set-group-ID, file
/// capabilities. Its environment comes from that user and must not decide what it reads, writes or connects to.
/// secure_getenv(3).
#[must_use]
pub fn is_privileged() -> bool {
    getauxval(AT_SECURE) != 0
}

/// The value of an environment variable. None if it is not set, is not UTF-8, or the program [is
/// privileged](is_privileged).
#[must_use]
pub fn environment(name: &str) -> Option<String> {
    if is_privileged() { None } else { std::env::var(name).ok() }
}

/// The number of a user, or of one who is given by number; None if there is no user of this name. getpwnam_r(3).
#[must_use]
pub fn uid_of(name: &str) -> Option<u32> {
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    let name = CString::new(name).ok()?;
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut texts = vec![0; 16 * 1024];
    let mut found = std::ptr::null_mut();
    // SAFETY: a name that ends with zero, and places of the sizes that are stated.
    let status = unsafe {
        libc::getpwnam_r(name.as_ptr(), entry.as_mut_ptr(), texts.as_mut_ptr(), texts.len(), &mut found)
    };
    if status != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the call succeeded and has filled the entry.
    Some(unsafe { entry.assume_init() }.pw_uid)
}

/// The number of groups that are asked for at first. The kernel says how many there are if it is too small.
const USUAL_GROUPS: usize = 64;

/// The supplementary groups that the process behind a UNIX socket had when it connected. unix(7), SO_PEERGROUPS.
///
/// # Errors
/// The socket is no connected UNIX socket, or the kernel is older than Linux 4.13.
pub fn peer_groups(socket: BorrowedFd<'_>) -> io::Result<Vec<u32>> {
    let mut groups: Vec<libc::gid_t> = vec![0; USUAL_GROUPS];
    loop {
        let mut len_bytes = size_of_val(groups.as_slice()) as libc::socklen_t;
        // SAFETY: an open descriptor, and `len_bytes` bytes that may be written and may hold anything.
        let status = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERGROUPS,
                groups.as_mut_ptr().cast(),
                &mut len_bytes,
            )
        };
        let count = len_bytes as usize / size_of::<libc::gid_t>();
        if status == 0 {
            groups.truncate(count);
            return Ok(groups);
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::ERANGE) || count <= groups.len() {
            return Err(error);
        }
        groups.resize(count, 0);
    }
}

/// `linux/auxvec.h`: not zero asks for a secure execution.
const AT_SECURE: c_ulong = 23;

// SAFETY: the C library's own function, of this type. It reads what the kernel gave to this process at its start, and
// may be called at any time with any number: getauxval(3).
unsafe extern "C" {
    safe fn getauxval(kind: c_ulong) -> c_ulong;
}

/// Tells the allocator how much freed memory it may keep. mallopt(3).
///
/// glibc raises both thresholds by itself, to 32 and 64 MiB, once long buffers have been freed, and [`trim_memory`]
/// does not reach what it keeps at the ends of the heaps of threads. Where the allocator has no such settings nothing
/// happens.
pub fn keep_little_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Bytes of a buffer that has a mapping of its own, which ends with it.
        const MAPPED: libc::c_int = 1 << 20;
        /// Bytes that may be free at the end of a heap.
        const KEPT: libc::c_int = 2 << 20;
        // SAFETY: both calls take numbers, and the allocator locks what it changes.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        }
    }
}

/// Has the allocator give freed memory back to the system, which glibc otherwise keeps after a burst.
///
/// True if it gave any back; false where the allocator has no such function. malloc_trim(3).
#[must_use]
pub fn trim_memory() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the function takes a number, may be called by any thread at any time, and locks what it looks at.
        unsafe { libc::malloc_trim(0) == 1 }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_panic_passes() {
        assert_eq!(guard(|| 7), Some(7));
        assert_eq!(guard(|| -> i32 { panic!("a panic that the test wants to see caught") }), None);
    }

    #[test]
    fn null_is_nothing() {
        // SAFETY: null pointers.
        unsafe {
            assert_eq!(bytes(std::ptr::null(), 5), b"");
            assert_eq!(text(std::ptr::null()), None);
            assert!(!copy_out(b"a", std::ptr::null_mut(), 5));
        }
    }

    #[test]
    fn outputs_are_whole_or_absent() {
        let mut place = [9; 3];
        // SAFETY: three bytes, as long as the call, and text ended by zero.
        unsafe {
            assert!(!copy_out(b"abcd", place.as_mut_ptr(), 3));
            assert_eq!(place, [9; 3]);
            assert!(copy_out(b"ab", place.as_mut_ptr(), 3));
            assert_eq!(bytes(place.as_ptr(), 2), b"ab");
            assert_eq!(text(c"text".as_ptr()), Some("text"));
            assert_eq!(text(c"\xFF".as_ptr()), None);
        }
        assert_eq!(place, [b'a', b'b', 9]);
    }

    #[test]
    fn tests_run_without_raised_privileges() {
        assert!(!is_privileged());
        assert_eq!(environment("PATH"), std::env::var("PATH").ok());
        assert_eq!(environment("OARLOCK_NO_SUCH_VARIABLE"), None);
    }

    #[test]
    fn peers_of_unix_sockets_have_the_groups_of_their_process() {
        use std::os::fd::AsFd;

        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        let own = own.lines().find_map(|line| line.strip_prefix("Groups:")).unwrap();
        let mut own: Vec<u32> = own.split_whitespace().map(|group| group.parse().unwrap()).collect();
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut groups = peer_groups(one.as_fd()).unwrap();
        own.sort_unstable();
        groups.sort_unstable();
        assert_eq!(groups, own);
        let no_socket = std::fs::File::open("/dev/null").unwrap();
        assert!(peer_groups(no_socket.as_fd()).is_err());
    }

    #[test]
    fn users_are_known_by_name_and_number() {
        assert_eq!((uid_of("root"), uid_of("0"), uid_of("65534")), (Some(0), Some(0), Some(65534)));
        assert_eq!((uid_of("no such user"), uid_of(""), uid_of("a\0b")), (None, None, None));
    }
}
