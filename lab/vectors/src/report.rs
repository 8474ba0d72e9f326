//! The findings of a suite: counts per file, the reasons of skipped cases, and a text for each failure.

use std::collections::BTreeMap;
use std::fmt;

/// The findings of a whole run.
#[derive(Clone, Debug, Default)]
pub struct SuiteReport {
    /// One entry per file or property.
    pub files: Vec<FileReport>,
}

/// The findings of one file or property.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// The file's name, or the property and shape.
    pub name: String,
    /// The number of cases that passed.
    pub passed: usize,
    /// The number of cases that were not run, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// One text for each failure.
    pub failures: Vec<String>,
}

impl SuiteReport {
    /// Counts the cases that passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.files.iter().map(|file| file.passed).sum()
    }

    /// Counts the cases that failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.files.iter().map(|file| file.failures.len()).sum()
    }

    /// Counts the cases that were not run.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.files.iter().flat_map(|file| file.skipped.values()).sum()
    }

    /// Appends the findings of `other`.
    pub fn append(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
    }

    /// Prints the table, and fails the test if a case failed or none passed.
    ///
    /// # Panics
    /// A case failed, or the run tested nothing.
    #[track_caller]
    pub fn assert_clean(&self) {
        println!("{self}");
        assert!(self.failed() == 0, "{} cases failed:\n{}", self.failed(), self.first_failures());
        assert!(self.passed() > 0, "no case was run");
    }

    fn first_failures(&self) -> String {
        let named =
            self.files.iter().flat_map(|file| file.failures.iter().map(move |what| (&file.name, what)));
        named.take(40).map(|(name, what)| format!("  {name}: {what}\n")).collect()
    }
}

impl FileReport {
    /// Makes an empty report.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Counts a case that was not run.
    pub fn skip(&mut self, reason: impl Into<String>, cases: usize) {
        if cases > 0 {
            *self.skipped.entry(reason.into()).or_default() += cases;
        }
    }

    /// Counts a case that was run.
    pub fn count(&mut self, verdict: Result<(), String>) {
        match verdict {
            Ok(()) => self.passed += 1,
            Err(what) => self.failures.push(what),
        }
    }
}

impl fmt::Display for SuiteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            writeln!(f, "{file}")?;
        }
        write!(f, "{} passed, {} failed, {} skipped", self.passed(), self.failed(), self.skipped())
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:44} {:6} passed", self.name, self.passed)?;
        if !self.failures.is_empty() {
            write!(f, ", {} FAILED", self.failures.len())?;
        }
        for (reason, cases) in &self.skipped {
            write!(f, ", {cases} skipped ({reason})")?;
        }
        Ok(())
    }
}
