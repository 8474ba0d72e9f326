//! The card: a thread behind a UNIX socket that answers messages, and the host's side of that socket.

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use super::LadderError;
use super::frame::{self, FrameList};
use super::measure::{LadderClock, LadderContender};

/// The work of a card.
pub(super) trait LadderCard: Send {
    /// Adds the results of all operations of a message, side by side.
    ///
    /// # Errors
    /// The message is malformed, or a record was rejected.
    fn answer(&mut self, message: &[u8], results: &mut Vec<u8>) -> Result<(), LadderError>;
}

/// The first byte of an answer: results or a reason follow.
const DONE: u8 = 0;
const FAILED: u8 = 1;

/// The host's side. It sends each message when the last one is answered.
#[derive(Debug)]
pub(super) struct CardHost {
    stream: UnixStream,
    card: Option<JoinHandle<io::Result<()>>>,
    messages: FrameList,
    answer: Vec<u8>,
    results: Vec<u8>,
}

impl CardHost {
    /// Starts a card behind a socket of its own.
    ///
    /// # Errors
    /// A socket or a thread cannot be made.
    pub(super) fn new(messages: FrameList, card: Box<dyn LadderCard>) -> Result<Self, LadderError> {
        let (stream, other) = UnixStream::pair()?;
        let card =
            std::thread::Builder::new().name("ladder-card".into()).spawn(move || serve(other, card))?;
        Ok(Self { stream, card: Some(card), messages, answer: Vec::new(), results: Vec::new() })
    }
}

impl LadderContender for CardHost {
    fn run(&mut self) -> Result<(), LadderError> {
        self.results.clear();
        for message in self.messages.iter() {
            self.stream.write_all(message)?;
            if !frame::read(&mut self.stream, &mut self.answer)? {
                return Err(LadderError::Peer { reason: "it has gone".into() });
            }
            match self.answer.split_first() {
                Some((&DONE, results)) => self.results.extend_from_slice(results),
                Some((_, reason)) => {
                    return Err(LadderError::Peer { reason: String::from_utf8_lossy(reason).into_owned() });
                }
                None => return Err(LadderError::Peer { reason: "an empty answer".into() }),
            }
        }
        Ok(())
    }

    fn results(&self) -> &[u8] {
        &self.results
    }

    fn clock(&self) -> LadderClock {
        LadderClock::Wall
    }
}

/// Ends the card with the host.
impl Drop for CardHost {
    fn drop(&mut self) {
        // If the socket is closed already, the card has ended or is about to end.
        self.stream.shutdown(Shutdown::Both).ok();
        if let Some(card) = self.card.take() {
            card.join().ok();
        }
    }
}

/// Answers messages until the host ends.
fn serve(mut stream: UnixStream, mut card: Box<dyn LadderCard>) -> io::Result<()> {
    let (mut message, mut answers) = (Vec::new(), FrameList::default());
    while frame::read(&mut stream, &mut message)? {
        answers.clear();
        answers.add(|out| {
            let start = out.len();
            out.push(DONE);
            if let Err(error) = card.answer(&message, out) {
                out.truncate(start);
                out.push(FAILED);
                out.extend_from_slice(error.to_string().as_bytes());
            }
        })?;
        answers.iter().try_for_each(|answer| stream.write_all(answer))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with results, or with the reason why there are none.
    struct Echo;

    impl LadderCard for Echo {
        fn answer(&mut self, message: &[u8], results: &mut Vec<u8>) -> Result<(), LadderError> {
            results.extend_from_slice(message);
            if message.is_empty() { Err(LadderError::Message { at: 0 }) } else { Ok(()) }
        }
    }

    fn host(messages: &[&[u8]]) -> CardHost {
        let mut frames = FrameList::default();
        for message in messages {
            frames.add(|out| out.extend_from_slice(message)).unwrap();
        }
        CardHost::new(frames, Box::new(Echo)).unwrap()
    }

    #[test]
    fn results_come_back_in_order_every_time() {
        let long = vec![5; 1 << 20];
        let mut host = host(&[b"first ", b"second ", &long]);
        for _ in 0..3 {
            host.run().unwrap();
            assert_eq!(host.results(), [b"first second ", &long[..]].concat());
        }
    }

    #[test]
    fn a_card_that_fails_says_why() {
        let mut host = host(&[b"good", b""]);
        let error = host.run().unwrap_err().to_string();
        assert!(error.contains("malformed at byte 0"), "{error}");
    }
}
