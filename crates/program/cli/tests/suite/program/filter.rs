//! Filters of system calls (seccomp) for programs that a test starts.
#![allow(
    dead_code,
    unreachable_pub,
    unsafe_code,
    reason = "the system call is C's, and tests of the OpenSSL provider use this file too, which need only a part of it"
)]

use std::io;
use std::mem::offset_of;
use std::os::unix::process::CommandExt;
use std::process::Command;

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};

/// The maximum time of a program under a filter.
const MAX_SECONDS: u32 = 120;

/// A system call that fails with EPERM under a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ForbiddenCall {
    MemfdCreate,
    RecvMsg,
    SendMsg,
    /// `mmap` of memory that processes share.
    SharedMmap,
}

impl ForbiddenCall {
    fn number(self) -> libc::c_long {
        match self {
            Self::MemfdCreate => libc::SYS_memfd_create,
            Self::RecvMsg => libc::SYS_recvmsg,
            Self::SendMsg => libc::SYS_sendmsg,
            Self::SharedMmap => libc::SYS_mmap,
        }
    }

    /// Returns the program of the filter, for classic BPF.
    fn program(self) -> Vec<sock_filter> {
        let load = |offset: usize| statement(BPF_LD | BPF_W | BPF_ABS, offset as u32);
        let mut program = vec![load(offset_of!(libc::seccomp_data, nr))];
        let number = self.number() as u32;
        match self {
            Self::SharedMmap => {
                program.push(jump(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3));
                // The low half of the fourth argument: the flags.
                let low = if cfg!(target_endian = "little") { 0 } else { 4 };
                program.push(load(offset_of!(libc::seccomp_data, args) + 3 * 8 + low));
                program.push(jump(BPF_JMP | BPF_JSET | BPF_K, libc::MAP_SHARED as u32, 0, 1));
            }
            _ => program.push(jump(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1)),
        }
        program.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
        program.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
        program
    }
}

fn statement(code: u32, value: u32) -> sock_filter {
    jump(code, value, 0, 0)
}

fn jump(code: u32, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter { code: code as u16, jt: if_true, jf: if_false, k: value }
}

/// Lets a program start under a filter that forbids this call. A signal ends it if it hangs.
pub(crate) fn forbid(command: &mut Command, call: ForbiddenCall) {
    let mut program = call.program();
    // SAFETY: the closure runs in the child between fork and exec. It makes three system calls and allocates nothing.
    unsafe { command.pre_exec(move || set_filter(&mut program)) };
}

/// Prints SKIPPED and returns false if this system takes no filters.
pub(crate) fn are_filters_possible() -> bool {
    let mut command = Command::new("true");
    forbid(&mut command, ForbiddenCall::MemfdCreate);
    match command.status() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("SKIPPED: this system takes no filter of system calls: {error}");
            false
        }
    }
}

fn set_filter(program: &mut [sock_filter]) -> io::Result<()> {
    // SAFETY: alarm takes a number. It outlives exec.
    unsafe { libc::alarm(MAX_SECONDS) };
    let filter = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // Without this only root may set a filter.
    // SAFETY: this option of prctl takes numbers only.
    let has_no_new_rights = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the filter points to the instructions, and the system copies both before the call returns.
    let is_set =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter, 0, 0) };
    if has_no_new_rights == 0 && is_set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
