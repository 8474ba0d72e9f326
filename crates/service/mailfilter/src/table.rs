//! The signing table: the keys that sign for each author.
//!
//! | file | content |
//! |---|---|
//! | `table` | the lines, found by an author's address |
//! | `table/period` | the dates between which a line signs |
//! | `table/text` | tables in text files |
//! | `table/sqlite` | tables in SQLite |
//! | `table/current` | the table in use and its replacement |

mod current;
mod period;
#[cfg(feature = "sqlite")]
mod sqlite;
mod text;

use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use oarlock::Key;
use oarlock_dkim::{DkimSigner, SignerError, ascii_form, host_form};
use oarlock_hsm::UriError;
use oarlock_service_kit::{HeldKeyName, resolve_key_path};
use smallvec::SmallVec;

pub(crate) use current::TableFile;
pub use current::TableReload;
pub use period::LineDate;

use crate::author::AuthorAddress;
use crate::keys::{KeyReader, SigningKeyFault, SigningKeyFile};
use crate::style::SigningStyle;
use period::SigningPeriod;

/// A signing table.
#[derive(Debug, Default)]
pub struct SigningTable {
    lines: Vec<SigningLine>,
    /// The positions in `lines` by pattern, in the order of the lines.
    patterns: HashMap<Box<str>, SmallVec<[u32; 2]>>,
    /// The positions in `lines` of lines with a date, and their patterns.
    dated: Vec<(u32, Box<str>)>,
    files: HashMap<PathBuf, Arc<SigningKeyFile>>,
}

/// A time in which no line of a pattern signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableGap {
    pub(crate) pattern: Box<str>,
    /// The date at which the last line ends. None if nothing signs now.
    pub(crate) start: Option<LineDate>,
    /// The date at which the next line begins, if there is one.
    pub(crate) end: Option<LineDate>,
}

/// A line of the table: one signature for the authors that its pattern matches.
#[derive(Clone, Debug)]
pub(crate) struct SigningLine {
    /// The value of `d=`. None stands for the author's own domain.
    pub(crate) domain: Option<Arc<str>>,
    pub(crate) selector: Arc<str>,
    pub(crate) identity: Option<Arc<str>>,
    pub(crate) state: KeyState,
    period: SigningPeriod,
    pub(crate) file: Arc<SigningKeyFile>,
    signer: Arc<OnceLock<(Arc<SigningStyle>, Arc<DkimSigner>)>>,
}

impl SigningLine {
    /// Returns true if the line signs at this time.
    pub(crate) fn signs_at(&self, now_s: u64) -> bool {
        self.state != KeyState::Retiring && self.period.contains(now_s)
    }

    /// Returns true if the line signs now or will sign later, so its key is needed.
    fn signs_from(&self, now_s: u64) -> bool {
        self.state != KeyState::Retiring && !self.period.is_over(now_s)
    }

    /// Returns the date from which the line signs, if that date is still to come.
    pub(crate) fn upcoming(&self, now_s: u64) -> Option<LineDate> {
        self.period.from.filter(|_| self.signs_from(now_s) && self.period.begins_after(now_s))
    }

    /// Returns the signer of this line for an address. It is made once for each style. A line without a domain signs
    /// for the address's own domain, so its signer is not kept.
    pub(crate) fn signer(
        &self,
        address: &AuthorAddress,
        key: Key,
        style: &Arc<SigningStyle>,
    ) -> Result<Arc<DkimSigner>, SignerError> {
        let Some(domain) = &self.domain else { return self.make_signer(address.domain(), key, style) };
        // A table may outlive the settings with which a signer was made.
        if let Some((_, signer)) = self.signer.get().filter(|(made, _)| Arc::ptr_eq(made, style)) {
            return Ok(Arc::clone(signer));
        }
        let signer = self.make_signer(domain, key, style)?;
        let _ = self.signer.set((Arc::clone(style), Arc::clone(&signer)));
        Ok(signer)
    }

