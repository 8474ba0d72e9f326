//! Rings over ordinary memory, in one thread, in two, and in every order that the memory model allows.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering, fence};
use std::sync::mpsc::channel;

use bytes::buf::UninitSlice;
use bytes::{Buf, BytesMut};

use crate::RingError;
use crate::memory::{Position, RingMemory};
use crate::protocol::{Reader, Writer};

/// Memory of this process, of which every byte is atomic: a race would show as a wrong byte, also under Miri.
#[derive(Debug)]
struct HeapRing {
    positions: [AtomicU64; 3],
    bytes: Box<[AtomicU8]>,
}

impl HeapRing {
    fn new(capacity: usize) -> Arc<Self> {
        let bytes = (0..capacity).map(|_| AtomicU8::new(0)).collect();
        Arc::new(Self { positions: Default::default(), bytes })
    }

    fn byte(&self, at: u64, index: usize) -> &AtomicU8 {
        &self.bytes[(at as usize + index) & (self.bytes.len() - 1)]
    }

    fn set(&self, position: Position, value: u64) {
        self.positions[position as usize].store(value, Ordering::SeqCst);
    }
}

impl RingMemory for Arc<HeapRing> {
    fn capacity(&self) -> usize {
        self.bytes.len()
    }

    fn load(&self, position: Position, ordering: Ordering) -> u64 {
        self.positions[position as usize].load(ordering)
    }

    fn store(&self, position: Position, value: u64, ordering: Ordering) {
        self.positions[position as usize].store(value, ordering);
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn copy_in(&self, at: u64, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            self.byte(at, index).store(*byte, Ordering::Relaxed);
        }
    }

    fn copy_out(&self, at: u64, bytes: &mut UninitSlice) {
        for index in 0..bytes.len() {
            bytes.write_byte(index, self.byte(at, index).load(Ordering::Relaxed));
        }
    }

    fn wipe(&self, at: u64, len: usize) {
        (0..len).for_each(|index| self.byte(at, index).store(0, Ordering::Relaxed));
    }
}

fn ends(capacity: usize) -> (Arc<HeapRing>, Writer<Arc<HeapRing>>, Reader<Arc<HeapRing>>) {
    let memory = HeapRing::new(capacity);
    (Arc::clone(&memory), Writer::new(Arc::clone(&memory)), Reader::new(memory))
}

/// Returns a frame that differs from its neighbours in length and bytes.
fn frame(number: usize, max: usize) -> Vec<u8> {
    (0..number * 7 % (max + 1)).map(|index| (number * 31 + index) as u8).collect()
}

#[test]
fn frames_of_every_length_come_out_in_their_order_and_leave_nothing_behind() {
    let (memory, mut writer, mut reader) = ends(64);
    let mut buffer = BytesMut::new();
    let mut expected = std::collections::VecDeque::new();
    for number in 0..if cfg!(miri) { 40 } else { 500 } {
        let next = frame(number, writer.max_len());
        while !writer.write(&next).unwrap() {
            let front: Vec<u8> = expected.pop_front().unwrap();
            assert_eq!(reader.read(&mut buffer).unwrap(), Some(front.len()));
            assert_eq!(buffer, front);
            buffer.clear();
        }
        expected.push_back(next);
    }
    for front in expected {
        reader.read(&mut buffer).unwrap().unwrap();
        assert_eq!(buffer, front);
        buffer.clear();
    }
    assert_eq!(reader.read(&mut buffer).unwrap(), None);
    // Only lengths are left, which are less than 64.
    assert!(memory.bytes.iter().all(|byte| byte.load(Ordering::Relaxed) < 64));
    assert!(memory.bytes.iter().skip(1).step_by(8).all(|byte| byte.load(Ordering::Relaxed) == 0));
}

#[test]
fn frames_append_to_what_the_buffer_holds() {
    let (_, mut writer, mut reader) = ends(64);
    assert!(writer.write(b"one").unwrap() && writer.write(b"two").unwrap() && writer.write(b"").unwrap());
    let mut buffer = BytesMut::from(&b"zero "[..]);
    assert_eq!(reader.read(&mut buffer).unwrap(), Some(3));
    assert_eq!(reader.read(&mut buffer).unwrap(), Some(3));
    assert_eq!(reader.read(&mut buffer).unwrap(), Some(0));
    assert_eq!(buffer, &b"zero onetwo"[..]);
}

#[test]
fn a_frame_that_never_fits_is_refused_and_the_longest_one_fits() {
    let (_, mut writer, mut reader) = ends(64);
    let error = writer.write(&[0; 57]).unwrap_err();
    assert!(matches!(error, RingError::TooLong { len: 57, capacity: 64 }), "{error}");
    let mut buffer = BytesMut::new();
    for _ in 0..3 {
        assert!(writer.write(&[7; 56]).unwrap());
        assert!(!writer.write(&[]).unwrap());
        assert_eq!(reader.read(&mut buffer).unwrap(), Some(56));
        assert_eq!(buffer, vec![7; 56]);
        buffer.advance(56);
    }
}

