//! `cargo xtask counts`: the size and the language of each crate, as a table.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::{has_interrogative_opening, rustdoc_openings, type_definitions};
use crate::source::{SourceFile, shipped_sources};
use crate::structure::largest_cycle;
use crate::workspace::{Workspace, WorkspaceError, is_generated};

/// The figures of one crate, without its tests.
#[derive(Debug, Default)]
struct CrateCounts {
    lines: usize,
    doc_comments: usize,
    interrogative_docs: usize,
    inline_comments: usize,
    type_names: Vec<String>,
    largest_cycle: usize,
}

impl CrateCounts {
    fn add_source(&mut self, source: &SourceFile) {
        self.lines += source.lines().count();
        for (_, opening) in rustdoc_openings(source.lines()) {
            self.doc_comments += 1;
            self.interrogative_docs += usize::from(has_interrogative_opening(opening));
        }
        self.inline_comments += source.lines().filter(|(_, line)| is_inline_comment(line)).count();
        let types = type_definitions("", &source.tokens);
        self.type_names.extend(types.into_iter().map(|definition| definition.name));
    }

    fn add_crate(&mut self, other: &Self) {
        self.lines += other.lines;
        self.doc_comments += other.doc_comments;
        self.interrogative_docs += other.interrogative_docs;
        self.inline_comments += other.inline_comments;
        self.type_names.extend(other.type_names.iter().cloned());
        self.largest_cycle = self.largest_cycle.max(other.largest_cycle);
    }

    fn row(&self, name: &str, definitions: &BTreeMap<String, usize>) -> String {
        let distinct: BTreeSet<&String> = self.type_names.iter().collect();
        let duplicated =
            distinct.iter().filter(|name| definitions.get(**name).is_some_and(|count| *count > 1));
        let mut lens: Vec<usize> = distinct.iter().map(|name| name.len()).collect();
        lens.sort_unstable();
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.lines,
            self.doc_comments,
            percent(self.interrogative_docs, self.doc_comments),
            percent(self.inline_comments, self.lines),
            distinct.len(),
            duplicated.count(),
            lens.get(lens.len() / 2).copied().unwrap_or(0),
            self.largest_cycle
        )
    }
}

const HEAD: &str = "\
| crate | source lines | doc comments | begin with a question | inline comments | type names | defined twice | \
median length | largest cycle |
|---|---|---|---|---|---|---|---|---|";

/// Returns the table of all crates, without generated files. "Defined twice" counts names with another definition
/// anywhere in the workspace.
pub(crate) fn table(workspace: &Workspace) -> Result<String, WorkspaceError> {
    let mut crates = Vec::new();
    for member in &workspace.packages {
        let mut counts = CrateCounts { largest_cycle: largest_cycle(member)?, ..CrateCounts::default() };
        shipped_sources(member)?
            .iter()
            .filter(|source| !is_generated(&source.path))
            .for_each(|source| counts.add_source(source));
        crates.push((member.name.as_str(), counts));
    }
    let mut total = CrateCounts::default();
    crates.iter().for_each(|(_, counts)| total.add_crate(counts));
    let mut definitions = BTreeMap::new();
    for name in &total.type_names {
        *definitions.entry(name.clone()).or_insert(0) += 1;
    }
    crates.push(("all", total));
    let rows: Vec<String> = crates.iter().map(|(name, counts)| counts.row(name, &definitions)).collect();
    Ok(format!("{HEAD}\n{}", rows.join("\n")))
}

/// True for a comment that stands in a line of its own and is no rustdoc.
fn is_inline_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "-".into() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_comments_and_distinct_names() {
        let counts = CrateCounts {
            lines: 200,
            doc_comments: 50,
            interrogative_docs: 1,
            inline_comments: 7,
            type_names: ["KeyUse", "KeyUse", "Job"].map(ToOwned::to_owned).to_vec(),
            largest_cycle: 3,
        };
        let definitions = BTreeMap::from([("KeyUse".to_owned(), 2), ("Job".to_owned(), 1)]);
        assert_eq!(counts.row("core", &definitions), "| core | 200 | 50 | 2.0 % | 3.5 % | 2 | 1 | 6 | 3 |");
        assert!(is_inline_comment("    // because"));
        assert!(!is_inline_comment("    /// Returns.") && !is_inline_comment("let a = 1; // one"));
        assert_eq!(percent(0, 0), "-");
    }
}
