//! `cargo xtask CHECK`: the rules of this workspace that the compiler does not know.
//!
//! | check | fails on |
//! |---|---|
//! | `structure` | an arrow between crates that the plan forbids, an unknown crate, a cycle of modules |
//! | `unsafe` | `unsafe` outside the address that the plan gives a crate for it, or without its `SAFETY:` comment |
//! | `files` | a source file over 800 lines that is not a table |
//! | `language` | private words, vague names and unclear documentation, beyond the findings of `language.baseline` |
//! | `fields` | kernels of the fields of the curves that are not what their generator makes |
//! | `circuits` | an S-box circuit that is not the standard's S-box, or code that is not made from it |
//! | `kernels` | kernels of doubles that are not what their generator makes |
//! | `documents` | links that lead nowhere, pages that the book lacks, dependencies without a reason |
//! | `runs` | tests that are in no run of `.ci/tests`, and slow tests that do not exist |
//! | `check` | any of these |
//!
//! `cargo xtask language --update` rewrites the baseline, which only shrinks. `cargo xtask counts` prints the size and
//! the language of each crate. `cargo xtask sboxes [--inputs 2|3] [--rounds N] [--seed N]` searches for smaller
//! circuits and makes the code. `cargo xtask sbom [--target TARGET]` prints the bill of materials of the program.
//! `cargo xtask fma` and `cargo xtask fields --update` make the kernels of doubles. `cargo xtask kernel-test` tests the
//! kernel's TLS in a guest. `cargo xtask openssl` builds OpenSSL 4.0 as a peer of `oarlock speed`. `cargo xtask commits
//! [RANGE]` checks the commits of a range, by default those that the upstream does not have, else the last 20.
#![forbid(unsafe_code)]

mod checks;
mod commits;
mod counts;
mod documents;
mod fields;
mod files;
mod fma;
mod kernel_test;
mod language;
mod locks;
mod openssl;
mod plan;
mod runs;
mod sbom;
mod sboxes;
mod source;
mod structure;
mod unsafe_code;
mod workspace;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use checks::CheckResult;
use workspace::{Workspace, WorkspaceError};

const USAGE: &str =
    "usage: cargo xtask structure|unsafe|files|language|circuits|kernels|fields|documents|runs|locks|check [--manifest-path PATH]
       cargo xtask language --update|--list [--manifest-path PATH]
       cargo xtask fields --update [--manifest-path PATH]
       cargo xtask commits [RANGE]
       cargo xtask counts [--manifest-path PATH]
       cargo xtask sboxes [--inputs 2|3] [--rounds N] [--seed N]
       cargo xtask fma
       cargo xtask sbom [--target TARGET]
       cargo xtask kernel-test
       cargo xtask openssl";

