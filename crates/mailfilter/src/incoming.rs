//! A message's header as an MTA tells it, field by field.

use oarlock_dkim::{BodyHasher, Header, Limits, MessageError, parse_results};

use crate::author::Author;
use crate::trust::{ResultsOrigin, Trust};

const RESULTS: &[u8] = b"Authentication-Results";

/// Bytes of others' results that are kept for a seal. A message has one or two such fields of some hundred bytes.
const MAX_TRUSTED_BYTES: usize = 16 << 10;

/// Fields one behind the other, as they are on the wire, up to the limits.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    raw: Vec<u8>,
    /// Where each field ends in `raw`.
    ends: Vec<usize>,
    /// Places of `Authentication-Results` that were written in our name, among those fields, from 1 on.
    forged: Vec<u32>,
    /// Results of others of this site.
    trusted: Vec<String>,
    results: u32,
    fault: Option<MessageError>,
}

impl Collected {
    /// Takes a field. Values come with LF at their folds; `has_leading_space`: all that is behind the colon.
    pub(crate) fn push(
        &mut self,
        name: &[u8],
        value: &[u8],
        has_leading_space: bool,
        limits: &Limits,
        trust: Trust<'_>,
    ) {
        // Forged results are found in every message, the malformed ones too. RFC 5322 4.5 allows white space before the colon.
        if name.trim_ascii_end().eq_ignore_ascii_case(RESULTS) {
            self.results += 1;
            match trust.origin(value) {
                ResultsOrigin::Forged => self.forged.push(self.results),
                ResultsOrigin::Trusted => self.trust(value),
                ResultsOrigin::Elsewhere => {}
            }
        }
        if self.fault.is_some() {
            return;
        }
        if let Err(fault) = self.take(name, value, has_leading_space, limits) {
            *self =
                Self { results: self.results, forged: std::mem::take(&mut self.forged), ..Self::default() };
            self.fault = Some(fault);
        }
    }

    fn trust(&mut self, value: &[u8]) {
        let kept: usize = self.trusted.iter().map(String::len).sum();
        if kept + value.len() <= MAX_TRUSTED_BYTES {
            self.trusted.extend(parse_results(value));
        }
    }

    /// Results of others of this site, from the top.
    pub(crate) fn trusted(&self) -> &[String] {
        &self.trusted
    }

    /// Every field from the top.
    pub(crate) fn headers(&self) -> Result<Vec<Header<'_>>, MessageError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| Header::new(&self.raw[start..*end])).collect()
    }

    /// Places of results that were written in our name, the last one first: so no removal moves another (CVE-2022-48521).
    pub(crate) fn forged(&self) -> impl Iterator<Item = u32> {
        self.forged.iter().rev().copied()
    }

    fn take(
        &mut self,
        name: &[u8],
        value: &[u8],
        has_leading_space: bool,
        limits: &Limits,
    ) -> Result<(), MessageError> {
        let field = self.ends.len() + 1;
        if field > limits.headers {
            return Err(MessageError::TooManyHeaders(limits.headers));
        }
        if self.raw.len() + name.len() + value.len() + 2 > limits.header_bytes {
            return Err(MessageError::HeaderTooLong(limits.header_bytes));
        }
        let start = self.raw.len();
        self.raw.extend_from_slice(name);
        self.raw.push(b':');
        if !has_leading_space && !value.starts_with(b"\n") {
            self.raw.push(b' ');
        }
        push_folded(value, &mut self.raw).map_err(|start| MessageError::NoColon { field, start })?;
        self.ends.push(self.raw.len());
        Header::new(&self.raw[start..]).map(drop).map_err(|fault| numbered(fault, field))
    }
}

/// Folds as CRLF. A line that no white space begins would be a field of its own to whoever reads the message.
fn push_folded(value: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let mut lines = value.split(|byte| *byte == b'\n');
    out.extend_from_slice(lines.next().unwrap_or_default());
    for line in lines {
        if !matches!(line.first(), Some(b' ' | b'\t')) {
            return Err(String::from_utf8_lossy(&line[..line.len().min(32)]).escape_debug().to_string());
        }
        if out.last() != Some(&b'\r') {
            out.push(b'\r');
        }
        out.push(b'\n');
        out.extend_from_slice(line);
    }
    Ok(())
}

fn numbered(fault: MessageError, field: usize) -> MessageError {
    match fault {
        MessageError::NoColon { start, .. } => MessageError::NoColon { field, start },
        MessageError::Name { name, .. } => MessageError::Name { field, name },
        other => other,
    }
}

/// What is hashed as it comes: nothing of a body is kept.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    /// For signatures, made or verified.
    pub(crate) signatures: Vec<BodyHasher>,
    /// For a seal.
    pub(crate) seal: Vec<BodyHasher>,
}

