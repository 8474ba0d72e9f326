//! The lines of `opendkim.conf`: a name, white space and a value. A comment begins with `#`.

use std::path::{Path, PathBuf};

use super::{EntryPosition, ImportError, ImportWarning, ReadFile};

/// The maximum depth of included files. opendkim.conf(5), Include.
const MAX_LEVELS: usize = 5;

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfLine {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) source: EntryPosition,
}

impl ConfLine {
    pub(super) fn warning(&self, reason: impl Into<String>) -> ImportWarning {
        self.source.warning(&self.name, reason)
    }

    /// Returns the value of a Boolean setting. Only its first byte counts.
    pub(super) fn boolean(&self) -> Option<bool> {
        match self.value.bytes().next()? {
            b'T' | b't' | b'Y' | b'y' | b'1' => Some(true),
            b'F' | b'f' | b'N' | b'n' | b'0' => Some(false),
            _ => None,
        }
    }
}

/// The settings of a file and of the files that it includes, in their order. A later one replaces an earlier one of the
/// same name.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfLines {
    lines: Vec<ConfLine>,
}

impl ConfLines {
    pub(super) fn read(
        path: &Path,
        read: ReadFile<'_>,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<Self, ImportError> {
        let mut conf = Self::default();
        conf.include(path, 0, read, warnings)?;
        Ok(conf)
    }

    fn include(
        &mut self,
        path: &Path,
        level: usize,
        read: ReadFile<'_>,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<(), ImportError> {
        let text = read(path).map_err(|error| ImportError::Read { path: path.to_owned(), error })?;
        for (line, number) in text.lines().zip(1..) {
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            let source = EntryPosition { path: path.to_owned(), line: number };
            let Some((name, value)) = line.split_once(char::is_whitespace) else {
                warnings.push(source.warning("", "expected a name, white space and a value"));
                continue;
            };
            let (name, value) = (name.to_owned(), value.trim_start().to_owned());
            if !name.eq_ignore_ascii_case("Include") {
                self.put(ConfLine { name, value, source });
            } else if level + 1 < MAX_LEVELS {
                self.include(&self.base().join(value), level + 1, read, warnings)?;
            } else {
                return Err(ImportError::Includes { path: path.to_owned(), line: number, max: MAX_LEVELS });
            }
        }
        Ok(())
    }

    fn put(&mut self, line: ConfLine) {
        self.lines.retain(|other| !other.name.eq_ignore_ascii_case(&line.name));
        self.lines.push(line);
    }

    /// Replaces a setting by an option of the command line.
    pub(super) fn replace(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            let source = EntryPosition { path: PathBuf::from("the command line"), line: 1 };
            self.put(ConfLine { name: name.to_owned(), value: value.to_owned(), source });
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&ConfLine> {
        self.lines.iter().find(|line| line.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).and_then(ConfLine::boolean) == Some(true)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ConfLine> {
        self.lines.iter()
    }

    /// Returns the directory at which relative paths start, or an empty path.
    pub(super) fn base(&self) -> &Path {
        self.get("BaseDirectory").map_or(Path::new(""), |line| Path::new(&line.value))
    }
}

/// Returns a line without its comment and without white space around it.
pub(super) fn without_comment(line: &str) -> &str {
    line.split_once('#').map_or(line, |(before, _)| before).trim()
}
