//! TXT records from a file, for `--keys-file`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::{fs, io};

use oarlock::keys::text_file::{TextFault, checked_text};
use oarlock_dkim::KeyProtection;
use oarlock_network::BadName;

use super::{MAX_TTL_S, TxtAnswer, TxtRecords, ascii_name};

/// The default lifetime of a record in seconds.
pub(crate) const DEFAULT_TTL_S: u32 = 3_600;

/// The TXT records of a file. A record has one of three forms, which may be mixed:
///
/// ```text
/// sel._domainkey.example.com  "v=DKIM1; k=rsa; " "p=MIIB..."      ; strings, which are joined
/// sel._domainkey.example.com. 300 IN TXT ( "v=DKIM1; "             ; as in a zone
///                                          "p=MIIB..." )
/// sel._domainkey.example.com  v=DKIM1; k=rsa; p=MIIB...            as in a file of OpenDKIM: the rest of the line
/// ```
///
/// A `=` may stand between name and record. In the first two forms `;` and `#` begin comments, `\"`, `\;`, `\\` and
/// `\DDD` are single bytes, strings may exceed the 255 bytes of the DNS, and bare words are strings too. In the third
/// form all characters stand for themselves. Lines that begin with `;` or `#` are comments. `$ORIGIN` and `$TTL`
/// apply to the records after them. Without `$ORIGIN`, a name is absolute with or without a dot at its end. In the
/// form of zone files, a record without a name has the name of the record before it. Several records of one name stay
/// separate. All of them get the shortest of their lifetimes.
#[derive(Clone, Debug, Default)]
pub struct KeysFile {
    names: BTreeMap<String, TxtRecords>,
}

/// An error of a file of records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysFileError {
    /// The system cannot read the file.
    #[error("{}: {error}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A line of the file is malformed.
    #[error("{}: {error}", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The line and its fault.
        error: KeysLineError,
    },
}

/// A malformed line.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct KeysLineError {
    /// The line, from 1; for an unclosed item, the line that opened it.
    pub line: usize,
    /// The fault of the line.
    pub fault: KeysFault,
}

/// The fault of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeysFault {
    /// The file is in UTF-16, or the line has another end than LF and CRLF.
    #[error("{}", .0.reason())]
    Text(TextFault),
    /// The name is malformed.
    #[error("bad name: {0}")]
    Name(#[from] BadName),
    /// The name is not in UTF-8.
    #[error("expected a name in UTF-8")]
    NameBytes,
    /// A record has no name, and no record stands before it.
    #[error("expected a name")]
    NoName,
    /// `@` is used without `$ORIGIN`.
    #[error("'@' without $ORIGIN before it")]
    NoOrigin,
    /// Nothing follows the name.
    #[error("expected a record after the name")]
    NoRecord,
    /// The record is neither a TXT record nor a list of tags.
    #[error("expected TXT, a string in quotes or tag=value, found {0:?}")]
    Type(String),
    /// The number of seconds exceeds the limit of the DNS.
    #[error("expected at most 2147483647 seconds, found {0:?}")]
    Ttl(String),
    /// A `$` directive is unknown or has no value.
    #[error("expected $ORIGIN name or $TTL seconds, found {0:?}")]
    Directive(String),
    /// A string has no end.
    #[error("a string has no closing quote")]
    OpenQuote,
    /// A parenthesis is never closed.
    #[error("a parenthesis is never closed")]
    OpenParenthesis,
    /// A closing parenthesis has no opening one.
    #[error("a closing parenthesis has no opening one")]
    StrayParenthesis,
    /// A backslash is followed by nothing, or by a number that is not a byte.
    #[error("expected a character or three digits up to 255 after a backslash")]
    Escape,
    /// The record exceeds the limit of the DNS.
    #[error("expected a record of at most 65535 bytes, found {0}")]
    Long(usize),
}

