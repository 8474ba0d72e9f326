//! Commands of the laboratory: `oarlock` hands them to `oarlock-lab` beside it. A script stands for the laboratory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::program::{code, oarlock, stderr, text};
use tempfile::TempDir;

/// A directory with the program, and perhaps with a laboratory beside it.
struct ProgramFolder(TempDir);

impl ProgramFolder {
    fn without_laboratory() -> Self {
        // In the directory of the build, so that a link is possible.
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_oarlock"), folder.path().join("oarlock")).unwrap();
        Self(folder)
    }

    /// Puts a script beside the program. It answers -V with these words, prints its arguments one by one, and exits
    /// with 41.
    fn with_laboratory(version: &str) -> Self {
        let folder = Self::without_laboratory();
        folder.write_laboratory(&format!(
            "#!/bin/sh\n[ \"$*\" = -V ] && {{ {version}; exit; }}\nprintf '<%s>' \"$@\"\nexit 41\n"
        ));
        folder
    }

    fn write_laboratory(&self, script: &str) {
        // A program that this process writes could not start while another test's child still holds it open.
        fs::write(self.path("script"), script).unwrap();
        let mut install = Command::new("install");
        let status =
            install.args(["-m", "755"]).args([self.path("script"), self.path("oarlock-lab")]).status();
        assert!(status.unwrap().success());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(self.path("oarlock")).args(arguments).output().unwrap()
    }
}

/// The version of the program, with the commit if the build knew it.
fn version() -> String {
    text(&oarlock(&["-V"])).trim_end().strip_prefix("oarlock ").unwrap().to_owned()
}

/// Every command of the laboratory, and the words before its errors.
const COMMANDS: [(&[&str], &str); 9] = [
    (&["ladder"], "ladder"),
    (&["latency"], "latency"),
    (&["bench"], "bench"),
    (&["sockets", "bench"], "sockets: bench"),
    (&["dkim", "bench"], "dkim: bench"),
    (&["dkim", "sign", "--compare", "mail"], "dkim: sign --compare"),
    (&["dkim", "verify", "--compare", "mail"], "dkim: verify --compare"),
    (&["dnssec", "bench"], "dnssec: bench"),
    (&["dnssec", "zonegen"], "dnssec: zonegen"),
];

#[test]
fn the_laboratory_gets_the_same_arguments_and_its_exit_code_is_passed_on() {
    let folder = ProgramFolder::with_laboratory(&format!("echo 'oarlock-lab {}'", version()));
    for (command, _) in COMMANDS {
        for (before, behind) in [
            (&[][..], &[][..]),
            (&["--json", "--engines", "scalar"], &["--turns", "2", "--plot", "a b.svg"]),
            (&["-v"], &["--json"]),
        ] {
            let arguments = [before, command, behind].concat();
            let output = folder.run(&arguments);
            let shown: String = arguments.iter().map(|argument| format!("<{argument}>")).collect();
            assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), shown, "{}", stderr(&output));
            assert_eq!((code(&output), &*stderr(&output)), (41, ""), "{arguments:?}");
        }
    }
    for arguments in [
        &["ladder", "--help"][..],
        &["bench", "tls", "-h"],
        &["latency", "-V"],
        &["bench", "--", "-x", ""],
        &["dkim", "bench", "--anything=at all", "-zq"],
    ] {
        let output = folder.run(arguments);
        let shown: String = arguments.iter().map(|argument| format!("<{argument}>")).collect();
        assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), shown, "{}", stderr(&output));
        assert_eq!(code(&output), 41, "{arguments:?}");
    }
}

#[test]
fn without_a_laboratory_each_command_says_where_it_comes_from() {
    let folder = ProgramFolder::without_laboratory();
    let program = folder.path("oarlock");
    for (command, words) in COMMANDS {
        let output = folder.run(command);
        let expected = format!(
            "oarlock: {words}: belongs to the laboratory, and oarlock-lab is not beside {}: build it with \"make lab\" in a \
             checkout of Oarlock\n",
            program.display()
        );
        assert_eq!((code(&output), &*stderr(&output)), (3, &*expected), "{command:?}");
        assert!(output.stdout.is_empty(), "{command:?}");
    }
    assert_eq!(code(&folder.run(&["ladder", "--help"])), 3);
}

#[test]
fn a_laboratory_of_another_version_is_refused() {
    for (answer, found) in [
        ("echo 'oarlock-lab 0.0.9 (0123456789ab)'", "version 0.0.9 (0123456789ab)"),
        ("echo \"oarlock-lab\"", "an unknown version (it does not answer -V)"),
        ("echo 'another program 1.0'", "an unknown version (it does not answer -V)"),
        ("exit 1", "an unknown version (it does not answer -V)"),
    ] {
        let folder = ProgramFolder::with_laboratory(answer);
        let output = folder.run(&["ladder"]);
        let said = stderr(&output);
        assert_eq!((code(&output), said.lines().count()), (3, 1), "{said}");
        let versions =
            format!("has {found}, while oarlock has version {}: build both with \"make lab\"", version());
        assert!(said.starts_with("oarlock: ladder: ") && said.contains(&versions), "{said}");
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn a_laboratory_that_cannot_start_is_refused() {
    let folder = ProgramFolder::without_laboratory();
    folder.write_laboratory("no program\n");
    fs::set_permissions(folder.path("oarlock-lab"), fs::Permissions::from_mode(0o644)).unwrap();
    let output = folder.run(&["ladder"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("does not answer -V"), "{}", stderr(&output));
}

#[test]
fn manual_pages_and_completions_need_no_laboratory() {
    let folder = ProgramFolder::without_laboratory();
    let pages = folder.path("pages");
    assert_eq!(code(&folder.run(&["man", pages.to_str().unwrap()])), 0);
    let page = fs::read_to_string(pages.join("oarlock-ladder.1")).unwrap();
    assert!(page.contains("(laboratory)"), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(text(&folder.run(&["completions", shell])).contains("ladder"));
    }
    let help = text(&folder.run(&["--help"]));
    assert!(help.contains("make lab"), "{help}");
}

#[test]
fn options_of_a_comparison_need_it() {
    for option in ["--plot", "--turns"] {
        let output =
            oarlock(&["dkim", "sign", option, "3", "--domain", "example.com", "--key", "s=k", "mail"]);
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("--compare"), "{}", stderr(&output));
    }
}
