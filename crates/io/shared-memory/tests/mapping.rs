//! Rings in a memory file that two mappings share.

#![allow(clippy::unwrap_used)]

use std::os::fd::AsFd;

use bytes::{BufMut, BytesMut};
use oarlock_shared_memory::{RingError, RingPair, RingSizes, receive_with_file, send_with_file};

const SIZES: RingSizes = RingSizes { requests: 4096, answers: 8192 };

fn pairs(sizes: RingSizes) -> (RingPair, RingPair) {
    let server = RingPair::create(sizes).unwrap();
    let file = server.file().try_clone_to_owned().unwrap();
    (server, RingPair::open(file, sizes).unwrap())
}

#[test]
fn requests_and_answers_cross_from_one_mapping_to_the_other() {
    let (server, client) = pairs(SIZES);
    let (mut requests, mut answer) = server.into_server();
    let (mut request, mut answers) = client.into_client();
    let mut buffer = BytesMut::new();
    for number in 0..2000_usize {
        let sent: Vec<u8> = (0..number % 4000).map(|index| (index + number) as u8).collect();
        assert!(request.write(&sent).unwrap());
        assert_eq!(requests.read(&mut buffer).unwrap(), Some(sent.len()));
        assert_eq!(buffer, sent);
        // Pieces of every size, so that some are gathered and some cross the end of the ring.
        let encoded = answer.encode(sent.len() + 3, |frame| {
            sent.chunks(1 + number % 300).for_each(|piece| frame.put_slice(piece));
            frame.put_u8(1);
        });
        assert!(encoded.unwrap());
        buffer.clear();
        assert_eq!(answers.read(&mut buffer).unwrap(), Some(sent.len() + 3));
        assert_eq!(buffer, [&sent[..], &[1, 0, 0]].concat());
        buffer.clear();
    }
}

#[test]
fn the_memory_of_read_frames_is_zero() {
    let (server, client) = pairs(SIZES);
    let file = server.file().try_clone_to_owned().unwrap();
    let (mut requests, _) = server.into_server();
    let (mut request, _) = client.into_client();
    assert!(request.write(&[0xa5; 4000]).unwrap());
    let mut bytes = vec![0; SIZES.file_len()];
    assert_eq!(rustix::io::pread(&file, &mut bytes, 0).unwrap(), SIZES.file_len());
    assert_eq!(bytes.iter().filter(|byte| **byte == 0xa5).count(), 4000, "in the memory");
    requests.read(&mut BytesMut::new()).unwrap().unwrap();
    rustix::io::pread(&file, &mut bytes, 0).unwrap();
    assert_eq!(bytes.iter().filter(|byte| **byte == 0xa5).count(), 0);
}

#[test]
fn the_memory_file_crosses_a_socket_with_the_first_byte() {
    let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
    let server = RingPair::create(SIZES).unwrap();
    assert_eq!(send_with_file(&here, b"ring", server.file()).unwrap(), 4);
    assert_eq!(rustix::io::write(&here, b"more").unwrap(), 4);
    let mut buffer = [0; 64];
    // The system never joins bytes with a file and later bytes.
    let (len, file) = receive_with_file(&there, &mut buffer).unwrap();
    assert_eq!(&buffer[..len], b"ring");
    let (_, mut answers) = RingPair::open(file.unwrap(), SIZES).unwrap().into_client();
    let (_, mut answer) = server.into_server();
    assert!(answer.write(b"an answer").unwrap());
    let mut received = BytesMut::new();
    assert_eq!(answers.read(&mut received).unwrap(), Some(9));
    let (len, file) = receive_with_file(&there, &mut buffer).unwrap();
    assert_eq!((&buffer[..len], file.is_none()), (&b"more"[..], true));
    drop(here);
    assert_eq!(receive_with_file(&there, &mut buffer).unwrap().0, 0);
}

#[test]
fn sizes_out_of_range_are_refused() {
    for size in [0, 1, 4095, 5000, RingSizes::MAX * 2] {
        for sizes in [RingSizes { requests: size, ..SIZES }, RingSizes { answers: size, ..SIZES }] {
            let error = RingPair::create(sizes).unwrap_err();
            assert!(matches!(error, RingError::Size { found, .. } if found == size as u64), "{error}");
        }
    }
    let fitting = |requests, answers, max| RingSizes::fitting(requests, answers, max);
    assert_eq!(fitting(0, 4097, 1 << 20), RingSizes { requests: 4096, answers: 8192 });
    assert_eq!(fitting(u64::MAX, 1 << 20, 100_000), RingSizes { requests: 65_536, answers: 65_536 });
    assert_eq!(fitting(1, 1, 0), RingSizes { requests: 4096, answers: 4096 });
}

#[test]
fn memory_that_can_change_its_size_is_refused() {
    let file = rustix::fs::memfd_create(c"unsealed", rustix::fs::MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&file, SIZES.file_len() as u64).unwrap();
    assert!(matches!(RingPair::open(file, SIZES), Err(RingError::Unsealed)));
    let disk = tempfile::tempfile().unwrap();
    disk.set_len(SIZES.file_len() as u64).unwrap();
    assert!(matches!(RingPair::open(disk.into(), SIZES), Err(RingError::Unsealed)));
}

#[test]
fn sealed_memory_cannot_be_cut_and_fits_only_its_own_sizes() {
    let server = RingPair::create(SIZES).unwrap();
    for len in [0, 4096, 1 << 20] {
        let error = rustix::fs::ftruncate(server.file(), len).unwrap_err();
        assert_eq!(error, rustix::io::Errno::PERM, "{len}");
    }
    let file = || server.file().as_fd().try_clone_to_owned().unwrap();
    let other = RingSizes { answers: 4096, ..SIZES };
    let error = RingPair::open(file(), other).unwrap_err();
    assert!(matches!(error, RingError::FileLen { found: 16384, expected: 12288 }), "{error}");
    assert!(RingPair::open(file(), SIZES).is_ok());
}

#[test]
#[should_panic(expected = "a frame of a length that was told before")]
fn an_encoder_takes_no_more_than_the_frame() {
    let (_, client) = pairs(SIZES);
    let (mut request, _) = client.into_client();
    let _ = request.encode(3, |frame| frame.put_slice(b"four"));
}