    fn make_signer(
        &self,
        domain: &str,
        key: Key,
        style: &SigningStyle,
    ) -> Result<Arc<DkimSigner>, SignerError> {
        let signer = DkimSigner::new(domain, &self.selector, key)?
            .with_canonicalization(style.canonicalization)
            .with_lifetime_s(style.lifetime_s)
            .with_fields(style.fields.clone());
        Ok(Arc::new(match &self.identity {
            Some(identity) => signer.with_identity(identity)?,
            None => signer,
        }))
    }
}

/// The state of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyState {
    /// The key signs.
    #[default]
    Active,
    /// The key does not sign any more. Its record stays in DNS until all mail in transit has been verified.
    Retiring,
    /// The key signs in addition to the active keys. Its record has `t=y`, so a failure does no harm.
    Test,
}

/// A line of text or a row of a database, before it is checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableRow {
    pub(crate) pattern: String,
    pub(crate) selector: String,
    pub(crate) key: String,
    pub(crate) state: Option<String>,
    pub(crate) domain: Option<String>,
    pub(crate) identity: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) until: Option<String>,
    /// The number of the line or row, from 1.
    pub(crate) number: usize,
}

/// An error of reading a signing table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SigningTableError {
    /// The table cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The path of the table.
        path: PathBuf,
        /// The error of the system or of SQLite.
        reason: String,
    },
    /// A line has a fault.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The path of the table.
        path: PathBuf,
        /// The number of the line or row, from 1.
        line: usize,
        fault: LineFault,
    },
    /// Some keys cannot sign.
    #[error("{}: {} of its key files cannot be used:\n{}", path.display(), faults.len(), shown(faults))]
    Keys {
        /// The path of the table.
        path: PathBuf,
        /// The fault of each key, in the order of the lines.
        faults: Vec<SigningKeyFault>,
    },
}

/// Returns the patterns that match an author, from the most specific to the least: address, domain, parents from the
/// nearest on. The pattern `*` for everybody is left out.
fn patterns(author: &AuthorAddress) -> impl Iterator<Item = String> {
    let domain = author.domain();
    let parents = domain.match_indices('.').map(|(dot, _)| format!("*{}", &domain[dot..]));
    [author.address.clone(), domain.to_owned()].into_iter().chain(parents)
}

/// Lists the first faults, one per line.
fn shown(faults: &[SigningKeyFault]) -> String {
    const MAX_SHOWN: usize = 20;
    let mut lines: Vec<String> = faults.iter().take(MAX_SHOWN).map(|fault| format!("  {fault}")).collect();
    if faults.len() > MAX_SHOWN {
        lines.push(format!("  and {} more", faults.len() - MAX_SHOWN));
    }
    lines.join("\n")
}

/// A fault of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineFault {
    /// The line has too few words.
    #[error(
        "expected PATTERN SELECTOR KEY-FILE, and optionally a state, domain=, identity=, from= and until="
    )]
    Words,
    /// The first word is not a pattern.
    #[error(
        "{0:?}: expected a domain or *@DOMAIN for its authors, an address, *.DOMAIN or *@*.DOMAIN for authors of all domains \
         below, or * for everybody"
    )]
    Pattern(String),
    /// A domain or selector is not a domain name.
    #[error("{0:?} is not a domain name")]
    Name(String),
    /// The fourth word or a later one is unknown.
    #[error(
        "{0:?}: expected active, retiring or test, domain=NAME, identity=LOCAL@DOMAIN, from=DATE or until=DATE, each once"
    )]
    Option(String),
    /// A date cannot be read.
    #[error("{0:?}: expected a date in UTC from 1970 to 2105, such as 2026-07-01 or 2026-07-01T12:00:00Z")]
    Date(String),
    /// The period is empty.
    #[error("until={until} is not after from={from}")]
    Period {
        /// The first date.
        from: LineDate,
        /// The last date.
        until: LineDate,
    },
    /// The identity is outside the domain. RFC 6376 3.5.
    #[error("the identity {identity:?} is neither in {domain} nor in a subdomain")]
    Identity {
        /// The identity found.
        identity: String,
        /// The signing domain.
        domain: String,
    },
    /// The URI of a key in a device is not valid. It is not quoted, because it may contain a PIN.
    #[error("the URI of the key: {0}")]
    Uri(#[from] UriError),
    /// The same signature occurs twice.
    #[error("an earlier line has the same pattern, domain and selector")]
    Twice,
}

