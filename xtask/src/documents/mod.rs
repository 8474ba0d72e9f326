//! The documents: every link leads somewhere, every page is in the book, and every dependency has its reason.

mod markdown;
mod register;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::checks::CheckResult;
use crate::workspace::{Workspace, WorkspaceError, read, text_files};
use markdown::{anchors, links};

/// The folder of the pages that the book has.
const PAGES: &str = "docs";
/// The table of contents of the book.
const CONTENTS: &str = "docs/SUMMARY.md";
/// The endings of the files that sources and settings name by their path.
const NAMED_ENDINGS: [&str; 3] = [".md", ".toml", ".sql"];

/// Finds broken links, pages that the book lacks, and dependencies without a reason.
pub(crate) fn check(workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
    let texts = read_texts(&workspace.root)?;
    let pages: BTreeMap<&Path, &str> = texts
        .iter()
        .filter(|(path, _)| path.extension().is_some_and(|end| end == "md"))
        .map(|(path, text)| (path.as_path(), text.as_str()))
        .collect();
    let mut faults = Vec::new();
    for (page, text) in &pages {
        faults.extend(links(text).filter_map(|(line, link)| {
            let fault = link_fault(&workspace.root, &pages, page, link)?;
            Some(format!("{}:{line}: {fault}", page.display()))
        }));
    }
    faults.extend(unlisted_pages(&pages));
    for (path, text) in &texts {
        faults.extend(absent_files(&workspace.root, path, text));
    }
    let dependencies = register::check(workspace, &mut faults)?;
    let summary = format!("{} pages, {dependencies} dependencies", pages.len());
    Ok(CheckResult::new(faults, summary))
}

/// Returns the texts of the workspace by their paths in it.
fn read_texts(root: &Path) -> Result<BTreeMap<PathBuf, String>, WorkspaceError> {
    let with_text = |path: PathBuf| {
        let text = read(&path)?;
        Ok((path.strip_prefix(root).unwrap_or(&path).to_owned(), text))
    };
    text_files(root)?.into_iter().map(with_text).collect()
}

/// Returns the reason why a link of `page` leads nowhere.
fn link_fault(root: &Path, pages: &BTreeMap<&Path, &str>, page: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { page.to_owned() } else { joined(page.parent().unwrap_or(page), file) };
    if !root.join(&target).exists() && !pages.contains_key(target.as_path()) {
        return Some(format!("the link `{link}` leads to no file"));
    }
    let has_anchor = |text: &&str| anchors(text).contains(anchor);
    let is_found = anchor.is_empty() || pages.get(target.as_path()).is_none_or(has_anchor);
    (!is_found).then(|| format!("the link `{link}` leads to no heading"))
}

/// Joins a folder and a relative path, without `..` in the result.
fn joined(folder: &Path, link: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// Finds pages that the table of contents does not link: the book leaves them out.
fn unlisted_pages(pages: &BTreeMap<&Path, &str>) -> Vec<String> {
    let contents = pages.get(Path::new(CONTENTS)).copied().unwrap_or_default();
    let listed: BTreeSet<PathBuf> = links(contents).map(|(_, link)| joined(Path::new(PAGES), link)).collect();
    let is_unlisted =
        |page: &&&Path| page.starts_with(PAGES) && **page != Path::new(CONTENTS) && !listed.contains(**page);
    pages
        .keys()
        .filter(is_unlisted)
        .map(|page| format!("{}: {CONTENTS} does not list it", page.display()))
        .collect()
}

/// Finds names of documents that do not exist.
fn absent_files(root: &Path, path: &Path, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for (start, _) in line.match_indices("docs/") {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
            let name = line[start..].split(|letter: char| !is_name(letter)).next().unwrap_or_default();
            let name = name.trim_end_matches('.');
            if NAMED_ENDINGS.iter().any(|end| name.ends_with(end)) && !root.join(name).exists() {
                faults.push(format!("{}:{number}: there is no {name}", path.display()));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    // In parts, because this file is checked too.
    const ONE: &str = concat!("docs", "/one.md");
    const TWO: &str = concat!("docs", "/more/two.md");

    fn faults_of(pages: &[(&str, &str)]) -> Vec<String> {
        let pages: BTreeMap<&Path, &str> =
            pages.iter().map(|(path, text)| (Path::new(*path), *text)).collect();
        let root = Path::new("/absent");
        pages
            .iter()
            .flat_map(|(page, text)| links(text).filter_map(|(_, link)| link_fault(root, &pages, page, link)))
            .chain(unlisted_pages(&pages))
            .collect()
    }

    #[test]
    fn good_links_lead_to_files_and_headings() {
        let book = "[one](one.md) [two](more/two.md) [all](../README.md)";
        let one = "# One thing\n[here](#one-thing) [two](more/two.md#part-2) [web](https://example.org/x.md)";
        let two = "## Part 2\n[one](../one.md)";
        let pages = [("docs/SUMMARY.md", book), (ONE, one), (TWO, two), ("README.md", "")];
        assert_eq!(faults_of(&pages), [""; 0]);
    }

    #[test]
    fn finds_links_that_lead_nowhere() {
        let one = "# One\n[a](two.md) [b](#two)";
        let found = faults_of(&[("docs/SUMMARY.md", "[one](one.md)"), (ONE, one)]);
        assert_eq!(found, ["the link `two.md` leads to no file", "the link `#two` leads to no heading"]);
    }

    #[test]
    fn finds_pages_that_the_book_lacks() {
        let found = faults_of(&[("docs/SUMMARY.md", ""), (ONE, ""), ("README.md", "")]);
        assert_eq!(found, [format!("{ONE}: docs/SUMMARY.md does not list it")]);
    }

    #[test]
    fn finds_names_of_absent_documents() {
        let name = ["docs", "/absent.md"].concat();
        let text = format!("// See {name}.\n//! `../{name}`, Part\nhttps://example.org/docs/absent");
        assert_eq!(absent_files(Path::new("/absent"), Path::new("a.rs"), &text).len(), 2);
    }
}
