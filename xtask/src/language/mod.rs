//! `cargo xtask language`: the rules of CONTRIBUTING for names and prose.
//!
//! | rule | fails on |
//! |---|---|
//! | `word` | a word of `language/words.txt` or a phrase of `language/phrases.txt`, except in one of `language/allowed.txt` |
//! | `type-name` | a type name of `language/types.txt` |
//! | `vague-name` | a binding, a field, a function or a module with a name of `language/names.txt` |
//! | `max-min` | names of limits that do not say max or min: `language/limits.txt` |
//! | `doc-opening` | rustdoc that begins with What, How, Where, Why, Which, Whether, When or Who |
//! | `doc-width` | a line of rustdoc or of a document that has more than 120 columns |
//! | `doc-noise` | rustdoc of a field in at most three words that only repeats its name |
//! | `duplicate-type` | a type name that is defined more than once outside tests and mirrored folders |
//!
//! `language.baseline` has the number of findings that are tolerated. It only shrinks.

mod baseline;
mod docs;
mod findings;
mod names;
mod types;
mod words;

use std::path::Path;

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, read, text_files};
use baseline::LanguageBaseline;
use findings::LanguageFinding;

pub(crate) use docs::{has_interrogative_opening, rustdoc_openings};
pub(crate) use types::type_definitions;

/// Checks the language of every text of the workspace against the baseline.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let findings = findings(workspace)?;
    let baseline = LanguageBaseline::load(&workspace.root)?;
    let mut result = CheckResult::new(baseline.exceeded(&findings), findings::summary(&findings));
    result.notes = baseline.unused(&findings);
    Ok(result)
}

/// Returns every finding, one per line, tolerated or not.
pub(crate) fn list(workspace: &Workspace) -> Result<String, WorkspaceError> {
    let findings = findings(workspace)?;
    let lines = findings.iter().map(|finding| format!("{} {}\n", finding.rule.name(), finding.text));
    Ok(lines.collect())
}

/// Replaces the baseline by today's findings, unless the findings of a rule have become more.
pub(crate) fn update(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let findings = findings(workspace)?;
    let (old, new) = (LanguageBaseline::load(&workspace.root)?, LanguageBaseline::of_findings(&findings));
    let faults = old.grown_rules(&new);
    if faults.is_empty() {
        new.save(&workspace.root)?;
    }
    Ok(CheckResult::new(faults, findings::summary(&findings)))
}

fn findings(workspace: &Workspace) -> Result<Vec<LanguageFinding>, WorkspaceError> {
    let mut findings = Vec::new();
    for path in text_files(&workspace.root)? {
        let shown = path.strip_prefix(&workspace.root).unwrap_or(&path).to_string_lossy().into_owned();
        let text = read(&path)?;
        findings.extend(words::banned_words(&shown, &text));
        findings.extend(words::banned_phrases(&shown, &text));
        findings.extend(words::limit_names(&shown, &text));
        findings.extend(docs::wide_lines(&shown, &text));
        if Path::new(&shown).extension().is_some_and(|end| end == "rs") {
            findings.extend(docs::interrogative_openings(&shown, &text));
            findings.extend(docs::repeated_names(&shown, &text));
            findings.extend(types::banned_names(&shown, &text));
            findings.extend(names::vague_names(&shown, &text));
        }
    }
    findings.extend(types::duplicates(&types::workspace_types(workspace)?));
    Ok(findings)
}