impl SigningTable {
    /// Parses the text of a table. Key file names start at the directory of `path`. No file is read.
    ///
    /// # Errors
    /// A line has a fault.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SigningTableError> {
        text::parse(text, path, None)
    }

    /// Reads a table from a text file or a SQLite database. No key is read.
    ///
    /// # Errors
    /// The file cannot be read, or a line has a fault.
    pub fn open(path: &Path) -> Result<Self, SigningTableError> {
        current::read(path, None)
    }

    /// Returns the key file of a selector and a signing domain, or the URI in its place. A line for the domains of all
    /// authors counts if no other line has both.
    #[must_use]
    pub fn key_file(&self, selector: &str, domain: &str) -> Option<&Path> {
        let lines = || self.lines.iter().filter(|line| &*line.selector == selector);
        let exact = lines().find(|line| line.domain.as_deref() == Some(domain));
        exact.or_else(|| lines().find(|line| line.domain.is_none())).map(|line| line.file.path())
    }

    /// Builds a table from rows. Key file names start at the directory of `path`. Keys that `before` has read and that
    /// have not changed are reused. No key is read here.
    fn build(
        rows: impl IntoIterator<Item = TableRow>,
        path: &Path,
        before: Option<&Self>,
    ) -> Result<Self, SigningTableError> {
        let mut builder = SigningTableBuilder::new(path.parent().unwrap_or(Path::new("")), before);
        for row in rows {
            let line = row.number;
            builder.add(row).map_err(|fault| SigningTableError::Line {
                path: path.to_owned(),
                line,
                fault,
            })?;
        }
        Ok(builder.table)
    }

    /// Returns the lines for an author. Only the most specific pattern that matches applies.
    pub(crate) fn find(&self, author: &AuthorAddress) -> impl Iterator<Item = &SigningLine> {
        let indices =
            patterns(author).chain(["*".to_owned()]).find_map(|pattern| self.patterns.get(&*pattern));
        indices.into_iter().flatten().map(|index| &self.lines[*index as usize])
    }

    /// Returns true if the table names the author or one of the author's domains, so that the author is of this site.
    pub(crate) fn names(&self, author: &AuthorAddress) -> bool {
        patterns(author).any(|pattern| self.patterns.contains_key(&*pattern))
    }

    /// Reads the keys of all lines that sign now or later on all cores, each file once. Returns the faults in the order
    /// of the lines.
    pub(crate) fn check_keys(&self, reader: &KeyReader) -> Vec<SigningKeyFault> {
        let (mut seen, now_s) = (HashSet::new(), reader.clock.now_s());
        let signing = self.lines.iter().filter(|line| line.signs_from(now_s));
        let lines: Vec<&SigningLine> =
            signing.filter(|line| seen.insert(line.file.path().to_owned())).collect();
        in_parallel(&lines, |lines| {
            lines.iter().filter_map(|line| line.file.check(&line.selector, reader).err()).collect()
        })
    }

    /// Returns the lines that will sign from a later date on, with that date.
    pub(crate) fn upcoming(&self, now_s: u64) -> impl Iterator<Item = (LineDate, &SigningLine)> {
        self.lines.iter().filter_map(move |line| Some((line.upcoming(now_s)?, line)))
    }

    /// Returns the number of lines that sign now and did not sign then, and of lines that signed then and not now.
    pub(crate) fn changes(&self, then_s: u64, now_s: u64) -> (usize, usize) {
        let lines = self.dated.iter().map(|(index, _)| &self.lines[*index as usize]);
        let signs = lines.map(|line| (line.signs_at(then_s), line.signs_at(now_s)));
        signs.fold((0, 0), |(begun, ended), signs| match signs {
            (false, true) => (begun + 1, ended),
            (true, false) => (begun, ended + 1),
            _ => (begun, ended),
        })
    }

    /// Returns each pattern whose lines leave a time in which nothing signs, in the order of the patterns. The time
    /// begins now or later; it is without end if no line signs afterwards.
    pub(crate) fn gaps(&self, now_s: u64) -> Vec<TableGap> {
        let lines_of = |indices: &SmallVec<[u32; 2]>| -> Vec<&SigningLine> {
            let lines = indices.iter().map(|index| &self.lines[*index as usize]);
            lines.filter(|line| line.state != KeyState::Retiring).collect()
        };
        let gap_of = |pattern: &str| {
            let lines = lines_of(self.patterns.get(pattern)?);
            let ends = lines.iter().filter_map(|line| line.period.until);
            let mut starts: Vec<u64> = ends.map(LineDate::seconds).filter(|end| *end > now_s).collect();
            starts.push(now_s);
            starts.sort_unstable();
            let start = starts.into_iter().find(|start| !lines.iter().any(|line| line.signs_at(*start)))?;
            let next =
                lines.iter().filter_map(|line| line.period.from).filter(|from| from.seconds() > start).min();
            let start =
                lines.iter().filter_map(|line| line.period.until).find(|until| until.seconds() == start);
            Some(TableGap { pattern: pattern.into(), start, end: next })
        };
        let mut seen = HashSet::new();
        let patterns =
            self.dated.iter().map(|(_, pattern)| &**pattern).filter(|pattern| seen.insert(*pattern));
        patterns.filter_map(gap_of).collect()
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns true if the table has no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Checks items on all cores and returns the findings in their order. A check that panics must not count as success, so
/// its panic continues here.
fn in_parallel<T: Sync, F: Send>(items: &[T], look: impl Fn(&[T]) -> Vec<F> + Sync) -> Vec<F> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if items.len() < 2 || threads < 2 {
        return look(items);
    }
    let look = &look;
    std::thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || look(part))).collect();
        let found =
            running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        found.flatten().collect()
    })
}