impl KeysFile {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or one of its lines is malformed.
    pub fn read(path: &Path) -> Result<Self, KeysFileError> {
        let text = fs::read(path).map_err(|error| KeysFileError::Io { path: path.to_owned(), error })?;
        Self::parse(&text).map_err(|error| KeysFileError::Line { path: path.to_owned(), error })
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// One of its lines is malformed.
    pub fn parse(text: &[u8]) -> Result<Self, KeysLineError> {
        let mut file = Self::default();
        let text = checked_text(text)
            .map_err(|fault| KeysLineError { line: fault.line(), fault: KeysFault::Text(fault) })?;
        let mut parser = KeysFileParser::new(text);
        while !parser.is_at_end() {
            parser.fault_line = parser.line;
            let line = parser.line(&mut file);
            line.map_err(|fault| KeysLineError { line: parser.fault_line, fault })?;
        }
        Ok(file)
    }

    /// Answers like a DNS that contains only the records of the file.
    #[must_use]
    pub fn lookup(&self, name: &str) -> TxtAnswer {
        match ascii_name(name).map(|name| self.names.get(&name)) {
            Ok(Some(records)) => TxtAnswer::Records(records.clone()),
            Ok(None) => TxtAnswer::NoName { ttl_s: DEFAULT_TTL_S },
            Err(fault) => TxtAnswer::BadName(fault),
        }
    }

    /// Returns the names and their records, in the order of names.
    pub fn records(&self) -> impl Iterator<Item = (&str, &TxtRecords)> {
        self.names.iter().map(|(name, records)| (name.as_str(), records))
    }

    fn add(&mut self, name: String, record: Vec<u8>, ttl_s: u32) {
        match self.names.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(TxtRecords { records: vec![record], ttl_s, protection: KeyProtection::Unknown });
            }
            Entry::Occupied(entry) => {
                let records = entry.into_mut();
                records.records.push(record);
                records.ttl_s = records.ttl_s.min(ttl_s);
            }
        }
    }
}

struct KeysFileParser<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    /// The line of an error.
    fault_line: usize,
    origin: Option<String>,
    ttl_s: u32,
    owner: Option<String>,
}

