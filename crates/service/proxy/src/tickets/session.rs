//! The content of a ticket as far as a policy needs it: the chain of the client.

use rustls::pki_types::CertificateDer;

/// The bytes of a protocol version, of a cipher suite, and of the flag for extended master secrets.
const VERSION_LEN: usize = 2;
const SUITE_LEN: usize = 2;
const FLAG_LEN: usize = 1;

/// Reads the chain of the client from a session as rustls encodes it; an empty chain if the client had no certificate.
/// Returns None for another encoding: such a ticket is neither issued nor accepted.
///
/// rustls keeps the encoding to itself: a name, the version, the suite, the secret, a flag, and the chain. A test below
/// fails if a new version of rustls has another one.
pub(super) fn client_chain(session: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let mut rest = session;
    if take_flag(&mut rest)? {
        take_vector(&mut rest, 1)?;
    }
    take(&mut rest, VERSION_LEN + SUITE_LEN)?;
    let _secret = take_vector(&mut rest, 1)?;
    take(&mut rest, FLAG_LEN)?;
    let mut certificates = if take_flag(&mut rest)? { take_vector(&mut rest, 3)? } else { &[] };
    let mut chain = Vec::new();
    while !certificates.is_empty() {
        chain.push(CertificateDer::from(take_vector(&mut certificates, 3)?.to_vec()));
    }
    Some(chain)
}

fn take<'a>(input: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(taken)
}

fn take_flag(input: &mut &[u8]) -> Option<bool> {
    match take(input, FLAG_LEN)? {
        [0] => Some(false),
        [1] => Some(true),
        _ => None,
    }
}

/// Takes a vector with a length of so many bytes. RFC 8446 3.4.
fn take_vector<'a>(input: &mut &'a [u8], len_bytes: usize) -> Option<&'a [u8]> {
    let len = take(input, len_bytes)?.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
    take(input, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_sessions_are_not_read() {
        let mut session = vec![1, 1, b'a', 3, 4, 0x13, 1, 2, 7, 7, 0, 1];
        session.extend_from_slice(&[0, 0, 9, 0, 0, 2, 5, 5, 0, 0, 1, 6]);
        // The chain says nine bytes and has two certificates of two bytes and one.
        assert_eq!(client_chain(&session), Some(vec![vec![5, 5].into(), vec![6].into()]));
        for len in 0..session.len() {
            assert_eq!(client_chain(&session[..len]), None, "{len}");
        }
        assert_eq!(client_chain(&[0, 3, 3, 0, 0, 0, 0, 0, 0]), Some(Vec::new()));
        assert_eq!(client_chain(&[2, 3, 3, 0, 0, 0, 0, 0, 0]), None);
    }
}
