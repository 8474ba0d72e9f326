//! The commands that documents name, compared with the manual pages of the program and the help of the laboratory.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{lab, oarlock, text};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The manual pages of all commands, by the words of a command: `dnssec-verify`.
struct ManualPages(BTreeMap<String, String>);

impl ManualPages {
    fn of_program() -> Self {
        let directory = tempfile::tempdir().unwrap();
        text(&oarlock(&["man"]).arg(directory.path()).output().unwrap());
        let mut pages = BTreeMap::new();
        for entry in fs::read_dir(directory.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let words = name.strip_prefix("oarlock").unwrap().trim_start_matches('-');
            pages.insert(words.to_owned(), fs::read_to_string(&path).unwrap().replace("\\-", "-"));
        }
        let of_laboratory: Vec<String> = pages
            .iter()
            .filter(|(_, page)| page.contains("\n[\\fIARGUMENTS\\fR]\n"))
            .map(|(path, _)| path.clone())
            .collect();
        assert!(of_laboratory.len() > 5, "{of_laboratory:?}");
        let mut pages = Self(pages);
        for path in of_laboratory {
            pages.add_help(&path);
        }
        pages
    }

    /// Replaces the page of a command by the help of the laboratory, and adds its subcommands.
    fn add_help(&mut self, path: &str) {
        let words: Vec<&str> = path.split('-').collect();
        let help = text(&lab(&[&words[..], &["--help"]].concat()));
        let options = help.lines().filter(|line| line.trim_start().starts_with('-'));
        let names = options.flat_map(|line| line.split_whitespace().filter_map(option_name));
        self.0.insert(path.to_owned(), names.map(|name| format!("{name}\\fR\n")).collect());
        let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        for line in commands.take_while(|line| !line.is_empty()) {
            let name = line.split_whitespace().next().unwrap();
            // Descriptions go on in lines that are indented further.
            if name != "help" && line.starts_with("  ") && !line.starts_with("   ") {
                self.add_help(&format!("{path}-{name}"));
            }
        }
    }

    /// Returns what is wrong with a command line, if anything is.
    fn fault(&self, line: &str) -> Option<String> {
        let mut path = String::new();
        for word in line.split_whitespace().skip(1) {
            let longer = if path.is_empty() { word.to_owned() } else { format!("{path}-{word}") };
            // Words that extend no command are options, their values, and arguments.
            if self.0.contains_key(&longer) {
                path = longer;
            }
        }
        // Only options of the program itself stand without a command.
        if path.is_empty() && !line.contains(" --") {
            return Some("no such command".to_owned());
        }
        let page = &self.0[&path];
        let options = line.split_whitespace().filter_map(option_name);
        let unknown: Vec<&str> = options.filter(|name| !page.contains(&format!("{name}\\fR"))).collect();
        (!unknown.is_empty()).then(|| format!("`oarlock {path}` has no {}", unknown.join(", ")))
    }
}

/// Returns the name of a long option: `--out` of `--out=FILE`.
fn option_name(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--")?;
    let end = name.find(|letter: char| letter != '-' && !letter.is_ascii_alphanumeric());
    Some(&word[..end.map_or(word.len(), |end| end + 2)]).filter(|name| name.len() > 2)
}

/// Returns the command lines of a document: those after a prompt in its blocks, and those in its sentences.
fn command_lines(markdown: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_block = false;
    for line in markdown.replace("\\\n", " ").lines().map(str::trim) {
        is_block ^= line.starts_with("```");
        let prompted = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# ")).filter(|_| is_block);
        let without_comment = prompted.map(|line| line.split(" # ").next().unwrap_or(line));
        let in_block = without_comment.into_iter().flat_map(|line| line.split(['|', ';', '&', '>']));
        let in_sentence = line.split('`').skip(1).step_by(2).filter(|_| !is_block);
        let all = in_block.chain(in_sentence).map(str::trim);
        lines.extend(all.filter(|line| line.starts_with("oarlock ")).map(str::to_owned));
    }
    lines
}

/// Returns the documents in a directory, and in those below it. Documents of mathematics name no commands.
fn documents(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("math") {
            found.extend(documents(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

#[test]
fn documents_name_commands_and_options_that_exist() {
    let pages = ManualPages::of_program();
    let mut files = documents(&Path::new(ROOT).join("docs"));
    files.extend(
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]
            .map(|name| Path::new(ROOT).join(name)),
    );
    let (mut faults, mut checked) = (Vec::new(), 0);
    for path in files {
        let lines = command_lines(&fs::read_to_string(&path).unwrap());
        checked += lines.len();
        let fault = |line: &String| Some(format!("{}: {line}: {}", path.display(), pages.fault(line)?));
        faults.extend(lines.iter().filter_map(fault));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 100, "{checked} command lines: most were not found");
}

#[test]
fn a_wrong_command_or_option_is_found() {
    let pages = ManualPages::of_program();
    for (line, fault) in [
        ("oarlock dnssec verify --now 20260601000000 zone", None),
        ("oarlock --engines lanes dkim bench", None),
        ("oarlock bench tls --rows nginx-p256", None),
        ("oarlock bench tls --row nginx-p256", Some("`oarlock bench-tls` has no --row")),
        ("oarlock ladder --cipher des", None),
        ("oarlock ladder --sypher des", Some("`oarlock ladder` has no --sypher")),
        ("oarlock call --server s sign --key k --out=f", None),
        ("oarlock verify zone", Some("no such command")),
        ("oarlock dnssec verify --nov 1 zone", Some("`oarlock dnssec-verify` has no --nov")),
        ("oarlock call --key k keys", Some("`oarlock call-keys` has no --key")),
    ] {
        assert_eq!(pages.fault(line).as_deref(), fault, "{line}");
    }
}

#[test]
fn command_lines_come_from_blocks_and_sentences() {
    let markdown = "Run `oarlock serve` now.\n```console\n$ echo a | oarlock call mac \\\n  --hex > b   # c\noarlock: done\n```\n";
    assert_eq!(command_lines(markdown), ["oarlock serve", "oarlock call mac    --hex"]);
}