impl<'a> KeysFileParser<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, line: 1, fault_line: 1, origin: None, ttl_s: DEFAULT_TTL_S, owner: None }
    }

    /// Parses one line, or all lines of a record in parentheses.
    fn line(&mut self, file: &mut KeysFile) -> Result<(), KeysFault> {
        let is_indented = self.peek().is_some_and(is_blank);
        self.skip_blanks();
        match self.peek() {
            None | Some(b'\n') => {}
            Some(b';' | b'#') => drop(self.rest_of_line()),
            Some(b'$') => self.directive()?,
            Some(_) => self.record(is_indented, file)?,
        }
        self.end_of_line();
        Ok(())
    }

    fn directive(&mut self) -> Result<(), KeysFault> {
        let line = self.rest_of_line();
        let line = String::from_utf8_lossy(line.split(|byte| *byte == b';').next().unwrap_or_default());
        let mut words = line.split_ascii_whitespace();
        let (word, value) = (words.next().unwrap_or_default(), words.next());
        match (value, word.to_ascii_uppercase().as_str()) {
            (Some(value), "$ORIGIN") => self.origin = Some(ascii_name(value)?),
            (Some(value), "$TTL") => {
                let ttl =
                    ttl_of(value.as_bytes()).ok_or_else(|| KeysFault::Directive(line.trim().to_owned()))?;
                self.ttl_s = ttl?;
            }
            _ => return Err(KeysFault::Directive(line.trim().to_owned())),
        }
        Ok(())
    }

    fn record(&mut self, is_indented: bool, file: &mut KeysFile) -> Result<(), KeysFault> {
        let begin = self.at;
        let first = self.word(|byte| is_blank(byte) || byte == b'=');
        let is_inherited = is_indented && (is_class(first) || is_txt(first) || ttl_of(first).is_some());
        let owner = match is_inherited {
            true => {
                self.at = begin;
                self.owner.clone().ok_or(KeysFault::NoName)?
            }
            false => self.owner_of(first)?,
        };
        self.skip_blanks();
        if !is_inherited && self.peek() == Some(b'=') {
            self.at += 1;
            self.skip_blanks();
        }
        let (ttl_s, record) = self.data()?;
        if record.len() > usize::from(u16::MAX) {
            return Err(KeysFault::Long(record.len()));
        }
        file.add(owner.clone(), record, ttl_s.min(MAX_TTL_S));
        self.owner = Some(owner);
        Ok(())
    }

    fn owner_of(&self, word: &[u8]) -> Result<String, KeysFault> {
        let name = std::str::from_utf8(word).map_err(|_| KeysFault::NameBytes)?;
        match (&self.origin, name) {
            (Some(origin), "@") => Ok(origin.clone()),
            (None, "@") => Err(KeysFault::NoOrigin),
            (Some(origin), _) if !name.ends_with('.') => Ok(ascii_name(&format!("{name}.{origin}"))?),
            _ => Ok(ascii_name(name)?),
        }
    }

    /// Parses the part after the name: the lifetime and the record.
    fn data(&mut self) -> Result<(u32, Vec<u8>), KeysFault> {
        let (mut ttl_s, mut is_zone) = (self.ttl_s, false);
        loop {
            self.skip_blanks();
            let begin = self.at;
            if matches!(self.peek(), Some(b'"' | b'(')) {
                return Ok((ttl_s, self.strings()?));
            }
            let word = self.word(is_blank);
            match ttl_of(word) {
                _ if word.is_empty() || matches!(word[0], b';' | b'#') => return Err(KeysFault::NoRecord),
                _ if is_txt(word) => return Ok((ttl_s, self.strings()?)),
                Some(ttl) => ttl_s = ttl?,
                None if is_class(word) => {}
                None if !is_zone && word.contains(&b'=') => {
                    self.at = begin;
                    return Ok((ttl_s, self.rest_of_line().trim_ascii_end().to_vec()));
                }
                None => return Err(KeysFault::Type(String::from_utf8_lossy(word).into_owned())),
            }
            is_zone = true;
        }
    }

    fn strings(&mut self) -> Result<Vec<u8>, KeysFault> {
        let (mut record, mut is_empty, mut opened) = (Vec::new(), true, Vec::new());
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' if opened.is_empty() => break,
                b'\n' => self.end_of_line(),
                b';' | b'#' => drop(self.rest_of_line()),
                b'(' => opened.push(self.line),
                b')' => {
                    let stray = KeysFault::StrayParenthesis;
                    opened.pop().ok_or(stray).inspect_err(|_| self.fault_line = self.line)?;
                }
                byte if is_blank(byte) => {}
                _ => {
                    self.string(&mut record).inspect_err(|_| self.fault_line = self.line)?;
                    is_empty = false;
                    continue;
                }
            }
            // The functions for these bytes have moved past them already.
            self.at += usize::from(!matches!(byte, b'\n' | b';' | b'#'));
        }
        if let Some(line) = opened.pop() {
            self.fault_line = line;
            return Err(KeysFault::OpenParenthesis);
        }
        if is_empty { Err(KeysFault::NoRecord) } else { Ok(record) }
    }

    /// Parses a string in quotes, or a word.
    fn string(&mut self, record: &mut Vec<u8>) -> Result<(), KeysFault> {
        let is_quoted = self.peek() == Some(b'"');
        self.at += usize::from(is_quoted);
        while let Some(byte) = self.peek() {
            match byte {
                b'"' if is_quoted => {
                    self.at += 1;
                    return Ok(());
                }
                b'\n' if is_quoted => return Err(KeysFault::OpenQuote),
                b'\\' => record.push(self.escaped()?),
                b'"' | b'(' | b')' | b';' | b'\n' if !is_quoted => return Ok(()),
                byte if !is_quoted && is_blank(byte) => return Ok(()),
                byte => {
                    record.push(byte);
                    self.at += 1;
                }
            }
        }
        if is_quoted { Err(KeysFault::OpenQuote) } else { Ok(()) }
    }

    fn escaped(&mut self) -> Result<u8, KeysFault> {
        let (byte, len) = match &self.text[self.at + 1..] {
            [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', ..] => {
                let value = [a, b, c].iter().fold(0, |value, digit| value * 10 + u16::from(**digit - b'0'));
                (u8::try_from(value).map_err(|_| KeysFault::Escape)?, 4)
            }
            [] | [b'\n' | b'\r' | b'0'..=b'9', ..] => return Err(KeysFault::Escape),
            [byte, ..] => (*byte, 2),
        };
        self.at += len;
        Ok(byte)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        self.word(|byte| !is_blank(byte));
    }

    fn rest_of_line(&mut self) -> &'a [u8] {
        self.word(|_| false)
    }

    fn end_of_line(&mut self) {
        if self.peek() == Some(b'\n') {
            self.at += 1;
            self.line += 1;
        }
    }

    /// Returns the bytes up to one that ends the word, or up to the end of the line.
    fn word(&mut self, is_end: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|byte| *byte == b'\n' || is_end(*byte)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

fn is_class(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"IN")
}

