//! The header of a message, field by field as the MTA sends it.

use oarlock_dkim::{BodyHasher, FieldLayout, HeaderField, MailLimits, MailParseError, parse_results};

use crate::author::AuthorAddress;
use crate::trust::{ClientTrust, ResultsOrigin};

const RESULTS: &[u8] = b"Authentication-Results";

/// The maximum length of other filters' results that are kept for a seal, in bytes. A message usually has one or two
/// such fields of some hundred bytes.
const MAX_TRUSTED_BYTES: usize = 16 << 10;

/// The header fields of a message, one after the other as they are transmitted, up to the limits.
#[derive(Debug, Default)]
pub(crate) struct IncomingHeader {
    raw: Vec<u8>,
    /// The end of each field in `raw`, and its layout. Each field is parsed once, when it arrives.
    fields: Vec<(usize, FieldLayout)>,
    /// The positions of `Authentication-Results` fields under this filter's name. They count the fields of that name
    /// from 1.
    forged: Vec<u32>,
    /// The results of other filters of this site.
    trusted: Vec<String>,
    results: u32,
    fault: Option<MailParseError>,
}

impl IncomingHeader {
    /// Adds a field. The value has LF at its folds. With `has_leading_space` it is complete from the colon on.
    pub(crate) fn push(
        &mut self,
        name: &[u8],
        value: &[u8],
        has_leading_space: bool,
        limits: &MailLimits,
        trust: ClientTrust<'_>,
    ) {
        // Forged results are found in malformed messages as well. RFC 5322 4.5 allows white space before the colon.
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
        // A set repeats these results. Without the limit, a sender could make it arbitrarily long.
        if kept + value.len() <= MAX_TRUSTED_BYTES {
            self.trusted.extend(parse_results(value));
        }
    }

    /// Returns the results of other filters of this site, from the top.
    pub(crate) fn trusted(&self) -> &[String] {
        &self.trusted
    }

    /// Returns all fields from the top.
    pub(crate) fn headers(&self) -> Result<Vec<HeaderField<'_>>, MailParseError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let starts = std::iter::once(0).chain(self.fields.iter().map(|(end, _)| *end));
        let field = |(start, (end, layout)): (usize, &(usize, FieldLayout))| {
            HeaderField::with_layout(&self.raw[start..*end], *layout)
        };
        Ok(starts.zip(&self.fields).map(field).collect())
    }

    /// Returns the positions of forged results from the last one on, so that no removal moves another field
    /// (CVE-2022-48521).
    pub(crate) fn forged(&self) -> impl Iterator<Item = u32> {
        self.forged.iter().rev().copied()
    }

    fn take(
        &mut self,
        name: &[u8],
        value: &[u8],
        has_leading_space: bool,
        limits: &MailLimits,
    ) -> Result<(), MailParseError> {
        let field = self.fields.len() + 1;
        if field > limits.max_headers {
            return Err(MailParseError::TooManyHeaders(limits.max_headers));
        }
        if self.raw.len() + name.len() + value.len() + 2 > limits.max_header_bytes {
            return Err(MailParseError::HeaderTooLong(limits.max_header_bytes));
        }
        let start = self.raw.len();
        self.raw.extend_from_slice(name);
        self.raw.push(b':');
        // Without LEADING_SPACE the MTA has removed one space. Nearly all headers had it, so it is restored.
        if !has_leading_space && !value.starts_with(b"\n") {
            self.raw.push(b' ');
        }
        push_folded(value, &mut self.raw).map_err(|start| MailParseError::NoColon { field, start })?;
        let header = HeaderField::new(&self.raw[start..]).map_err(|fault| numbered(fault, field))?;
        let layout = header.layout();
        self.fields.push((self.raw.len(), layout));
        Ok(())
    }
}

/// Writes a value with CRLF at its folds. A line that does not begin with white space is an error, because readers of
/// the message would read it as another field.
fn push_folded(value: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let mut lines = value.split(|byte| *byte == b'\n');
    out.extend_from_slice(lines.next().unwrap_or_default());
    for line in lines {
        if !matches!(line.first(), Some(b' ' | b'\t')) {
            return Err(String::from_utf8_lossy(&line[..line.len().min(32)]).escape_debug().to_string());
        }
        // Some MTAs send CRLF at folds instead of LF.
        if out.last() != Some(&b'\r') {
            out.push(b'\r');
        }
        out.push(b'\n');
        out.extend_from_slice(line);
    }
    Ok(())
}

fn numbered(fault: MailParseError, field: usize) -> MailParseError {
    match fault {
        MailParseError::NoColon { start, .. } => MailParseError::NoColon { field, start },
        MailParseError::Name { name, .. } => MailParseError::Name { field, name },
        other => other,
    }
}

