//! The result of a check, and its report.

/// The findings of one check.
#[derive(Debug, Default)]
pub(crate) struct CheckResult {
    /// One text per broken rule. Any of them fails the check.
    pub(crate) faults: Vec<String>,
    /// Advice that does not fail the check.
    pub(crate) notes: Vec<String>,
    /// One line on what was checked.
    pub(crate) summary: String,
}

impl CheckResult {
    pub(crate) fn new(faults: Vec<String>, summary: String) -> Self {
        Self { faults, notes: Vec::new(), summary }
    }

    pub(crate) fn is_passed(&self) -> bool {
        self.faults.is_empty()
    }

    /// Prints the result of the check called `name`.
    pub(crate) fn print(&self, name: &str) {
        if self.is_passed() {
            println!("{name}: ok, {}", self.summary);
        } else {
            println!("{name}: {} broken", self.faults.len());
        }
        for line in self.faults.iter().chain(&self.notes).flat_map(|text| text.lines()) {
            println!("  {line}");
        }
    }
}