fn is_txt(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"TXT")
}

/// Parses seconds, or weeks to seconds as in `1h30m`. Returns None for another word.
fn ttl_of(word: &[u8]) -> Option<Result<u32, KeysFault>> {
    let (mut sum, mut number, mut is_open) = (0_u64, 0_u64, false);
    for byte in word {
        let unit_s = match byte.to_ascii_lowercase() {
            b'0'..=b'9' => {
                number = number.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                is_open = true;
                continue;
            }
            b'w' => 604_800,
            b'd' => 86_400,
            b'h' => 3_600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        if !is_open {
            return None;
        }
        sum = sum.saturating_add(std::mem::take(&mut number).saturating_mul(unit_s));
        is_open = false;
    }
    let sum = sum.saturating_add(number);
    let too_long = || KeysFault::Ttl(String::from_utf8_lossy(word).into_owned());
    (!word.is_empty()).then(|| i32::try_from(sum).map(i32::unsigned_abs).map_err(|_| too_long()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, Vec<String>, u32)> {
        let file = KeysFile::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let shown = |record: &Vec<u8>| record.escape_ascii().to_string();
        let records = file.records();
        records
            .map(|(name, found)| (name.into(), found.records.iter().map(shown).collect(), found.ttl_s))
            .collect()
    }

    fn one(text: &str) -> String {
        let found = found(text);
        assert_eq!(
            (found.len(), found[0].1.len(), &*found[0].0),
            (1, 1, "s._domainkey.example.com"),
            "{text}"
        );
        found[0].1[0].clone()
    }

    #[test]
    fn reads_a_record_in_each_form() {
        for text in [
            r#"s._domainkey.example.com "v=DKIM1; k=rsa; p=AA""#,
            r#"S._domainkey.Example.com. "v=DKIM1; " "k=rsa; p=" "AA" ; comment"#,
            r#"s._domainkey.example.com = "v=DKIM1; k=rsa; p=AA"  # comment"#,
            r#"s._domainkey.example.com TXT "v=DKIM1; k=rsa; p=AA""#,
            r#"s._domainkey.example.com. IN TXT "v=DKIM1; k=rsa; p=AA""#,
            r#"s._domainkey.example.com. 300 in txt "v=DKIM1; k=rsa; p=AA""#,
            r#"s._domainkey.example.com. IN 1h TXT v=DKIM1\;\ k=rsa\;\ p=AA"#,
            "s._domainkey.example.com\tIN\tTXT\t( \"v=DKIM1; k=rsa; \"\r\n\t  \"p=AA\" )  ; ----- DKIM key\r\n",
            "s._domainkey.example.com TXT (\n; of it (\n\"v=DKIM1; \" ( k=rsa\\059\\032 ) # more\n\"p=AA\"\n)\n",
            "s._domainkey.example.com v=DKIM1; k=rsa; p=AA",
            "s._domainkey.example.com. = v=DKIM1; k=rsa; p=AA  \r\n",
            "  s._domainkey.example.com=v=DKIM1; k=rsa; p=AA\n",
            "$ORIGIN example.com. ; here\n$TTL 1d\ns._domainkey TXT \"v=DKIM1; k=rsa; p=AA\"",
            "\u{feff}# one\n; two\n\n  \t\n  # three\ns._domainkey.example.com \"v=DKIM1; k=rsa; p=AA\"",
        ] {
            assert_eq!(one(text), "v=DKIM1; k=rsa; p=AA", "{text}");
        }
    }

    #[test]
    fn escapes_are_single_bytes() {
        assert_eq!(one(r#"s._domainkey.example.com "a\"b\;c\\d\000\255\ae""#), r#"a\"b;c\\d\x00\xffae"#);
        // Without quotes, all characters stand for themselves.
        assert_eq!(one(r#"s._domainkey.example.com n=a\"b\;#c"#), r#"n=a\\\"b\\;#c"#);
        assert_eq!(one(r#"s._domainkey.example.com """#), "");
        let long = "x".repeat(400);
        assert_eq!(one(&format!("s._domainkey.example.com \"{long}\"")), long);
    }

    #[test]
    fn keeps_several_records_of_one_name_apart() {
        let text = "$ORIGIN example.com\n$TTL 2h\na 600 TXT one\n  TXT two\n\tIN TXT \"three\"\nb.other. 2w TXT x\n@ TXT y\n";
        let expected =
            [("a.example.com", vec!["one", "two", "three"], 600), ("b.other", vec!["x"], MAX_TTL_S)];
        let mut expected = expected.to_vec();
        expected.push(("example.com", vec!["y"], 7200));
        let found = found(text);
        let found: Vec<_> = found
            .iter()
            .map(|(name, records, ttl_s)| (&**name, records.iter().map(|record| &**record).collect(), *ttl_s))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn answers_as_the_dns_would() {
        let file = KeysFile::parse("s._domainkey.bücher.example \"x\"".as_bytes()).unwrap();
        let records = vec![b"x".to_vec()];
        let expected = TxtRecords { records, ttl_s: DEFAULT_TTL_S, protection: KeyProtection::Unknown };
        for name in ["S._domainkey.bücher.example.", "s._domainkey.XN--bcher-kva.example"] {
            assert_eq!(file.lookup(name), TxtAnswer::Records(expected.clone()));
        }
        assert_eq!(file.lookup("t._domainkey.bücher.example"), TxtAnswer::NoName { ttl_s: DEFAULT_TTL_S });
        assert_eq!(file.lookup(""), TxtAnswer::BadName(BadName::EmptyLabel));
        assert_eq!(found("\n# nothing\n"), []);
        assert_eq!(found(""), []);
    }

    #[test]
    fn errors_name_the_line_and_the_fault() {
        let long = format!("a \"{}\"", "x".repeat(65_536));
        for (text, line, fault) in [
            ("\na..b \"x\"", 2, KeysFault::Name(BadName::EmptyLabel)),
            ("* TXT x", 1, KeysFault::Name(BadName::Character('*'))),
            ("= x", 1, KeysFault::Name(BadName::EmptyLabel)),
            (" TXT x", 1, KeysFault::NoName),
            ("@ TXT x", 1, KeysFault::NoOrigin),
            ("a", 1, KeysFault::NoRecord),
            ("a \t\r\nb \"x\"", 1, KeysFault::NoRecord),
            ("a 300 IN", 1, KeysFault::NoRecord),
            ("a ; \"x\"", 1, KeysFault::NoRecord),
            ("a IN TXT", 1, KeysFault::NoRecord),
            ("a TXT ( ; \"x\"\n )", 1, KeysFault::NoRecord),
            ("a IN A 127.0.0.1", 1, KeysFault::Type("A".into())),
            ("a \"x\"\n@ IN SOA b c 1 2 3 4 5", 2, KeysFault::NoOrigin),
            ("a IN p=x", 1, KeysFault::Type("p=x".into())),
            ("a CH TXT x", 1, KeysFault::Type("CH".into())),
            ("a key", 1, KeysFault::Type("key".into())),
            ("a 2147483648 TXT x", 1, KeysFault::Ttl("2147483648".into())),
            ("a 99999999999999999999w TXT x", 1, KeysFault::Ttl("99999999999999999999w".into())),
            ("$INCLUDE /etc/passwd", 1, KeysFault::Directive("$INCLUDE /etc/passwd".into())),
            ("$TTL soon", 1, KeysFault::Directive("$TTL soon".into())),
            ("$ORIGIN", 1, KeysFault::Directive("$ORIGIN".into())),
            ("a TXT (\n\"x\"\n\"y", 3, KeysFault::OpenQuote),
            ("a \"x\nb \"y\"", 1, KeysFault::OpenQuote),
            ("\n\na TXT x\nb TXT (\n\"x\"\n", 4, KeysFault::OpenParenthesis),
            ("a TXT (\n\"x\" ))", 2, KeysFault::StrayParenthesis),
            ("a TXT \"\\256\"", 1, KeysFault::Escape),
            ("a TXT \"\\12\"", 1, KeysFault::Escape),
            ("a TXT x\\", 1, KeysFault::Escape),
            (&long, 1, KeysFault::Long(65_536)),
        ] {
            let found = KeysFile::parse(text.as_bytes()).unwrap_err();
            assert_eq!((found.line, found.fault), (line, fault), "{text}");
        }
        let bytes = KeysFile::parse(b"\xff TXT x").unwrap_err();
        assert_eq!(bytes.to_string(), "line 1: expected a name in UTF-8");
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("keys");
        let missing = KeysFile::read(&absent).unwrap_err();
        assert!(missing.to_string().starts_with(&format!("{}: ", absent.display())), "{missing}");
    }
}
