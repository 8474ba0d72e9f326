//! Versions of symmetric keys: one name, of which the newest version encrypts and older ones decrypt and verify.
//!
//! The line of the newest version has the name, such as `pan`, and its number in `version`. The line of an older
//! version has the name `pan@2`. The newest version can be named by its number too.

use std::collections::HashMap;

/// The number of the first version of a key.
const FIRST: u32 = 1;

/// The versions of one key that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    /// The oldest version that may be used.
    pub min: u32,
    /// The version that encrypts.
    pub newest: u32,
}

impl Default for VersionRange {
    fn default() -> Self {
        Self { min: FIRST, newest: FIRST }
    }
}

/// The versions of the keys of a file. A key whose line has no number is in its first version.
#[derive(Clone, Debug, Default)]
pub struct KeyVersions(HashMap<Box<str>, VersionRange>);

impl KeyVersions {
    /// Returns the versions of a key, which is named without a number. Returns None if the key's line has no number.
    #[must_use]
    pub fn range(&self, base: &str) -> Option<VersionRange> {
        self.0.get(base).copied()
    }

    /// Returns the key and the number if the name is that of an older version.
    #[must_use]
    pub fn older<'n>(&self, name: &'n str) -> Option<(&'n str, u32)> {
        split_version(name)
            .filter(|(base, version)| self.range(base).is_some_and(|range| *version < range.newest))
    }

    /// Returns the keys whose lines have numbers, and their versions.
    pub fn iter(&self) -> impl Iterator<Item = (&str, VersionRange)> {
        self.0.iter().map(|(base, range)| (&**base, *range))
    }

    pub(crate) fn insert(&mut self, base: &str, range: VersionRange) {
        self.0.insert(base.into(), range);
    }
}

/// Splits the name of a version, such as `pan@2`, into the key's name and the number. Returns None for other names.
#[must_use]
pub fn split_version(name: &str) -> Option<(&str, u32)> {
    let (base, number) = name.rsplit_once('@')?;
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    Some((base, number.parse().ok()?)).filter(|_| is_plain && !base.is_empty())
}

/// Returns the name of a version.
#[must_use]
pub fn version_name(base: &str, version: u32) -> String {
    format!("{base}@{version}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_behind_a_name_are_versions() {
        assert_eq!(split_version("pan@2"), Some(("pan", 2)));
        assert_eq!(split_version("a@b@4294967295"), Some(("a@b", u32::MAX)));
        for name in ["pan", "pan@", "@2", "pan@0", "pan@02", "pan@+2", "pan@-1", "pan@4294967296", "pan@2x"] {
            assert_eq!(split_version(name), None, "{name}");
        }
        assert_eq!(split_version(&version_name("pan", 7)), Some(("pan", 7)));
    }
}