#[test]
fn impossible_positions_and_lengths_are_errors() {
    for found in [65, 72, u64::MAX, 1 << 63, 3] {
        let (memory, _, mut reader) = ends(64);
        memory.set(Position::Written, found);
        let error = reader.read(&mut BytesMut::new()).unwrap_err();
        assert!(matches!(error, RingError::Position { capacity: 64, .. }), "{found}: {error}");
    }
    for read in [8, 1000, u64::MAX] {
        let (memory, mut writer, _) = ends(16);
        assert!(writer.write(&[1; 8]).unwrap());
        memory.set(Position::Read, read.min(1 << 40).wrapping_add(16));
        let error = writer.write(&[1; 8]).unwrap_err();
        assert!(matches!(error, RingError::Position { capacity: 16, .. }), "{read}: {error}");
    }
    for len in [9_u64, 64, 1 << 20, u64::MAX, u64::MAX - 7] {
        let (memory, _, mut reader) = ends(64);
        memory.copy_in(0, &len.to_le_bytes());
        memory.set(Position::Written, 16);
        let mut buffer = BytesMut::new();
        let error = reader.read(&mut buffer).unwrap_err();
        assert!(matches!(error, RingError::Length { available: 16, .. }), "{len}: {error}");
        assert!(buffer.is_empty() && buffer.capacity() == 0, "nothing is allocated for a lie");
    }
}

#[test]
fn a_sleeper_is_told_of_once() {
    let (_, mut writer, mut reader) = ends(16);
    assert!(!writer.take_sleeper(), "nobody sleeps");
    assert!(reader.sleep().unwrap());
    assert!(writer.write(&[1; 8]).unwrap());
    assert!(writer.take_sleeper());
    assert!(!writer.take_sleeper());
    assert!(!reader.sleep().unwrap(), "a frame is there");
    assert_eq!(reader.read(&mut BytesMut::new()).unwrap(), Some(8));
    // Reading has withdrawn the wish to be woken.
    assert!(writer.write(&[1; 8]).unwrap());
    assert!(!writer.take_sleeper());
}

/// Two threads send frames and sleep. A lost wake-up would hang, and a race would show as a wrong byte.
#[test]
fn two_threads_lose_no_frame_and_no_wake_up() {
    let frames = if cfg!(miri) { 20 } else { 20_000 };
    let (_, mut writer, mut reader) = ends(64);
    let (wake_reader, reader_wakes) = channel();
    let max = writer.max_len();
    let sender = std::thread::spawn(move || {
        for number in 0..frames {
            let next = frame(number, max);
            while !writer.write(&next).unwrap() {
                std::thread::yield_now();
            }
            if writer.take_sleeper() {
                wake_reader.send(()).unwrap();
            }
        }
    });
    let mut buffer = BytesMut::new();
    for number in 0..frames {
        while reader.read(&mut buffer).unwrap().is_none() {
            if reader.sleep().unwrap() {
                reader_wakes.recv().unwrap();
            }
        }
        assert_eq!(buffer, frame(number, max), "frame {number}");
        buffer.clear();
    }
    sender.join().unwrap();
}

/// The same in every order of accesses that the memory model allows, by `loom`.
#[cfg(not(miri))]
mod model {
    use loom::sync::Notify;
    use loom::sync::atomic::AtomicU64 as ModelU64;

    use super::*;

    /// Memory in words of eight bytes, so that the model has few steps.
    struct ModelRing {
        positions: [ModelU64; 3],
        words: Vec<ModelU64>,
    }

    impl ModelRing {
        fn new(words: usize) -> loom::sync::Arc<Self> {
            let zero = || ModelU64::new(0);
            let positions = [zero(), zero(), zero()];
            loom::sync::Arc::new(Self { positions, words: (0..words).map(|_| zero()).collect() })
        }

        fn word(&self, at: u64, index: usize) -> &ModelU64 {
            &self.words[(at as usize / 8 + index) % self.words.len()]
        }
    }

    impl RingMemory for loom::sync::Arc<ModelRing> {
        fn capacity(&self) -> usize {
            self.words.len() * 8
        }

        fn load(&self, position: Position, ordering: Ordering) -> u64 {
            self.positions[position as usize].load(ordering)
        }

        fn store(&self, position: Position, value: u64, ordering: Ordering) {
            self.positions[position as usize].store(value, ordering);
        }

        fn fence(&self) {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }

        fn copy_in(&self, at: u64, bytes: &[u8]) {
            for (index, word) in bytes.chunks(8).enumerate() {
                let word = u64::from_le_bytes(word.try_into().unwrap());
                self.word(at, index).store(word, Ordering::Relaxed);
            }
        }

        fn copy_out(&self, at: u64, bytes: &mut UninitSlice) {
            for index in 0..bytes.len() / 8 {
                let word = self.word(at, index).load(Ordering::Relaxed);
                bytes[index * 8..][..8].copy_from_slice(&word.to_le_bytes());
            }
        }

        fn wipe(&self, at: u64, len: usize) {
            (0..len / 8).for_each(|index| self.word(at, index).store(0, Ordering::Relaxed));
        }
    }

    /// Sends `frames` frames of one word through a ring of `words` words. The reader sleeps when there is none.
    fn exchange(words: usize, frames: u64) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let memory = ModelRing::new(words);
            let frame_came = Arc::new(Notify::new());
            let mut writer = Writer::new(loom::sync::Arc::clone(&memory));
            let mut reader = Reader::new(memory);
            let wake_reader = Arc::clone(&frame_came);
            let sender = loom::thread::spawn(move || {
                for number in 1..=frames {
                    while !writer.write(&number.to_le_bytes()).unwrap() {
                        loom::thread::yield_now();
                    }
                    if writer.take_sleeper() {
                        wake_reader.notify();
                    }
                }
            });
            let mut buffer = BytesMut::new();
            for number in 1..=frames {
                while reader.read(&mut buffer).unwrap().is_none() {
                    if reader.sleep().unwrap() {
                        frame_came.wait();
                    }
                }
                assert_eq!(buffer, &number.to_le_bytes()[..]);
                buffer.clear();
            }
            sender.join().unwrap();
        });
    }

    #[test]
    fn every_order_of_accesses_delivers_every_frame() {
        exchange(4, 2);
    }

    #[test]
    fn every_order_of_accesses_finds_space_again() {
        exchange(2, 2);
    }
}
