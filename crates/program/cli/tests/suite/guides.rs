//! The guides of docs/guides, run as a user would run them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use crate::guide::{run_guide, shell_blocks, unprinted_lines};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/guides");
const GUIDES: [&str; 7] = [
    "check-zones.md",
    "cryptoserver.md",
    "post-quantum.md",
    "resolvers.md",
    "sign-mail.md",
    "tls-proxy.md",
    "tls-servers.md",
];

fn check_guide(name: &str) {
    let run = run_guide(name, &fs::read_to_string(Path::new(DIRECTORY).join(name)).unwrap());
    for reason in &run.skipped {
        println!("{reason}");
    }
    assert!(run.faults.is_empty(), "{}", run.faults.join("\n"));
}

#[test]
fn zones_are_checked_as_the_guide_says() {
    check_guide("check-zones.md");
}

#[test]
fn a_cryptoserver_runs_as_the_guide_says() {
    check_guide("cryptoserver.md");
}

#[test]
fn servers_become_post_quantum_as_the_guide_says() {
    check_guide("post-quantum.md");
}

#[test]
fn resolvers_validate_as_the_guide_says() {
    check_guide("resolvers.md");
}

#[test]
fn mail_is_signed_as_the_guide_says() {
    check_guide("sign-mail.md");
}

#[test]
fn the_proxy_serves_two_servers_as_the_guide_says() {
    check_guide("tls-proxy.md");
}

#[test]
fn tls_servers_are_accelerated_as_the_guide_says() {
    check_guide("tls-servers.md");
}

#[test]
fn every_guide_with_commands_is_run() {
    let mut found = Vec::new();
    for entry in fs::read_dir(DIRECTORY).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // A block within a list would be missed.
        assert_eq!(shell_blocks(&text).len(), text.matches("```sh\n").count(), "{name}");
        found.extend(text.contains("```sh\n").then_some(name));
    }
    found.sort();
    assert_eq!(found, GUIDES);
}

#[test]
fn a_failing_block_is_reported_with_its_commands_and_output() {
    let run =
        run_guide("a.md", "```sh\necho one\n```\n```sh\necho two\nfalse\n```\n```sh\necho three\n```\n");
    assert_eq!(run.faults, ["a.md:4: failed:\necho two\nfalse\ntwo\n"]);
}

#[test]
fn blocks_share_a_directory_and_the_variables_of_a_shell() {
    let run = run_guide(
        "a.md",
        "```sh\ncolour=red\necho file > file\n```\n```sh\necho $colour; cat file\n```\n```text\nred\nfile\n```\n",
    );
    assert_eq!((run.faults, run.skipped), (Vec::new(), Vec::new()));
}

#[test]
fn processes_that_a_guide_leaves_behind_end() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let held = pipe.clone();
    // A pipe is read to its end when no process holds it any more.
    let reader = thread::spawn(move || fs::read(held).unwrap());
    let commands = format!("exec 3> {}\nsleep infinity &\n", pipe.display());
    let run = run_guide("a.md", &format!("```sh\n{commands}```\n"));
    assert!(run.faults.is_empty(), "{:?}", run.faults);
    assert_eq!(reader.join().unwrap(), b"");
}

#[test]
fn a_block_that_needs_an_absent_program_is_skipped() {
    let run = run_guide("a.md", "```sh\ntrue\n```\n<!-- needs: sh no-such-program -->\n```sh\nfalse\n```\n");
    assert_eq!(run.skipped, ["SKIPPED: a.md:5: no-such-program is not installed"]);
    assert!(run.faults.is_empty(), "{:?}", run.faults);
}

#[test]
fn a_shown_line_that_is_not_printed_is_reported() {
    let run = run_guide("a.md", "```sh\necho done\n```\n\nThis prints:\n\n```text\nfinished\n```\n");
    assert_eq!(run.faults, ["a.md:1: shown, but not printed: finished\ndone\n"]);
}

#[test]
fn shown_lines_are_compared_without_numbers() {
    for (shown, printed) in [
        ("8 signatures in 0.03 s on 2 threads", "9 signatures in 1.5 s on 1 thread"),
        ("name   kind\n────\nweb    p256", "name kind\n──────────\nweb p384"),
        ("keys/K.+013+13251.private; 1,609 sets", "keys/K.+013+02.private; 8 sets"),
        ("good: 8 sets, ...", "bad\ngood: 3 sets, and more"),
        ("exit code 1", "exit code 1"),
    ] {
        assert_eq!(unprinted_lines(shown, printed), [""; 0], "{shown:?} {printed:?}");
    }
    for (shown, printed) in
        [("8 good", "8 bad"), ("exit code 1", "exit code 2"), ("good ...", "not good at all")]
    {
        assert_eq!(unprinted_lines(shown, printed), [shown]);
    }
}