/// A builder of a table.
struct SigningTableBuilder<'a> {
    table: SigningTable,
    directory: &'a Path,
    before: Option<&'a SigningTable>,
    /// The words that many lines share.
    words: HashSet<Arc<str>>,
}

impl<'a> SigningTableBuilder<'a> {
    fn new(directory: &'a Path, before: Option<&'a SigningTable>) -> Self {
        Self { table: SigningTable::default(), directory, before, words: HashSet::new() }
    }

    fn add(&mut self, row: TableRow) -> Result<(), LineFault> {
        let (pattern, named) = parse_pattern(&row.pattern)?;
        let domain = match &row.domain {
            Some(domain) => Some(parse_name(domain)?),
            None => named,
        };
        if let (Some(identity), domain) = (&row.identity, domain.as_deref().unwrap_or("the author's domain"))
            && !is_identity_of(identity, domain)
        {
            return Err(LineFault::Identity { identity: identity.clone(), domain: domain.to_owned() });
        }
        let period = SigningPeriod::parse(row.from.as_deref(), row.until.as_deref())?;
        let line = SigningLine {
            selector: self.word(&parse_name(&row.selector)?),
            domain: domain.map(|domain| self.word(&domain)),
            identity: row.identity.as_deref().map(Into::into),
            state: row.state.as_deref().map_or(Ok(KeyState::default()), KeyState::from_str)?,
            period,
            file: self.file(&row.key)?,
            signer: Arc::default(),
        };
        let table = &mut self.table;
        let indices = table.patterns.entry(pattern.as_str().into()).or_default();
        let is_same = |index: &u32| {
            let other = &table.lines[*index as usize];
            (&other.selector, &other.domain) == (&line.selector, &line.domain)
        };
        if indices.iter().any(is_same) {
            return Err(LineFault::Twice);
        }
        // unreachable because no table has 2^32 lines
        let index = u32::try_from(table.lines.len()).unwrap_or(u32::MAX);
        indices.push(index);
        if period != SigningPeriod::default() {
            table.dated.push((index, pattern.into()));
        }
        table.lines.push(line);
        Ok(())
    }

