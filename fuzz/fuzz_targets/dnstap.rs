//! A live dnstap stream: the frames are the same for every split of the bytes. The first byte is the number of bytes
//! that arrive at a time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oarlock_capacity::capture::SkipCounts;
use oarlock_capacity::capture::dnstap::{DnstapFrame, FrameDecoder, decode_frame};

fuzz_target!(|bytes: &[u8]| {
    let Some((&step, stream)) = bytes.split_first() else { return };
    let whole = frames(stream, stream.len().max(1));
    assert_eq!(whole, frames(stream, usize::from(step) + 1));
});

/// Describes every frame, and the error at the end if there is one.
fn frames(stream: &[u8], step: usize) -> Vec<String> {
    let mut frames = FrameDecoder::default();
    let mut seen = Vec::new();
    for part in stream.chunks(step) {
        frames.push(part);
        loop {
            match frames.next_frame() {
                Ok(Some(frame)) => seen.push(told(frame)),
                Ok(None) => break,
                Err(error) => {
                    seen.push(error.to_string());
                    return seen;
                }
            }
        }
    }
    seen
}

fn told(frame: DnstapFrame<'_>) -> String {
    let mut text = format!("{frame:?}");
    if let DnstapFrame::Data(data) = frame {
        decode_frame(data, &mut SkipCounts::default(), &mut |event| text += &format!("{event:?}"));
    }
    text
}