/// Who wrote it, or how many `From` fields there are where that is not one. RFC 5322 3.6.
pub(crate) fn author(headers: &[Header<'_>]) -> Result<Option<Author>, usize> {
    let mut senders = headers.iter().filter(|header| header.is(b"From"));
    match (senders.next(), senders.count()) {
        (Some(only), 0) => Ok(Author::of(only.value())),
        (first, others) => Err(usize::from(first.is_some()) + others),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::TrustSettings;

    fn collected(fields: &[(&[u8], &[u8])], has_leading_space: bool, limits: Limits) -> Collected {
        let mut all = Collected::default();
        for (name, value) in fields {
            all.push(name, value, has_leading_space, &limits, Trust::of_strangers(&settings()));
        }
        all
    }

    fn settings() -> TrustSettings {
        TrustSettings { authserv_id: "mx.example".into(), ..TrustSettings::default() }
    }

    fn raw(fields: &[(&[u8], &[u8])], has_leading_space: bool) -> Vec<String> {
        let all = collected(fields, has_leading_space, Limits::default());
        let shown = |header: &Header<'_>| String::from_utf8_lossy(header.raw()).into_owned();
        all.headers().unwrap().iter().map(shown).collect()
    }

    #[test]
    fn fields_are_as_they_were_on_the_wire() {
        let fields: [(&[u8], &[u8]); 4] =
            [(b"A", b"  one\n two\r\n\tthree"), (b"B", b""), (b"C", b"tight"), (b"D", b"\n folded")];
        let exact = ["A:  one\r\n two\r\n\tthree", "B:", "C:tight", "D:\r\n folded"];
        assert_eq!(raw(&fields, true), exact);
        let guessed = ["A:   one\r\n two\r\n\tthree", "B: ", "C: tight", "D:\r\n folded"];
        assert_eq!(raw(&fields, false), guessed);
    }

    #[test]
    fn what_is_no_field_is_told_with_its_number_and_nothing_is_kept() {
        let fault =
            |fields: &[(&[u8], &[u8])], limits| collected(fields, true, limits).headers().unwrap_err();
        let good: (&[u8], &[u8]) = (b"A", b" b");
        let all = Limits::default();
        assert_eq!(
            fault(&[good, (b"B", b" x\nBcc: you")], all),
            MessageError::NoColon { field: 2, start: "Bcc: you".into() }
        );
        assert_eq!(fault(&[good, (b"a b", b"")], all), MessageError::Name { field: 2, name: "a b".into() });
        let two = Limits { headers: 2, ..all };
        assert_eq!(fault(&[good, good, good], two), MessageError::TooManyHeaders(2));
        let short = Limits { header_bytes: 20, ..all };
        let long = collected(&[good, (b"B", &[b'x'; 40]), good], true, short);
        assert_eq!(long.headers().unwrap_err(), MessageError::HeaderTooLong(20));
        assert_eq!((long.raw.capacity(), long.ends.len()), (0, 0));
    }

    #[test]
    fn forged_results_are_told_from_the_last_one_on() {
        let results: &[u8] = b"authentication-RESULTS";
        let none = Limits { headers: 0, ..Limits::default() };
        for limits in [Limits::default(), none] {
            let all = collected(
                &[
                    (results, b" mx.example; dkim=pass"),
                    (results, b" other.example; dkim=pass"),
                    (b"Subject", b" mx.example"),
                    (results, b" (x) MX.example 1;\n dkim=pass"),
                    (b"Authentication-Results \t", b" \"mx.example\""),
                ],
                true,
                limits,
            );
            assert_eq!(all.forged().collect::<Vec<_>>(), [4, 3, 1]);
        }
    }

    #[test]
    fn results_of_this_site_are_kept_up_to_a_bound() {
        let results: &[u8] = b"Authentication-Results";
        let settings = TrustSettings { filters: vec!["rspamd.example".into()], ..settings() };
        let mut all = Collected::default();
        let mut push = |value: &[u8], trust| all.push(results, value, true, &Limits::default(), trust);
        let (hop, stranger) =
            (Trust { settings: &settings, is_of_hop: true }, Trust::of_strangers(&settings));
        push(b" mx.example; spf=pass smtp.mailfrom=a", hop);
        push(b" mx.example; spf=pass smtp.mailfrom=forged", stranger);
        push(b" rspamd.example; dmarc=pass;\n arc=pass", stranger);
        push(b" other.example; dmarc=fail", hop);
        let long = [b" rspamd.example; spf=pass x=".as_slice(), &[b'x'; 800]].concat();
        for _ in 0..1000 {
            push(&long, hop);
        }
        assert_eq!(all.forged().collect::<Vec<_>>(), [2]);
        assert_eq!(all.trusted()[..2], ["spf=pass smtp.mailfrom=a", "dmarc=pass"]);
        assert!(all.trusted().iter().map(String::len).sum::<usize>() <= MAX_TRUSTED_BYTES);
    }

    #[test]
    fn one_author_is_due() {
        let of = |fields: &[(&[u8], &[u8])]| {
            let all = collected(fields, true, Limits::default());
            author(&all.headers().unwrap()).map(|author| author.map(|author| author.address))
        };
        let from: (&[u8], &[u8]) = (b"from", b" a@example.com");
        assert_eq!(of(&[from]), Ok(Some("a@example.com".into())));
        assert_eq!(of(&[(b"From", b" nobody")]), Ok(None));
        assert_eq!((of(&[]), of(&[from, from]), of(&[from, from, from])), (Err(0), Err(2), Err(3)));
    }
}