/// The hashers of a message's body. The body itself is not kept.
#[derive(Debug, Default)]
pub(crate) struct BodyHashers {
    /// The hashers for signatures, made or verified.
    pub(crate) signatures: Vec<BodyHasher>,
    /// The hashers for a seal.
    pub(crate) seal: Vec<BodyHasher>,
}

/// Returns the author, or the number of `From` fields if that is not one. RFC 5322 3.6.
pub(crate) fn author(headers: &[HeaderField<'_>]) -> Result<Option<AuthorAddress>, usize> {
    let mut senders = headers.iter().filter(|header| header.is(b"From"));
    match (senders.next(), senders.count()) {
        (Some(only), 0) => Ok(AuthorAddress::parse(only.value())),
        (first, others) => Err(usize::from(first.is_some()) + others),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::TrustSettings;

    fn collected(fields: &[(&[u8], &[u8])], has_leading_space: bool, limits: MailLimits) -> IncomingHeader {
        let mut all = IncomingHeader::default();
        for (name, value) in fields {
            all.push(name, value, has_leading_space, &limits, ClientTrust::for_strangers(&settings()));
        }
        all
    }

    fn settings() -> TrustSettings {
        TrustSettings { authserv_id: "mx.example".into(), ..TrustSettings::default() }
    }

    fn raw(fields: &[(&[u8], &[u8])], has_leading_space: bool) -> Vec<String> {
        let all = collected(fields, has_leading_space, MailLimits::default());
        let shown = |header: &HeaderField<'_>| String::from_utf8_lossy(header.raw()).into_owned();
        all.headers().unwrap().iter().map(shown).collect()
    }

    #[test]
    fn restores_fields_as_they_were_transmitted() {
        let fields: [(&[u8], &[u8]); 4] =
            [(b"A", b"  one\n two\r\n\tthree"), (b"B", b""), (b"C", b"tight"), (b"D", b"\n folded")];
        let exact = ["A:  one\r\n two\r\n\tthree", "B:", "C:tight", "D:\r\n folded"];
        assert_eq!(raw(&fields, true), exact);
        let guessed = ["A:   one\r\n two\r\n\tthree", "B: ", "C: tight", "D:\r\n folded"];
        assert_eq!(raw(&fields, false), guessed);
    }

    #[test]
    fn reports_a_malformed_field_with_its_number_and_keeps_nothing() {
        let fault =
            |fields: &[(&[u8], &[u8])], limits| collected(fields, true, limits).headers().unwrap_err();
        let good: (&[u8], &[u8]) = (b"A", b" b");
        let all = MailLimits::default();
        assert_eq!(
            fault(&[good, (b"B", b" x\nBcc: you")], all),
            MailParseError::NoColon { field: 2, start: "Bcc: you".into() }
        );
        assert_eq!(fault(&[good, (b"a b", b"")], all), MailParseError::Name { field: 2, name: "a b".into() });
        let two = MailLimits { max_headers: 2, ..all };
        assert_eq!(fault(&[good, good, good], two), MailParseError::TooManyHeaders(2));
        let short = MailLimits { max_header_bytes: 20, ..all };
        let long = collected(&[good, (b"B", &[b'x'; 40]), good], true, short);
        assert_eq!(long.headers().unwrap_err(), MailParseError::HeaderTooLong(20));
        assert_eq!((long.raw.capacity(), long.fields.len()), (0, 0));
    }

    #[test]
    fn lists_forged_results_from_the_last_one_on() {
        let results: &[u8] = b"authentication-RESULTS";
        let none = MailLimits { max_headers: 0, ..MailLimits::default() };
        for limits in [MailLimits::default(), none] {
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
    fn keeps_results_of_this_site_up_to_the_limit() {
        let results: &[u8] = b"Authentication-Results";
        let settings = TrustSettings { filters: vec!["rspamd.example".into()], ..settings() };
        let mut all = IncomingHeader::default();
        let mut push = |value: &[u8], trust| all.push(results, value, true, &MailLimits::default(), trust);
        let (hop, stranger) =
            (ClientTrust { settings: &settings, is_of_hop: true }, ClientTrust::for_strangers(&settings));
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
    fn requires_exactly_one_author() {
        let of = |fields: &[(&[u8], &[u8])]| {
            let all = collected(fields, true, MailLimits::default());
            author(&all.headers().unwrap()).map(|author| author.map(|author| author.address))
        };
        let from: (&[u8], &[u8]) = (b"from", b" a@example.com");
        assert_eq!(of(&[from]), Ok(Some("a@example.com".into())));
        assert_eq!(of(&[(b"From", b" nobody")]), Ok(None));
        assert_eq!((of(&[]), of(&[from, from]), of(&[from, from, from])), (Err(0), Err(2), Err(3)));
    }
}
