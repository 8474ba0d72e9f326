//! Bytes of an MTA: every split gives the same frames, parsed commands survive encoding, and a session answers or
//! closes.
#![no_main]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::fuzz_target;
use oarlock_milter::protocol::{Actions, FilterReply, MilterCommand, MilterDecoder, MilterFrame, Steps};
use oarlock_milter::session::NextStep;
use oarlock_milter::{FilterFactory, FilterWants, MessageFilter, MilterCounters, MilterSession, MtaSocket};

const MOST: u32 = 1 << 16;

/// A filter that asks for everything and accepts all mail.
struct Any;

impl FilterFactory for Any {
    type Filter = Any;

    fn wants(&self) -> FilterWants {
        FilterWants { actions: Actions::ALL, steps: Steps::SKIP | Steps::LEADING_SPACE, macros: Vec::new() }
    }

    fn filter(&self, _: MtaSocket) -> Any {
        Any
    }
}

impl MessageFilter for Any {}

fuzz_target!(|bytes: &[u8]| {
    let [step, bytes @ ..] = bytes else { return };
    let frames = frames(bytes, bytes.len().max(1));
    assert_eq!(frames, self::frames(bytes, usize::from(*step).max(1)));
    for (code, data) in &frames {
        say_again(MilterFrame { code: *code, data });
    }
    converse(&frames);
});

/// Returns the frames before the first invalid one, with `step` bytes at a time.
fn frames(bytes: &[u8], step: usize) -> Vec<(u8, Vec<u8>)> {
    let (mut decoder, mut frames) = (MilterDecoder::new(MOST), Vec::new());
    for piece in bytes.chunks(step) {
        decoder.push(piece);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => frames.push((frame.code, frame.data.to_vec())),
                Ok(None) => break,
                Err(_) => return frames,
            }
        }
    }
    frames
}

fn say_again(frame: MilterFrame<'_>) {
    let mut out = Vec::new();
    if let Ok(command) = MilterCommand::read(frame) {
        command.encode(&mut out).expect("what was read");
        let again = frames(&out, out.len());
        assert_eq!(MilterCommand::read(MilterFrame { code: again[0].0, data: &again[0].1 }), Ok(command));
    }
    out.clear();
    if let Ok(reply) = FilterReply::read(frame) {
        reply.encode(&mut out).expect("what was read");
        let again = frames(&out, out.len().max(1));
        assert_eq!(FilterReply::read(MilterFrame { code: again[0].0, data: &again[0].1 }), Ok(reply));
    }
}

fn converse(received: &[(u8, Vec<u8>)]) {
    let mut session = MilterSession::new(Arc::new(Any), Arc::<MilterCounters>::default(), MtaSocket::Tcp);
    let mut out = Vec::new();
    for (code, data) in received {
        match session.handle(MilterFrame { code: *code, data }, &mut out) {
            Ok(NextStep::Read) => {}
            Ok(NextStep::Conclude) => {
                let verdict = match pin!(session.conclude()).poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(verdict) => verdict,
                    Poll::Pending => unreachable!("this filter does not wait"),
                };
                session.deliver(&verdict, &mut out).expect("nothing to say");
            }
            Ok(NextStep::Close) | Err(_) => break,
        }
    }
    session.lost();
    assert!(session.is_between_messages());
    for (code, data) in frames(&out, out.len().max(1)) {
        FilterReply::read(MilterFrame { code, data: &data }).expect("replies are replies");
    }
}
