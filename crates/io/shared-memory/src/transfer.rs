//! The memory file on its way through a UNIX socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::cmsg_space;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recv, recvmsg, sendmsg,
};

/// Sends bytes with a file, as far as the socket takes them. Returns their number, which is not zero: the file goes
/// with the first byte.
///
/// # Errors
/// The socket takes nothing now (`WouldBlock`), or has failed.
pub fn send_with_file(socket: impl AsFd, bytes: &[u8], file: BorrowedFd<'_>) -> io::Result<usize> {
    let files = [file];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    // There is space for one file.
    ancillary.push(SendAncillaryMessage::ScmRights(&files));
    let sent =
        retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL))?;
    if sent == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(sent) }
}

/// Receives bytes, and a file if one comes with them. Returns the number of bytes, zero at the end of the stream.
///
/// If a filter of system calls forbids `recvmsg`, this receives the bytes alone, and the file is lost.
///
/// # Errors
/// There is nothing now (`WouldBlock`), or the socket has failed.
pub fn receive_with_file(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let buffers = &mut [IoSliceMut::new(buffer)];
    let received = match retry_on_intr(|| recvmsg(&socket, buffers, &mut ancillary, RecvFlags::CMSG_CLOEXEC))
    {
        Err(Errno::PERM | Errno::ACCESS | Errno::NOSYS) => {
            let (len, _) = retry_on_intr(|| recv(&socket, &mut *buffer, RecvFlags::empty()))?;
            return Ok((len, None));
        }
        received => received?,
    };
    let file = ancillary.drain().find_map(|message| match message {
        // Files beyond the first are closed when the iterator is dropped.
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    Ok((received.bytes, file))
}
