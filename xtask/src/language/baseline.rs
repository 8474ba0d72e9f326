//! The findings that are tolerated: one line `rule key count` for each rule and file, or rule and type name.

use std::collections::BTreeMap;
use std::path::Path;

use super::findings::{LanguageFinding, LanguageRule};
use crate::workspace::{WorkspaceError, read, write};

const FILE: &str = "xtask/language.baseline";
const HEAD: &str = "\
# Findings of `cargo xtask language` that are tolerated: rule, file or type name, number of findings.
# `cargo xtask language --update` rewrites this file. No rule may have more findings than before.
";
/// So many unused entries are listed; the others are counted.
const MAX_LISTED: usize = 5;

/// The tolerated number of findings per rule and key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LanguageBaseline {
    counts: BTreeMap<(LanguageRule, String), usize>,
    is_on_disk: bool,
}

impl LanguageBaseline {
    /// Reads the baseline of a workspace. A workspace without the file tolerates nothing.
    pub(super) fn load(root: &Path) -> Result<Self, WorkspaceError> {
        let path = root.join(FILE);
        if path.exists() { Self::parse(&read(&path)?) } else { Ok(Self::default()) }
    }

    fn parse(text: &str) -> Result<Self, WorkspaceError> {
        let mut counts = BTreeMap::new();
        for (line, words) in (1..).zip(text.lines()).filter(|(_, words)| !words.starts_with('#')) {
            let words: Vec<&str> = words.split(' ').collect();
            let entry = match words[..] {
                [rule, key, count] => LanguageRule::ALL
                    .into_iter()
                    .find(|known| known.name() == rule)
                    .zip(count.parse().ok())
                    .map(|(rule, count)| ((rule, key.to_owned()), count)),
                _ => None,
            };
            let (key, count) = entry.ok_or(WorkspaceError::Table { name: FILE, line })?;
            counts.insert(key, count);
        }
        Ok(Self { counts, is_on_disk: true })
    }

    pub(super) fn of_findings(findings: &[LanguageFinding]) -> Self {
        let counts = by_key(findings).into_iter().map(|(key, texts)| (key, texts.len())).collect();
        Self { counts, is_on_disk: false }
    }

    pub(super) fn save(&self, root: &Path) -> Result<(), WorkspaceError> {
        let lines = self.counts.iter().map(|((rule, key), count)| format!("{} {key} {count}\n", rule.name()));
        write(&root.join(FILE), &(HEAD.to_owned() + &lines.collect::<String>()))
    }

    /// Returns a fault for each rule and key with more findings than tolerated.
    pub(super) fn exceeded(&self, findings: &[LanguageFinding]) -> Vec<String> {
        let mut faults = Vec::new();
        for (key, texts) in by_key(findings) {
            let tolerated = self.counts.get(&key).copied().unwrap_or(0);
            if texts.len() > tolerated {
                let (rule, key) = (key.0.name(), key.1);
                faults.push(format!(
                    "{key}: {} findings of the rule `{rule}`, the baseline tolerates {tolerated}:\n    {}",
                    texts.len(),
                    texts.join("\n    ")
                ));
            }
        }
        faults
    }

    /// Returns a note if the baseline tolerates more than was found.
    pub(super) fn unused(&self, findings: &[LanguageFinding]) -> Vec<String> {
        let found = Self::of_findings(findings).counts;
        let unused: Vec<String> = self
            .counts
            .iter()
            .map(|(key, tolerated)| (key, tolerated, found.get(key).copied().unwrap_or(0)))
            .filter(|(_, tolerated, found)| found < tolerated)
            .map(|((rule, key), tolerated, found)| format!("{} {key}: {found} of {tolerated}", rule.name()))
            .collect();
        if unused.is_empty() {
            return Vec::new();
        }
        let more = unused.len().saturating_sub(MAX_LISTED);
        let mut notes = vec![format!(
            "note: {FILE} tolerates more than there is in {} entries. Shrink it: cargo xtask language --update",
            unused.len()
        )];
        notes.extend(unused.into_iter().take(MAX_LISTED).map(|line| format!("  {line}")));
        if more > 0 {
            notes.push(format!("  and {more} more"));
        }
        notes
    }

    /// Returns a fault for each rule that has more findings in `new`. Findings may move from file to file.
    pub(super) fn grown_rules(&self, new: &Self) -> Vec<String> {
        if !self.is_on_disk {
            return Vec::new();
        }
        LanguageRule::ALL
            .into_iter()
            .map(|rule| (rule, self.total(rule), new.total(rule)))
            .filter(|(_, old, new)| new > old)
            .map(|(rule, old, new)| {
                format!("{}: {new} findings, the baseline has {old}: it only shrinks", rule.name())
            })
            .collect()
    }

    fn total(&self, rule: LanguageRule) -> usize {
        self.counts.iter().filter(|((other, _), _)| *other == rule).map(|(_, count)| count).sum()
    }
}

fn by_key(findings: &[LanguageFinding]) -> BTreeMap<(LanguageRule, String), Vec<&str>> {
    let mut groups: BTreeMap<(LanguageRule, String), Vec<&str>> = BTreeMap::new();
    for finding in findings {
        groups.entry((finding.rule, finding.key.clone())).or_default().push(&finding.text);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[&str]) -> Vec<LanguageFinding> {
        files.iter().map(|file| LanguageFinding::in_file(LanguageRule::Word, file, 1, "planted")).collect()
    }

    #[test]
    fn tolerates_what_was_there_and_nothing_new() {
        let baseline = LanguageBaseline::parse("# comment\nword a.rs 2\n").unwrap();
        assert_eq!(baseline.exceeded(&findings(&["a.rs", "a.rs"])), [] as [String; 0]);
        let faults = baseline.exceeded(&findings(&["a.rs", "a.rs", "a.rs", "b.rs"]));
        assert_eq!(faults.len(), 2);
        assert!(faults[0].starts_with("a.rs: 3 findings of the rule `word`, the baseline tolerates 2"));
        assert!(faults[1].contains("b.rs:1: planted"));
    }

    #[test]
    fn says_that_it_can_shrink() {
        let baseline = LanguageBaseline::parse("word a.rs 2\nword b.rs 1\n").unwrap();
        assert_eq!(baseline.unused(&findings(&["a.rs", "a.rs", "b.rs"])), [] as [String; 0]);
        let notes = baseline.unused(&findings(&["a.rs"]));
        assert!(notes[0].contains("in 2 entries"), "{notes:?}");
        assert_eq!(notes[1..], ["  word a.rs: 1 of 2", "  word b.rs: 0 of 1"]);
    }

    #[test]
    fn may_move_and_shrink_but_not_grow() {
        let old = LanguageBaseline::parse("word a.rs 2\n").unwrap();
        let new = |files: &[&str]| LanguageBaseline::of_findings(&findings(files));
        assert_eq!(old.grown_rules(&new(&["b.rs", "c.rs"])), [] as [String; 0]);
        assert_eq!(old.grown_rules(&new(&["a.rs"])), [] as [String; 0]);
        assert_eq!(old.grown_rules(&new(&["a.rs", "b.rs", "c.rs"])).len(), 1);
        assert_eq!(LanguageBaseline::default().grown_rules(&new(&["a.rs"])), [] as [String; 0]);
    }

    #[test]
    fn rejects_lines_that_are_not_entries() {
        for text in ["word a.rs", "word a.rs many", "unknown a.rs 1", "word a b.rs 1"] {
            assert!(LanguageBaseline::parse(text).is_err(), "{text}");
        }
    }
}
