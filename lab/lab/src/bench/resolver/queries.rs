//! Queries over UDP, many at a time. RFC 1035 section 4.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::Range;
use std::time::{Duration, Instant};

use oarlock_capacity::walk_message;

/// A client of one server.
pub(super) struct QueryClient {
    socket: UdpSocket,
    server: SocketAddr,
    /// The number of queries that wait for an answer at once.
    in_flight: usize,
}

/// The answers that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolverAnswer {
    /// Validated: with the bit AD. RFC 4035 3.2.3.
    Validated,
    /// Not validated: without the bit AD.
    Unvalidated,
}

/// A reason why a server does not serve as it must.
#[derive(Debug)]
pub(super) enum QueryFailure {
    /// The machine's fault.
    Io(io::Error),
    /// No answer came to any of the tries.
    NoAnswer { name: String },
    /// The answer to a query is wrong.
    Answer { name: String, fault: AnswerFault },
}

/// A fault of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerFault {
    /// A response code other than NOERROR.
    Code(u8),
    /// The answer is cut short, or has no records.
    Empty,
    /// The bit AD is missing.
    NotValidated,
    /// The bit AD is set although nothing was to be validated.
    Validated,
}

/// A query that waits for its answer.
struct PendingQuery {
    message: Vec<u8>,
    sent: Instant,
    tries: u32,
}

/// The time after which a query is sent again.
const PATIENCE: Duration = Duration::from_secs(2);
/// The number of times that a query is sent.
const MAX_TRIES: u32 = 5;
/// The time that the socket waits before the client looks for queries that were lost.
const TICK: Duration = Duration::from_millis(100);
/// The longest message that the client takes.
const MAX_MESSAGE: usize = 4096;
/// The number of bytes of a header.
const HEADER: usize = 12;

/// The bit AD in the flags. In a query it asks for the bit in the answer. RFC 6840 5.7.
const AUTHENTIC_DATA: u16 = 0x0020;
const RECURSION_DESIRED: u16 = 0x0100;
const TRUNCATED: u16 = 0x0200;
const RESPONSE: u16 = 0x8000;
const CODE: u16 = 0x000F;

impl QueryClient {
    pub(super) fn new(server: SocketAddr, in_flight: usize) -> Result<Self, QueryFailure> {
        // It is not connected: a server that does not listen yet would fail the socket at once, again and again.
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_read_timeout(Some(TICK))?;
        Ok(Self { socket, server, in_flight })
    }

    /// Asks for the names `n` and a number of a zone, and checks every answer.
    pub(super) fn ask_all(
        &self,
        zone: &str,
        names: Range<u32>,
        expected: ResolverAnswer,
    ) -> Result<(), QueryFailure> {
        let mut names = names;
        let mut pending: HashMap<u16, PendingQuery> = HashMap::new();
        loop {
            while pending.len() < self.in_flight
                && let Some(name) = names.next()
            {
                // Numbers of queries in flight differ, because there are fewer than 65,536.
                let id = name as u16;
                let message = query(id, &format!("n{name}.{zone}"));
                self.send(&message)?;
                pending.insert(id, PendingQuery { message, sent: Instant::now(), tries: 1 });
            }
            if pending.is_empty() {
                return Ok(());
            }
            match self.receive()? {
                Some(answer) => take_answer(&answer, &mut pending, expected)?,
                None => self.send_again(&mut pending)?,
            }
        }
    }

    /// Asks for a name with the bit DO, and returns the number of signatures in the answer. RFC 3225.
    pub(super) fn count_signatures(&self, name: &str) -> Result<u32, QueryFailure> {
        let mut message = query(0, name);
        // One additional record: the root, type OPT, 4096 bytes, bit DO. RFC 6891 6.1.2.
        message[11] = 1;
        message.extend([0, 0, 41, 0x10, 0, 0, 0, 0x80, 0, 0, 0]);
        for _ in 0..MAX_TRIES {
            self.send(&message)?;
            if let Some(answer) = self.receive()? {
                let wrong = |fault| QueryFailure::Answer { name: name.to_owned(), fault };
                check_flags(&answer).map_err(wrong)?;
                let summary = walk_message(&answer, &mut |_| {}).map_err(|_| wrong(AnswerFault::Empty))?;
                return Ok(summary.signatures);
            }
        }
        Err(QueryFailure::NoAnswer { name: name.to_owned() })
    }

    fn send(&self, message: &[u8]) -> Result<(), QueryFailure> {
        self.socket.send_to(message, self.server)?;
        Ok(())
    }