fn main() -> ExitCode {
    let command = match parse_command(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(reason) => {
            eprintln!("xtask: {reason}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(3)
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum XtaskCommand {
    Check { checks: Vec<CheckKind>, manifest: Option<PathBuf> },
    Commits { range: Option<String> },
    UpdateLanguage { manifest: Option<PathBuf> },
    ListLanguage { manifest: Option<PathBuf> },
    UpdateFields { manifest: Option<PathBuf> },
    Counts { manifest: Option<PathBuf> },
    Sboxes { inputs: Option<u64>, rounds: usize, seed: u64 },
    Fma,
    Sbom { target: Option<String> },
    KernelTest,
    Openssl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckKind {
    Structure,
    Unsafe,
    Files,
    Language,
    Circuits,
    Kernels,
    Fields,
    Documents,
    Runs,
    Locks,
}

impl CheckKind {
    const ALL: [Self; 10] = [
        Self::Structure,
        Self::Unsafe,
        Self::Files,
        Self::Language,
        Self::Circuits,
        Self::Kernels,
        Self::Fields,
        Self::Documents,
        Self::Runs,
        Self::Locks,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Unsafe => "unsafe",
            Self::Files => "files",
            Self::Language => "language",
            Self::Circuits => "circuits",
            Self::Kernels => "kernels",
            Self::Fields => "fields",
            Self::Documents => "documents",
            Self::Runs => "runs",
            Self::Locks => "locks",
        }
    }

    fn run(self, workspace: &Workspace) -> Result<CheckResult, WorkspaceError> {
        match self {
            Self::Structure => structure::check(workspace),
            Self::Unsafe => unsafe_code::check(workspace),
            Self::Files => files::check(workspace),
            Self::Language => language::check(workspace),
            Self::Circuits => sboxes::check(workspace),
            Self::Kernels => fma::check(workspace),
            Self::Fields => fields::check(workspace),
            Self::Documents => documents::check(workspace),
            Self::Runs => runs::check(workspace),
            Self::Locks => locks::check(workspace),
        }
    }
}

fn parse_command(mut words: impl Iterator<Item = String>) -> Result<XtaskCommand, String> {
    let name = words.next().ok_or("no command given")?;
    let mut words = words.peekable();
    if name == "sboxes" {
        return parse_search(words);
    }
    if name == "commits" {
        return match (words.next(), words.next()) {
            (range, None) => Ok(XtaskCommand::Commits { range }),
            (_, Some(extra)) => Err(format!("unexpected `{extra}`")),
        };
    }
    if name == "sbom" {
        return match (words.next().as_deref(), words.next(), words.next()) {
            (None, ..) => Ok(XtaskCommand::Sbom { target: None }),
            (Some("--target"), Some(target), None) => Ok(XtaskCommand::Sbom { target: Some(target) }),
            _ => Err("`sbom` takes `--target TARGET` and nothing else".into()),
        };
    }
    let is_update =
        matches!(name.as_str(), "language" | "fields") && words.next_if(|word| word == "--update").is_some();
    let is_list = name == "language" && words.next_if(|word| word == "--list").is_some();
    let manifest = match (words.next().as_deref(), words.next()) {
        (None, _) => None,
        (Some("--manifest-path"), Some(path)) => Some(PathBuf::from(path)),
        (Some("--manifest-path"), None) => return Err("`--manifest-path` needs a path".into()),
        (Some(other), _) => return Err(format!("unexpected `{other}`")),
    };
    if let Some(extra) = words.next() {
        return Err(format!("unexpected `{extra}`"));
    }
    match (is_update, is_list) {
        (true, true) => return Err("`--update` and `--list` exclude each other".into()),
        (true, false) if name == "fields" => return Ok(XtaskCommand::UpdateFields { manifest }),
        (true, false) => return Ok(XtaskCommand::UpdateLanguage { manifest }),
        (false, true) => return Ok(XtaskCommand::ListLanguage { manifest }),
        (false, false) => {}
    }
    let checks = match name.as_str() {
        "fma" => return Ok(XtaskCommand::Fma),
        "kernel-test" => return Ok(XtaskCommand::KernelTest),
        "openssl" => return Ok(XtaskCommand::Openssl),
        "counts" => return Ok(XtaskCommand::Counts { manifest }),
        "check" => CheckKind::ALL.to_vec(),
        name => CheckKind::ALL.into_iter().filter(|check| check.name() == name).collect(),
    };
    if checks.is_empty() {
        return Err(format!("there is no command `{name}`"));
    }
    Ok(XtaskCommand::Check { checks, manifest })
}

fn parse_search(mut words: impl Iterator<Item = String>) -> Result<XtaskCommand, String> {
    let (mut inputs, mut rounds, mut seed) = (None, 0, 1);
    while let Some(word) = words.next() {
        let number = words.next().and_then(|number| number.parse().ok());
        let number: u64 = number.ok_or_else(|| format!("`{word}` needs a number"))?;
        match word.as_str() {
            "--rounds" => rounds = usize::try_from(number).map_err(|_| "too many rounds")?,
            "--seed" => seed = number,
            "--inputs" if matches!(number, 2 | 3) => inputs = Some(number),
            "--inputs" => return Err(format!("`--inputs` is 2 or 3, not {number}")),
            _ => return Err(format!("unexpected `{word}`")),
        }
    }
    Ok(XtaskCommand::Sboxes { inputs, rounds, seed })
}

/// Runs a command. False if a check fails.
fn run(command: XtaskCommand) -> Result<bool, Box<dyn Error>> {
    match command {
        XtaskCommand::Check { checks, manifest } => {
            let workspace = Workspace::load(manifest)?;
            let mut is_passed = true;
            for check in checks {
                let result = check.run(&workspace)?;
                result.print(check.name());
                is_passed &= result.is_passed();
            }
            Ok(is_passed)
        }
        XtaskCommand::Commits { range } => {
            let result = commits::check(range.as_deref())?;
            result.print("commits");
            Ok(result.is_passed())
        }
        XtaskCommand::UpdateLanguage { manifest } => {
            let result = language::update(&Workspace::load(manifest)?)?;
            result.print("language");
            Ok(result.is_passed())
        }
        XtaskCommand::ListLanguage { manifest } => {
            print!("{}", language::list(&Workspace::load(manifest)?)?);
            Ok(true)
        }
        XtaskCommand::UpdateFields { manifest } => {
            fields::update(&Workspace::load(manifest)?)?;
            Ok(true)
        }
        XtaskCommand::Counts { manifest } => {
            println!("{}", counts::table(&Workspace::load(manifest)?)?);
            Ok(true)
        }
        XtaskCommand::Sboxes { inputs, rounds, seed } => {
            sboxes::search(&Workspace::load(None)?, inputs, rounds, seed)?;
            Ok(true)
        }
        XtaskCommand::Fma => {
            fma::update(&Workspace::load(None)?)?;
            Ok(true)
        }
        XtaskCommand::Sbom { target } => {
            print!("{}", sbom::document(target.as_deref())?);
            Ok(true)
        }
        XtaskCommand::KernelTest => Ok(kernel_test::run()?),
        XtaskCommand::Openssl => {
            println!("openssl: oarlock speed --libcrypto {}", openssl::build()?.display());
            Ok(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<XtaskCommand, String> {
        parse_command(line.split_whitespace().map(ToOwned::to_owned))
    }

    #[test]
    fn understands_every_command() {
        let all = XtaskCommand::Check { checks: CheckKind::ALL.to_vec(), manifest: None };
        assert_eq!(parsed("check"), Ok(all));
        for check in CheckKind::ALL {
            let manifest = Some(PathBuf::from("a/Cargo.toml"));
            let line = format!("{} --manifest-path a/Cargo.toml", check.name());
            assert_eq!(parsed(&line), Ok(XtaskCommand::Check { checks: vec![check], manifest }));
        }
        assert_eq!(parsed("language --update"), Ok(XtaskCommand::UpdateLanguage { manifest: None }));
        assert_eq!(parsed("language --list"), Ok(XtaskCommand::ListLanguage { manifest: None }));
        assert_eq!(parsed("fields --update"), Ok(XtaskCommand::UpdateFields { manifest: None }));
        assert_eq!(parsed("commits"), Ok(XtaskCommand::Commits { range: None }));
        let range = Some("main..".to_owned());
        assert_eq!(parsed("commits main.."), Ok(XtaskCommand::Commits { range }));
        assert_eq!(parsed("counts"), Ok(XtaskCommand::Counts { manifest: None }));
        assert_eq!(parsed("fma"), Ok(XtaskCommand::Fma));
        assert_eq!(parsed("sbom"), Ok(XtaskCommand::Sbom { target: None }));
        let target = Some("aarch64-unknown-linux-gnu".to_owned());
        assert_eq!(parsed("sbom --target aarch64-unknown-linux-gnu"), Ok(XtaskCommand::Sbom { target }));
        assert_eq!(parsed("kernel-test"), Ok(XtaskCommand::KernelTest));
        assert_eq!(parsed("openssl"), Ok(XtaskCommand::Openssl));
        let all = XtaskCommand::Sboxes { inputs: None, rounds: 0, seed: 7 };
        assert_eq!(parsed("sboxes --seed 7"), Ok(all));
        let two = XtaskCommand::Sboxes { inputs: Some(2), rounds: 3, seed: 1 };
        assert_eq!(parsed("sboxes --inputs 2 --rounds 3"), Ok(two));
    }

    #[test]
    fn rejects_everything_else() {
        for line in [
            "",
            "strucure",
            "files --update",
            "check --manifest-path",
            "check a b",
            "commits a b",
            "sboxes --seed",
            "sbom --target",
            "sbom --target a b",
            "sbom x",
            "sboxes -x 1",
            "sboxes --inputs 4",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