    fn word(&mut self, word: &str) -> Arc<str> {
        // Tables have hundreds of thousands of lines with few different selectors.
        if let Some(known) = self.words.get(word) {
            return Arc::clone(known);
        }
        let new: Arc<str> = word.into();
        self.words.insert(Arc::clone(&new));
        new
    }

    fn file(&mut self, name: &str) -> Result<Arc<SigningKeyFile>, UriError> {
        let mut path = PathBuf::from(name);
        HeldKeyName::from_path(&path)?;
        resolve_key_path(&mut path, self.directory);
        if let Some(known) = self.table.files.get(&path) {
            return Ok(Arc::clone(known));
        }
        // An unchanged key keeps its loaded form. A reload of a large table then reads only changed keys.
        let kept = self.before.and_then(|before| before.files.get(&path)).filter(|file| file.is_current());
        let file = kept.map_or_else(|| Arc::new(SigningKeyFile::new(path.clone())), Arc::clone);
        self.table.files.insert(path, Arc::clone(&file));
        Ok(file)
    }
}

impl FromStr for KeyState {
    type Err = LineFault;

    fn from_str(text: &str) -> Result<Self, LineFault> {
        match text {
            "active" => Ok(Self::Active),
            "retiring" => Ok(Self::Retiring),
            "test" => Ok(Self::Test),
            _ => Err(LineFault::Option(text.to_owned())),
        }
    }
}

/// Parses a pattern into the form in which authors are looked up. Also returns the domain that signs for it. OpenDKIM
/// writes `*@` before a domain.
fn parse_pattern(text: &str) -> Result<(String, Option<String>), LineFault> {
    let wrong = || LineFault::Pattern(text.to_owned());
    let name = |name: &str| host_form(name).map(String::from).ok_or_else(wrong);
    let host = text.strip_prefix("*@").filter(|host| !host.contains('@')).unwrap_or(text);
    if host == "*" {
        return Ok((host.to_owned(), None));
    }
    if let Some(parent) = host.strip_prefix("*.") {
        let parent = name(parent)?;
        return Ok((format!("*.{parent}"), Some(parent)));
    }
    match host.rsplit_once('@') {
        Some((local, _)) if local.is_empty() || local.contains('*') => Err(wrong()),
        Some((local, domain)) => {
            let domain = name(domain)?;
            Ok((format!("{}@{domain}", local.to_lowercase()), Some(domain)))
        }
        None => name(host).map(|domain| (domain.clone(), Some(domain))),
    }
}

fn parse_name(text: &str) -> Result<String, LineFault> {
    ascii_form(text).map(String::from).ok_or_else(|| LineFault::Name(text.to_owned()))
}

/// Returns true if `i=` is in the domain `d=` or a subdomain. RFC 6376 3.5.
fn is_identity_of(identity: &str, domain: &str) -> bool {
    let Some((local, host)) = identity.rsplit_once('@') else { return false };
    let is_plain = |char: char| !char.is_whitespace() && !char.is_control() && char != ';';
    let Some(host) = ascii_form(host) else { return false };
    let rest = host.strip_suffix(domain);
    local.chars().all(is_plain) && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests;
