//! `cargo xtask commits`: the rules of CONTRIBUTING for commits.
//!
//! A subject has fewer than 70 characters, is `area: imperative` or a plain imperative, and is finished work. A change
//! of more than 50 lines says in its body why. Generated files, lock files and moves do not count.

use std::path::Path;
use std::process::Command;

use crate::checks::CheckResult;
use crate::workspace::is_generated;

const MAX_SUBJECT: usize = 69;
const MAX_LINES_WITHOUT_BODY: usize = 50;
/// The commits that are checked if the branch has no upstream.
const LAST: &str = "-20";
/// The start of a commit, and the end of each of its texts, in the output of git.
const START: char = '\u{1}';
const END: char = '\u{2}';

#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitsError {
    #[error("git cannot be started: {0}")]
    Start(#[from] std::io::Error),
    #[error("git log {range}: {reason}")]
    Git { range: String, reason: String },
}

/// A commit as the rules see it.
#[derive(Debug, Default)]
struct Commit {
    hash: String,
    subject: String,
    has_body: bool,
    changed_lines: usize,
}

/// Checks the commits of a range, or else those that the upstream of the branch does not have.
pub(crate) fn check(range: Option<&str>) -> Result<CheckResult, CommitsError> {
    let log = match range {
        Some(range) => read_log(range)?,
        None => read_log("@{upstream}..").or_else(|_| read_log(LAST))?,
    };
    let commits: Vec<Commit> = log.split(START).skip(1).filter_map(read_commit).collect();
    let faults = commits.iter().flat_map(|commit| {
        faults(commit)
            .into_iter()
            .map(move |fault| format!("{} {}\n    {fault}", commit.hash, commit.subject))
    });
    Ok(CheckResult::new(faults.collect(), format!("{} commits", commits.len())))
}

/// Asks git for subjects, bodies and changed lines. A moved file has only the lines that differ.
fn read_log(range: &str) -> Result<String, CommitsError> {
    let format = format!("--format={START}%h{END}%s{END}%b{END}");
    let output =
        Command::new("git").args(["log", "--no-merges", "--numstat", "-M", &format, range]).output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(CommitsError::Git { range: range.to_owned(), reason });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn read_commit(text: &str) -> Option<Commit> {
    let mut parts = text.splitn(4, END);
    let (hash, subject, body) = (parts.next()?, parts.next()?, parts.next()?);
    let changed_lines = parts.next()?.lines().filter_map(changed_lines).sum();
    let is_reason = |line: &str| !line.trim().is_empty() && !is_trailer(line);
    Some(Commit {
        hash: hash.to_owned(),
        subject: subject.to_owned(),
        has_body: body.lines().any(is_reason),
        changed_lines,
    })
}

/// True for a line such as `Signed-off-by: NAME`, which gives no reason.
fn is_trailer(line: &str) -> bool {
    line.split_once("-by: ")
        .is_some_and(|(start, _)| start.chars().all(|letter| letter.is_alphabetic() || letter == '-'))
}

/// Reads `ADDED TAB REMOVED TAB PATH`. Binary files have no numbers.
fn changed_lines(line: &str) -> Option<usize> {
    let [added, removed, path] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
    let path = Path::new(path);
    let is_made = is_generated(path)
        || ["lock", "sum", "s"].iter().any(|end| path.extension().is_some_and(|ending| ending == *end));
    let lines = added.parse::<usize>().ok()? + removed.parse::<usize>().ok()?;
    (!is_made).then_some(lines)
}

fn faults(commit: &Commit) -> Vec<String> {
    let mut faults = subject_faults(&commit.subject);
    if commit.changed_lines > MAX_LINES_WITHOUT_BODY && !commit.has_body {
        faults.push(format!("{} changed lines, and no body that says why", commit.changed_lines));
    }
    faults
}

fn subject_faults(subject: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let len = subject.chars().count();
    if len > MAX_SUBJECT {
        faults.push(format!("the subject has {len} characters, at most {MAX_SUBJECT}"));
    }
    let lower = subject.to_ascii_lowercase();
    let is_unfinished = |word: &str| ["wip", "fixup", "squash"].contains(&word);
    if lower.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_unfinished) {
        faults.push("the subject says that the work is not finished".to_owned());
    }
    let (area, action) = subject.split_once(": ").unwrap_or(("", subject));
    if !is_area(area) || (area.is_empty() && !action.starts_with(|letter: char| letter.is_uppercase())) {
        faults.push("expected `area: imperative` or a plain imperative with a capital".to_owned());
    }
    if is_report(action) {
        faults
            .push("the subject is not an imperative: say `add`, not `added`, `adds` or `adding`".to_owned());
    }
    faults
}

/// True for areas such as `dnssec` and `lanes, core`, and for none.
fn is_area(area: &str) -> bool {
    let is_of_name =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_./ ,".contains(letter);
    area.chars().all(is_of_name)
}

/// True if the first word says what was done, and not what to do.
fn is_report(action: &str) -> bool {
    const VERBS: [&str; 12] = [
        "add", "change", "correct", "fix", "improve", "make", "mov", "remov", "renam", "replac", "test",
        "updat",
    ];
    let first = action.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    let endings = ["ed", "es", "ing", "s"];
    VERBS.iter().any(|verb| first.strip_prefix(verb).is_some_and(|end| endings.contains(&end) || end == "d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_subjects_have_no_faults() {
        for subject in [
            "dnssec: refuse wildcard NS",
            "lanes, core: compute FF1 with numbers",
            "Move each crate to the folder of its layer",
            "cli: test that a loaded machine fits all costs",
        ] {
            assert_eq!(subject_faults(subject), [""; 0], "{subject}");
        }
    }

    #[test]
    fn finds_each_fault_of_a_subject() {
        let long = format!("dnssec: refuse {}", "x".repeat(60));
        for subject in [
            &*long,
            "wip",
            "WIP: dnssec: refuse",
            "fixup! dnssec: refuse wildcard NS",
            "refuse wildcard NS",
            "Dnssec: refuse wildcard NS",
            "dnssec: added wildcard NS",
            "Fixes wildcard NS",
        ] {
            assert!(!subject_faults(subject).is_empty(), "{subject}");
        }
        assert_eq!(subject_faults(&format!("dnssec: {}", "x".repeat(61))), [""; 0]);
    }

    #[test]
    fn large_changes_need_a_body() {
        let log = |body: &str, lines: &str| {
            let text = format!("abc{END}dnssec: refuse NS{END}{body}{END}\n\n{lines}\n");
            faults(&read_commit(&text).unwrap())
        };
        assert_eq!(log("", "40\t10\ta.rs"), [""; 0]);
        assert_eq!(log("", "40\t11\ta.rs"), ["51 changed lines, and no body that says why"]);
        assert_eq!(log("BIND refuses them too.", "40\t11\ta.rs"), [""; 0]);
        assert_eq!(log("Signed-off-by: A <a@b>", "40\t11\ta.rs").len(), 1);
        assert_eq!(
            log("", "99\t9\tCargo.lock\n99\t0\tsrc/generated/a.rs\n0\t0\t{a => b}/c.rs\n-\t-\ta.png"),
            [""; 0]
        );
    }
}
