//! Whose messages are signed, with which keys.
//!
//! | file | what it holds |
//! |---|---|
//! | `table` | lines by what they are for: found by an author's address |
//! | `table/text` | tables in text files |
//! | `table/sqlite` | tables in SQLite |
//! | `table/current` | the table in use, and the next one |

mod current;
#[cfg(feature = "sqlite")]
mod sqlite;
mod text;

use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use oarlock_dkim::ascii_form;
use smallvec::SmallVec;

pub use current::Reload;
pub(crate) use current::Tables;

use crate::author::Author;
use crate::keys::{KeyFault, KeyFile, KeyReader};

/// Who signs for which authors.
#[derive(Debug, Default)]
pub struct SigningTable {
    lines: Vec<Line>,
    /// Places in `lines`, in their order, by pattern.
    patterns: HashMap<Box<str>, SmallVec<[u32; 2]>>,
    files: HashMap<PathBuf, Arc<KeyFile>>,
}

/// One signature for those that a pattern matches.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// `d=`; None for the author's own.
    pub(crate) domain: Option<Arc<str>>,
    pub(crate) selector: Arc<str>,
    pub(crate) identity: Option<Arc<str>>,
    pub(crate) state: State,
    pub(crate) file: Arc<KeyFile>,
}

/// In which part of its life a key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It signs.
    #[default]
    Active,
    /// It signs no more: its record stays in DNS until mail on its way has been verified.
    Retiring,
    /// It signs beside the active ones, and its record says `t=y`: a signature of it that fails harms nobody.
    Test,
}

/// A line before it is understood.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) pattern: String,
    pub(crate) selector: String,
    pub(crate) key: String,
    pub(crate) state: Option<String>,
    pub(crate) domain: Option<String>,
    pub(crate) identity: Option<String>,
    /// Where it stands, from 1 on.
    pub(crate) number: usize,
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system or SQLite said.
        reason: String,
    },
    /// A line that means nothing.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line or row, from 1 on.
        line: usize,
        /// What is wrong.
        fault: LineFault,
    },
    /// Keys that cannot sign.
    #[error("{}: {} of its key files cannot be used:\n{}", path.display(), faults.len(), shown(faults))]
    Keys {
        /// The table.
        path: PathBuf,
        /// The fault of each key, in the order of the lines.
        faults: Vec<KeyFault>,
    },
}

/// The first faults, a line each.
fn shown(faults: &[KeyFault]) -> String {
    const MAX_SHOWN: usize = 20;
    let mut lines: Vec<String> = faults.iter().take(MAX_SHOWN).map(|fault| format!("  {fault}")).collect();
    if faults.len() > MAX_SHOWN {
        lines.push(format!("  and {} more", faults.len() - MAX_SHOWN));
    }
    lines.join("\n")
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineFault {
    /// Too few words.
    #[error("expected PATTERN SELECTOR KEY-FILE, and optionally a state, domain= and identity=")]
    Words,
    /// The first word is no pattern.
    #[error(
        "{0:?}: expected a domain or *@DOMAIN for its authors, an address, *.DOMAIN or *@*.DOMAIN for authors of all domains \
         below, or * for everybody"
    )]
    Pattern(String),
    /// A domain or selector that DNS has no place for.
    #[error("{0:?} is no domain name")]
    Name(String),
    /// The fourth word, or one behind it.
    #[error("{0:?}: expected active, retiring or test, domain=NAME or identity=LOCAL@DOMAIN")]
    Option(String),
    /// The identity is not of the domain. RFC 6376 3.5.
    #[error("the identity {identity:?} is not of {domain} or below it")]
    Identity {
        /// As written.
        identity: String,
        /// What signs.
        domain: String,
    },
    /// The same signature twice.
    #[error("the same pattern, domain and selector stand on a line before")]
    Twice,
}

impl SigningTable {
    /// Lines in the order of `rows`. Key files count from `directory`; those that `before` has read and that have not changed are not
    /// read again. No key is read here.
    fn build(
        rows: impl IntoIterator<Item = Row>,
        path: &Path,
        before: Option<&Self>,
    ) -> Result<Self, TableError> {
        let mut builder = Builder::new(path.parent().unwrap_or(Path::new("")), before);
        for row in rows {
            let line = row.number;
            builder.add(row).map_err(|fault| TableError::Line { path: path.to_owned(), line, fault })?;
        }
        Ok(builder.table)
    }

