//! A finding of a language rule.

use std::collections::BTreeMap;

/// A rule about names or prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LanguageRule {
    Word,
    TypeName,
    VagueName,
    MaxMin,
    DocOpening,
    DocWidth,
    DocNoise,
    DuplicateType,
}

impl LanguageRule {
    pub(super) const ALL: [Self; 8] = [
        Self::Word,
        Self::TypeName,
        Self::VagueName,
        Self::MaxMin,
        Self::DocOpening,
        Self::DocWidth,
        Self::DocNoise,
        Self::DuplicateType,
    ];

    /// Returns the name of the rule in the baseline.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::TypeName => "type-name",
            Self::VagueName => "vague-name",
            Self::MaxMin => "max-min",
            Self::DocOpening => "doc-opening",
            Self::DocWidth => "doc-width",
            Self::DocNoise => "doc-noise",
            Self::DuplicateType => "duplicate-type",
        }
    }
}

/// A line that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LanguageFinding {
    pub(super) rule: LanguageRule,
    /// The key in the baseline: the file, or the name of a type that is defined more than once.
    pub(super) key: String,
    /// The position and the reason.
    pub(super) text: String,
}

impl LanguageFinding {
    /// Makes a finding in line `line` of a file.
    pub(super) fn in_file(rule: LanguageRule, file: &str, line: usize, reason: &str) -> Self {
        Self { rule, key: file.to_owned(), text: format!("{file}:{line}: {reason}") }
    }
}

/// Returns the number of findings of each rule as one line.
pub(super) fn summary(findings: &[LanguageFinding]) -> String {
    let mut counts: BTreeMap<LanguageRule, usize> = LanguageRule::ALL.map(|rule| (rule, 0)).into();
    for finding in findings {
        *counts.entry(finding.rule).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(rule, count)| format!("{} {count}", rule.name())).collect();
    format!("findings in the baseline: {}", counts.join(", "))
}
