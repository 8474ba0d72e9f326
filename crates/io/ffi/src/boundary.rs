//! The conversion of C's pointers to slices, and the end of panics. The crate's only unsafe code.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function that C calls. Returns None after a panic, which the panic hook has printed. Unwinding
/// into C is undefined behaviour.
pub fn guard<T>(body: impl FnOnce() -> T) -> Option<T> {
    // Later calls with the same handle see the state that a panic leaves. Handles keep no half-made state.
    catch_unwind(AssertUnwindSafe(body)).ok()
}

/// Returns the bytes that C lends, which are none for a null pointer.
///
/// # Safety
/// If `data` is not null, it points at `len` initialised bytes that nobody writes during `'a`.
#[must_use]
pub unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: not null, with this many initialised bytes during `'a`, as the caller promises.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// Returns the text that C lends, which ends with a zero byte. None for a null pointer or for text that is not UTF-8.
///
/// # Safety
/// If `data` is not null, a zero byte ends it, and nobody writes it during `'a`.
#[must_use]
pub unsafe fn text<'a>(data: *const c_char) -> Option<&'a str> {
    if data.is_null() {
        return None;
    }
    // SAFETY: not null and ended by a zero byte, as the caller promises.
    unsafe { CStr::from_ptr(data) }.to_str().ok()
}

/// Writes `content` to a buffer of C. False, and nothing is written, if the buffer is null or too small. The buffer
/// need not be initialised.
///
/// # Safety
/// If `buffer` is not null, `size` bytes may be written there, and `content` does not overlap them.
#[must_use = "false means that nothing was written"]
pub unsafe fn copy_out(content: &[u8], buffer: *mut u8, size: usize) -> bool {
    if buffer.is_null() || content.len() > size {
        return false;
    }
    // SAFETY: the buffer has this many bytes and does not overlap `content`, as the caller promises.
    unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), buffer, content.len()) };
    true
}

/// True if the program has more rights than the user who started it: set-user-ID, set-group-ID, file capabilities. That
/// user controls the environment, which must not decide what the program reads, writes or connects to.
/// secure_getenv(3).
#[must_use]
pub fn is_privileged() -> bool {
    getauxval(AT_SECURE) != 0
}

/// Returns the value of an environment variable. None if it is not set, is not UTF-8, or the program [is
/// privileged](is_privileged).
#[must_use]
pub fn environment(name: &str) -> Option<String> {
    if is_privileged() { None } else { std::env::var(name).ok() }
}

/// Returns the number of a user. `name` may be a number itself. None if there is no user of this name. getpwnam_r(3).
#[must_use]
pub fn uid_of(name: &str) -> Option<u32> {
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    let name = CString::new(name).ok()?;
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut texts = vec![0; 16 * 1024];
    let mut found = std::ptr::null_mut();
    // SAFETY: a name that ends with zero, and buffers of the sizes that are passed.
    let status = unsafe {
        libc::getpwnam_r(name.as_ptr(), entry.as_mut_ptr(), texts.as_mut_ptr(), texts.len(), &mut found)
    };
    if status != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the call succeeded and has filled the entry.
    Some(unsafe { entry.assume_init() }.pw_uid)
}

/// The number of groups that the first call asks for. The kernel returns the real number if this is too small.
const USUAL_GROUPS: usize = 64;

/// Returns the supplementary groups that the process behind a UNIX socket had when it connected. unix(7),
/// SO_PEERGROUPS.
///
/// # Errors
/// The socket is not a connected UNIX socket, or the kernel is older than Linux 4.13.
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

/// `linux/auxvec.h`: a value other than zero asks for a secure execution.
const AT_SECURE: c_ulong = 23;

// SAFETY: the C library's own function, of this type. It reads what the kernel gave to this process at its start, and
// may be called at any time with any number: getauxval(3).
unsafe extern "C" {
    safe fn getauxval(kind: c_ulong) -> c_ulong;
}

/// Limits the freed memory that the allocator keeps. mallopt(3).
///
/// glibc raises both thresholds by itself, to 32 and 64 MiB, after long buffers have been freed, and [`trim_memory`]
/// does not reach memory at the ends of the heaps of threads. Does nothing if the allocator has no such settings.
pub fn keep_little_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// The size of a buffer that gets its own mapping, which is unmapped with the buffer.
        const MAPPED: libc::c_int = 1 << 20;
        /// The free memory that a heap may keep at its end, in bytes.
        const KEPT: libc::c_int = 2 << 20;
        // SAFETY: both calls take numbers, and the allocator locks what it changes.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        }
    }
}

/// Returns freed memory to the system, which glibc otherwise keeps after a burst.
///
/// True if any memory was returned. False if none was, or if the allocator has no such function. malloc_trim(3).
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
    fn guard_stops_panics() {
        assert_eq!(guard(|| 7), Some(7));
        assert_eq!(guard(|| -> i32 { panic!("a panic that the test wants to see caught") }), None);
    }

    #[test]
    fn null_pointers_give_nothing() {
        // SAFETY: null pointers.
        unsafe {
            assert_eq!(bytes(std::ptr::null(), 5), b"");
            assert_eq!(text(std::ptr::null()), None);
            assert!(!copy_out(b"a", std::ptr::null_mut(), 5));
        }
    }

    #[test]
    fn writes_outputs_whole_or_not_at_all() {
        let mut out = [9; 3];
        // SAFETY: three bytes, as long as the call, and text ended by zero.
        unsafe {
            assert!(!copy_out(b"abcd", out.as_mut_ptr(), 3));
            assert_eq!(out, [9; 3]);
            assert!(copy_out(b"ab", out.as_mut_ptr(), 3));
            assert_eq!(bytes(out.as_ptr(), 2), b"ab");
            assert_eq!(text(c"text".as_ptr()), Some("text"));
            assert_eq!(text(c"\xFF".as_ptr()), None);
        }
        assert_eq!(out, [b'a', b'b', 9]);
    }

    #[test]
    fn tests_run_without_raised_privileges() {
        assert!(!is_privileged());
        assert_eq!(environment("PATH"), std::env::var("PATH").ok());
        assert_eq!(environment("OARLOCK_NO_SUCH_VARIABLE"), None);
    }

    #[test]
    fn returns_the_groups_of_the_process_behind_a_socket() {
        use std::os::fd::AsFd;

        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("Groups:")).unwrap();
        let mut expected: Vec<u32> = line.split_whitespace().map(|group| group.parse().unwrap()).collect();
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut groups = peer_groups(one.as_fd()).unwrap();
        expected.sort_unstable();
        groups.sort_unstable();
        assert_eq!(groups, expected);
        let no_socket = std::fs::File::open("/dev/null").unwrap();
        assert!(peer_groups(no_socket.as_fd()).is_err());
    }

    #[test]
    fn finds_users_by_name_and_by_number() {
        assert_eq!((uid_of("root"), uid_of("0"), uid_of("65534")), (Some(0), Some(0), Some(65534)));
        assert_eq!((uid_of("no such user"), uid_of(""), uid_of("a\0b")), (None, None, None));
    }
}
