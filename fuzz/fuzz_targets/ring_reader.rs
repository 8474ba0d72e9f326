//! The memory of a ring as the server sees it: any bytes, which change between two reads.
#![no_main]

use std::os::unix::fs::FileExt;

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use oarlock_shared_memory::{RingPair, RingSizes};

const SIZES: RingSizes = RingSizes { requests: 4096, answers: 4096 };

/// The bytes of one change: an offset, a length, and the bytes.
const HEAD: usize = 3;

fuzz_target!(|bytes: &[u8]| {
    let server = RingPair::create(SIZES).expect("memory");
    let memory = std::fs::File::from(server.file().try_clone_to_owned().expect("a descriptor"));
    let (mut requests, mut answers) = server.into_server();
    let (mut rest, mut received) = (bytes, BytesMut::new());
    while rest.len() > HEAD {
        let (head, after) = rest.split_at(HEAD);
        let offset = u64::from(u16::from_le_bytes([head[0], head[1]])) % SIZES.file_len() as u64;
        let (change, next) = after.split_at(after.len().min(usize::from(head[2])));
        let change = &change[..change.len().min(SIZES.file_len() - offset as usize)];
        memory.write_all_at(change, offset).expect("sealed memory takes writes");
        rest = next;
        received.clear();
        match requests.read(&mut received) {
            // One pass over the ring at the most for each change, so that a lie cannot keep the reader busy.
            Ok(found) => assert_eq!(found.unwrap_or_default(), received.len()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        let _ = requests.sleep();
        let _ = answers.write(&received[..received.len().min(4000)]);
        let _ = answers.take_sleeper();
        assert!(received.len() <= SIZES.requests);
    }
});