    /// Lines for an author that are no longer than they have to be: of the patterns that match, the narrowest counts alone.
    pub(crate) fn find(&self, author: &Author) -> impl Iterator<Item = &Line> {
        let domain = author.domain();
        let parents = domain.match_indices('.').map(|(dot, _)| format!("*{}", &domain[dot..]));
        let exact = [author.address.clone(), domain.to_owned()];
        let mut patterns = exact.into_iter().chain(parents).chain(["*".to_owned()]);
        let places = patterns.find_map(|pattern| self.patterns.get(&*pattern));
        places.into_iter().flatten().map(|place| &self.lines[*place as usize])
    }

    /// Reads the key of every line that signs, each file once, on all cores, and returns what is wrong in the order of the lines.
    pub(crate) fn check_keys(&self, reader: &KeyReader) -> Vec<KeyFault> {
        let mut seen = HashSet::new();
        let signing = self.lines.iter().filter(|line| line.state != State::Retiring);
        let lines: Vec<&Line> = signing.filter(|line| seen.insert(line.file.path().to_owned())).collect();
        in_parallel(&lines, |lines| {
            lines.iter().filter_map(|line| line.file.check(&line.selector, reader).err()).collect()
        })
    }

    /// Lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// True where nobody signs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Looks at items on all cores, and returns what was found in their order. A look that panics has found nothing good: its panic goes on.
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

/// A table being made.
struct Builder<'a> {
    table: SigningTable,
    directory: &'a Path,
    before: Option<&'a SigningTable>,
    /// Words that stand on many lines.
    words: HashSet<Arc<str>>,
}

impl<'a> Builder<'a> {
    fn new(directory: &'a Path, before: Option<&'a SigningTable>) -> Self {
        Self { table: SigningTable::default(), directory, before, words: HashSet::new() }
    }

    fn add(&mut self, row: Row) -> Result<(), LineFault> {
        let (pattern, own) = pattern_of(&row.pattern)?;
        let domain = match &row.domain {
            Some(domain) => Some(name_of(domain)?),
            None => own,
        };
        if let (Some(identity), domain) = (&row.identity, domain.as_deref().unwrap_or("the author's domain"))
            && !is_of(identity, domain)
        {
            return Err(LineFault::Identity { identity: identity.clone(), domain: domain.to_owned() });
        }
        let line = Line {
            selector: self.word(&name_of(&row.selector)?),
            domain: domain.map(|domain| self.word(&domain)),
            identity: row.identity.as_deref().map(Into::into),
            state: row.state.as_deref().map_or(Ok(State::default()), State::from_str)?,
            file: self.file(&row.key),
        };
        let table = &mut self.table;
        let places = table.patterns.entry(pattern.into()).or_default();
        let is_same = |place: &u32| {
            let other = &table.lines[*place as usize];
            (&other.selector, &other.domain) == (&line.selector, &line.domain)
        };
        if places.iter().any(is_same) {
            return Err(LineFault::Twice);
        }
        // unreachable because no table has 2^32 lines
        places.push(u32::try_from(table.lines.len()).unwrap_or(u32::MAX));
        table.lines.push(line);
        Ok(())
    }

    fn word(&mut self, word: &str) -> Arc<str> {
        if let Some(known) = self.words.get(word) {
            return Arc::clone(known);
        }
        let new: Arc<str> = word.into();
        self.words.insert(Arc::clone(&new));
        new
    }

    fn file(&mut self, name: &str) -> Arc<KeyFile> {
        let path = self.directory.join(name);
        if let Some(known) = self.table.files.get(&path) {
            return Arc::clone(known);
        }
        let kept = self.before.and_then(|before| before.files.get(&path)).filter(|file| file.is_current());
        let file = kept.map_or_else(|| Arc::new(KeyFile::new(path.clone())), Arc::clone);
        self.table.files.insert(path, Arc::clone(&file));
        file
    }
}

impl FromStr for State {
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

/// A pattern as authors are looked up, and the domain that signs for it. `*@` before a domain is how OpenDKIM writes its authors.
fn pattern_of(text: &str) -> Result<(String, Option<String>), LineFault> {
    let wrong = || LineFault::Pattern(text.to_owned());
    let name = |name: &str| ascii_form(name).map(String::from).ok_or_else(wrong);
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

fn name_of(text: &str) -> Result<String, LineFault> {
    ascii_form(text).map(String::from).ok_or_else(|| LineFault::Name(text.to_owned()))
}

/// `i=` is of `d=` or below it. RFC 6376 3.5.
fn is_of(identity: &str, domain: &str) -> bool {
    let Some((local, host)) = identity.rsplit_once('@') else { return false };
    let is_plain = |char: char| !char.is_whitespace() && !char.is_control() && char != ';';
    let Some(host) = ascii_form(host) else { return false };
    let rest = host.strip_suffix(domain);
    local.chars().all(is_plain) && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests;