    /// Returns the next message of the server. None if none came within a tick.
    fn receive(&self) -> Result<Option<Vec<u8>>, QueryFailure> {
        let mut buffer = [0; MAX_MESSAGE];
        match self.socket.recv_from(&mut buffer) {
            Ok((len, from)) if from == self.server && len >= HEADER => Ok(Some(buffer[..len].to_vec())),
            Ok(_) => Ok(None),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn send_again(&self, pending: &mut HashMap<u16, PendingQuery>) -> Result<(), QueryFailure> {
        for query in pending.values_mut().filter(|query| query.sent.elapsed() > PATIENCE) {
            if query.tries == MAX_TRIES {
                return Err(QueryFailure::NoAnswer { name: name_of(&query.message) });
            }
            self.send(&query.message)?;
            query.tries += 1;
            query.sent = Instant::now();
        }
        Ok(())
    }
}

/// Removes the query that an answer is for. A second answer to a query that was sent again is ignored.
fn take_answer(
    answer: &[u8],
    pending: &mut HashMap<u16, PendingQuery>,
    expected: ResolverAnswer,
) -> Result<(), QueryFailure> {
    let id = u16_at(answer, 0);
    let is_for =
        |query: &&PendingQuery| answer.get(HEADER..query.message.len()) == query.message.get(HEADER..);
    let Some(query) = pending.get(&id).filter(is_for) else { return Ok(()) };
    let checked = check_flags(answer).and_then(|flags| match (expected, flags & AUTHENTIC_DATA != 0) {
        (ResolverAnswer::Validated, false) => Err(AnswerFault::NotValidated),
        (ResolverAnswer::Unvalidated, true) => Err(AnswerFault::Validated),
        _ => Ok(()),
    });
    checked.map_err(|fault| QueryFailure::Answer { name: name_of(&query.message), fault })?;
    pending.remove(&id);
    Ok(())
}

/// Returns the flags of an answer that has records.
fn check_flags(answer: &[u8]) -> Result<u16, AnswerFault> {
    let flags = u16_at(answer, 2);
    if flags & CODE != 0 {
        return Err(AnswerFault::Code((flags & CODE) as u8));
    }
    if flags & RESPONSE == 0 || flags & TRUNCATED != 0 || u16_at(answer, 6) == 0 {
        return Err(AnswerFault::Empty);
    }
    Ok(flags)
}

/// Returns the query for the address of a name.
fn query(id: u16, name: &str) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER + name.len() + 6);
    message.extend(id.to_be_bytes());
    message.extend((RECURSION_DESIRED | AUTHENTIC_DATA).to_be_bytes());
    message.extend([0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        message.push(label.len() as u8);
        message.extend(label.as_bytes());
    }
    // The root, type A, class IN.
    message.extend([0, 0, 1, 0, 1]);
    message
}

/// Returns the name in a query that [`query`] made.
fn name_of(message: &[u8]) -> String {
    let mut name = String::new();
    let mut rest = message.get(HEADER..).unwrap_or_default();
    while let Some((len, behind)) = rest.split_first()
        && *len != 0
        && let Some((label, behind)) = behind.split_at_checked(usize::from(*len))
    {
        name += &String::from_utf8_lossy(label);
        name.push('.');
        rest = behind;
    }
    name
}

fn u16_at(message: &[u8], at: usize) -> u16 {
    message.get(at..at + 2).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
}

impl From<io::Error> for QueryFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for QueryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the queries: {error}"),
            Self::NoAnswer { name } => {
                write!(f, "no answer for {name} to {MAX_TRIES} queries, {} s apart", PATIENCE.as_secs())
            }
            Self::Answer { name, fault } => write!(f, "the answer for {name}: {fault}"),
        }
    }
}

impl fmt::Display for AnswerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(2) => f.write_str("expected NOERROR, found SERVFAIL"),
            Self::Code(code) => write!(f, "expected NOERROR, found code {code}"),
            Self::Empty => f.write_str("expected a whole message with records"),
            Self::NotValidated => f.write_str("expected the bit AD: it was not validated"),
            Self::Validated => f.write_str("expected no bit AD: its zone has no DS record"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Answers queries with these flags and one record, until the socket is closed.
    fn server(flags: u16) -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        thread::spawn(move || {
            let mut buffer = [0; MAX_MESSAGE];
            while let Ok((len, from)) = socket.recv_from(&mut buffer) {
                let mut answer = buffer[..len].to_vec();
                answer[2..4].copy_from_slice(&flags.to_be_bytes());
                answer[7] = 1;
                answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
                if socket.send_to(&answer, from).is_err() {
                    break;
                }
            }
        });
        address
    }

    fn ask(flags: u16, expected: ResolverAnswer) -> Result<(), String> {
        let client = QueryClient::new(server(flags), 8).unwrap();
        client.ask_all("p256.", 0..100, expected).map_err(|failure| failure.to_string())
    }

    #[test]
    fn every_answer_must_have_the_bit_ad_or_lack_it() {
        let (plain, validated) = (RESPONSE, RESPONSE | AUTHENTIC_DATA);
        assert_eq!(ask(validated, ResolverAnswer::Validated), Ok(()));
        assert_eq!(ask(plain, ResolverAnswer::Unvalidated), Ok(()));
        let said = ask(plain, ResolverAnswer::Validated).unwrap_err();
        assert!(said.contains("n0.p256.") && said.contains("expected the bit AD"), "{said}");
        let said = ask(validated, ResolverAnswer::Unvalidated).unwrap_err();
        assert!(said.contains("no DS record"), "{said}");
    }

    #[test]
    fn errors_and_cut_answers_are_reported() {
        let said = ask(RESPONSE | 2, ResolverAnswer::Unvalidated).unwrap_err();
        assert!(said.contains("SERVFAIL"), "{said}");
        let said = ask(RESPONSE | TRUNCATED, ResolverAnswer::Unvalidated).unwrap_err();
        assert!(said.contains("whole message"), "{said}");
    }

    #[test]
    fn an_answer_to_another_query_is_ignored() {
        let message = query(7, "n7.p256.");
        assert_eq!(name_of(&message), "n7.p256.");
        let mut pending = HashMap::new();
        pending.insert(7, PendingQuery { message, sent: Instant::now(), tries: 1 });
        let mut other = query(7, "n8.p256.");
        other[2..4].copy_from_slice(&(RESPONSE | 2).to_be_bytes());
        take_answer(&other, &mut pending, ResolverAnswer::Validated).unwrap();
        assert_eq!(pending.len(), 1);
    }
}
