//! Completions, manual pages, the version, `make install`, and the package that `make deb` makes of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::program::{code, oarlock, stderr};

fn text(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// True if a program is installed; prints SKIPPED if not.
fn has(program: &str, arguments: &[&str]) -> bool {
    let run = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    run.map_err(|error| println!("SKIPPED: what {program} says: {error}")).is_ok()
}

#[test]
fn shells_can_read_their_completions() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, checked) in
        [("bash", true), ("zsh", true), ("fish", true), ("elvish", false), ("powershell", false)]
    {
        let script = text(&oarlock(&["completions", shell]));
        for word in ["capacity", "seal", "translate", "encoding"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        let path = folder.path().join(shell);
        fs::write(&path, script).unwrap();
        if checked && has(shell, &["--version"]) {
            let read = Command::new(shell).arg("-n").arg(&path).output().unwrap();
            assert!(read.status.success() && read.stderr.is_empty(), "{shell}: {}", stderr(&read));
        }
    }
    let unknown = oarlock(&["completions", "tcsh"]);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("bash, elvish, fish"), "{}", stderr(&unknown));
}

#[test]
fn bash_completes_commands_and_options() {
    if !has("bash", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("oarlock");
    fs::write(&script, text(&oarlock(&["completions", "bash"]))).unwrap();
    let complete = |words: &str, last: usize| {
        let script = format!(
            ". {}\nCOMP_WORDS=({words}); COMP_CWORD={last}\n_oarlock oarlock \"${{COMP_WORDS[{last}]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let output = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(complete("oarlock mil", 1), BTreeSet::from(["milter".to_owned()]));
    assert!(complete("oarlock call se", 2).contains("seal"));
    assert!(complete("oarlock records decrypt --dr", 3).contains("--drop-iv"));
}

/// Returns the commands that the program's own help lists, with the words before them. `--help` would be that of the
/// laboratory for some of them.
fn commands(words: &[&str]) -> Vec<String> {
    let help = text(&oarlock(&[&["help"], words].concat()));
    // The program lists its commands in groups, before its options.
    let list = match words {
        [] => help
            .split_once("Services:\n")
            .and_then(|(_, list)| list.split_once("Global options:\n"))
            .map(|(list, _)| list),
        _ => help.split_once("Commands:\n").and_then(|(_, list)| list.split("\n\n").next()),
    };
    let lines = list.into_iter().flat_map(str::lines).filter(|line| line.starts_with("  "));
    lines
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Adds the pages of a command and of all commands below it.
fn add_pages(path: &[&str], pages: &mut BTreeSet<String>) {
    pages.insert(format!("{}.1", [&["oarlock"], path].concat().join("-")));
    commands(path).iter().for_each(|command| add_pages(&[path, &[command]].concat(), pages));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    text(&oarlock(&["man", pages.to_str().unwrap()]));
    let mut expected = BTreeSet::new();
    add_pages(&[], &mut expected);
    assert!(expected.contains("oarlock-records-encrypt.1"), "{expected:?}");
    assert_eq!(names(&pages), expected);
    let page = fs::read_to_string(pages.join("oarlock-records-decrypt.1")).unwrap();
    assert!(page.contains("drop\\-iv") && page.contains(".TH oarlock-records-decrypt 1"), "{page}");
    let page = fs::read_to_string(pages.join("oarlock-milter.1")).unwrap();
    assert!(!page.contains("EXTRA"), "{page}");
    let mut rest = page.as_str();
    let sections = [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "\"EXIT STATUS\"",
        "FILES",
        "SIGNALS",
        "NOTES",
        "EXAMPLES",
    ];
    for section in sections.into_iter().chain(["\"SEE ALSO\""]) {
        let title = format!("\n.SH {section}\n");
        let (_, after) =
            rest.split_once(&title).unwrap_or_else(|| panic!("{section} is not in order: {page}"));
        rest = after;
    }
    assert!(rest.contains("oarlock(1)"), "{rest}");
    // The page of a command lacks options without effect, as its help does.
    let keys = fs::read_to_string(pages.join("oarlock-keys-list.1")).unwrap();
    assert!(!keys.contains("engines") && keys.contains("json"), "{keys}");
    if has("mandoc", &["-T", "lint", pages.join("oarlock.1").to_str().unwrap()]) {
        let paths: Vec<PathBuf> = expected.iter().map(|name| pages.join(name)).collect();
        let lint = Command::new("mandoc").args(["-T", "lint", "-W", "error"]).args(paths).output().unwrap();
        assert!(lint.status.success(), "{}", String::from_utf8_lossy(&lint.stdout));
    }
    let refused = oarlock(&["man", "/dev/null/man1"]);
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("cannot write /dev/null/man1"), "{}", stderr(&refused));
}

#[test]
fn the_version_names_the_commit() {
    let long = text(&oarlock(&["--version"]));
    let version = text(&oarlock(&["-V"]));
    assert_eq!(long.lines().next(), Some(version.trim_end()));
    let expected = concat!("oarlock ", env!("CARGO_PKG_VERSION"));
    let rest = version.trim_end().strip_prefix(expected).unwrap_or_else(|| panic!("{version}"));
    let head = Command::new("git")
        .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."), "rev-parse", "HEAD"])
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success());
    match head {
        // The program may have been built before the last commit, so its commit is not compared.
        Some(_) if !rest.is_empty() => {
            let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).unwrap();
            assert!(commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{version}");
        }
        _ => println!("SKIPPED: the commit in the version: these sources are in no repository"),
    }
    assert_eq!(
        text(&oarlock(&["records", "-V"])).trim_end(),
        version.replace("oarlock ", "oarlock-records ").trim_end()
    );
}

#[test]
fn the_version_names_target_features_engines_and_leaves() {
    let version = text(&oarlock(&["--version"]));
    let value = |name: &str| {
        let line = version.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no line {name}: {version}")).to_owned()
    };
    assert!(value("target").starts_with(std::env::consts::ARCH), "{version}");
    assert_eq!(value("features"), "none");
    assert_eq!(value("engines"), oarlock::KNOWN_ENGINES.join(", "));
    assert_eq!(value("leaves"), oarlock::engine_api::known_leaves().join(", "));
    assert!(!value("leaves").is_empty(), "{version}");
    assert_eq!(version.lines().count(), 5, "{version}");
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Runs `make GOAL` in this workspace, with the tested program instead of a new build.
fn make(goal: &str, destination: &Path) -> Option<Output> {
    let run = Command::new("make")
        .args(["--silent", "--old-file=build", goal, "PREFIX=/usr"])
        .arg(format!("BINARY={}", env!("CARGO_BIN_EXE_oarlock")))
        .arg(format!("DESTDIR={}", destination.display()))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .output();
    run.map_err(|error| println!("SKIPPED: make {goal}: {error}")).ok()
}

fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path);
        }
    }
    found
}

#[test]
fn make_install_is_complete_and_make_uninstall_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(installed) = make("install", folder.path()) else { return };
    assert_eq!(code(&installed), 0, "{}", stderr(&installed));
    let at = |path: &str| folder.path().join("usr").join(path);
    let version = Command::new(at("bin/oarlock")).arg("--version").output().unwrap();
    assert!(version.status.success());
    for path in [
        "share/man/man1/oarlock.1",
        "share/man/man1/oarlock-call-encrypt.1",
        "share/bash-completion/completions/oarlock",
        "share/zsh/site-functions/_oarlock",
        "share/fish/vendor_completions.d/oarlock.fish",
        "lib/sysusers.d/oarlock.conf",
        "lib/sysusers.d/oarlock-milter.conf",
        "lib/sysusers.d/oarlock-proxy.conf",
        "lib/systemd/system/oarlock.socket",
        "lib/systemd/system/oarlock-milter.socket",
        "lib/systemd/system/oarlock-proxy.socket",
        "share/doc/oarlock/examples/oarlock.toml",
        "share/doc/oarlock/examples/milter.toml",
        "share/doc/oarlock/examples/proxy.toml",
    ] {
        assert!(fs::metadata(at(path)).unwrap().len() > 0, "{path}");
    }
    for unit in ["oarlock.service", "oarlock-milter.service", "oarlock-proxy.service"] {
        let text = fs::read_to_string(at("lib/systemd/system").join(unit)).unwrap();
        assert!(text.contains("ExecStart=/usr/bin/oarlock "), "{unit}: {text}");
    }
    let removed = make("uninstall", folder.path()).unwrap();
    assert_eq!(code(&removed), 0, "{}", stderr(&removed));
    assert_eq!(files(folder.path()), BTreeSet::new());
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// The services of the package, by the name of unit, user and directory in `/etc`.
const SERVICES: [&str; 3] = ["oarlock", "oarlock-milter", "oarlock-proxy"];

#[test]
fn the_scripts_of_the_package_know_every_service() {
    let units = names(&Path::new(ROOT).join("packaging"));
    let services: BTreeSet<&str> = units.iter().filter_map(|unit| unit.strip_suffix(".service")).collect();
    assert_eq!(services, BTreeSet::from(SERVICES));
    for service in SERVICES {
        for file in [format!("{service}.socket"), format!("{service}.sysusers")] {
            assert!(units.contains(&file), "{file}");
        }
    }
    let manifest = include_str!("../../Cargo.toml");
    for service in SERVICES {
        let line = manifest.lines().find(|line| line.trim_start().starts_with(&format!("\"/etc/{service}/")));
        let file = line.unwrap_or_else(|| panic!("{service}")).trim().trim_matches(['"', ',']);
        assert!(manifest.contains(&format!("\"{}\"", &file[1..])), "{file} is not an asset");
    }
    for script in ["postinst", "prerm", "postrm"] {
        let path = Path::new(ROOT).join("packaging/deb").join(script);
        let read = Command::new("sh").arg("-n").arg(&path).output().unwrap();
        assert!(read.status.success(), "{script}: {}", stderr(&read));
        let text = fs::read_to_string(path).unwrap();
        let list = format!("for unit in {}; do", SERVICES.join(" "));
        assert!(script == "postrm" || text.contains(&list), "{script}: {text}");
    }
}

/// Runs dpkg for a root without any system in it.
fn dpkg(root: &Path, arguments: &[&str]) -> Output {
    let mut dpkg = Command::new("dpkg");
    // The scripts run on this system, with DPKG_ROOT. Libraries of this system serve the program.
    dpkg.arg(format!("--root={}", root.display())).args(["--force-script-chrootless", "--force-depends"]);
    dpkg.arg(format!("--log={}", root.join("dpkg.log").display())).arg("--force-confdef").args(arguments);
    dpkg.output().unwrap()
}

/// `make long` runs it, because it packs the whole program.
#[test]
#[ignore = "it packs the program, which takes half a minute"]
fn a_package_installs_into_a_clean_root_and_leaves_it() {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if !is_root {
        println!("SKIPPED: only root can install a package into another root");
        return;
    }
    if !has("dpkg", &["--version"])
        || !has("strip", &["--version"])
        || !has("systemd-sysusers", &["--version"])
    {
        return;
    }
    if !Command::new(env!("CARGO")).args(["deb", "--version"]).output().unwrap().status.success() {
        println!("SKIPPED: no cargo-deb (cargo install --locked --no-default-features cargo-deb)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name);
    // Packages have a stripped program: this one is of a debug build.
    let stripped =
        Command::new("strip").arg("-o").arg(file("oarlock")).arg(env!("CARGO_BIN_EXE_oarlock")).status();
    assert!(stripped.unwrap().success());
    let made = Command::new("make")
        .args(["--silent", "--old-file=build", "deb", "DEB_FLAGS=--fast"])
        .args([
            format!("BINARY={}", file("oarlock").display()),
            format!("DEB={}", file("oarlock.deb").display()),
        ])
        .current_dir(ROOT)
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .output()
        .unwrap();
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let root = file("root");
    for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let package = file("oarlock.deb");
    let installed = dpkg(&root, &["--install", package.to_str().unwrap()]);
    assert_eq!(code(&installed), 0, "{}", stderr(&installed));
    let version = Command::new(root.join("usr/bin/oarlock")).arg("--version").output().unwrap();
    assert_eq!(text(&version), text(&oarlock(&["--version"])));
    for path in ["usr/share/man/man1/oarlock.1.gz", "usr/share/bash-completion/completions/oarlock"] {
        assert!(fs::metadata(root.join(path)).unwrap().len() > 0, "{path}");
    }
    let users = fs::read_to_string(root.join("etc/passwd")).unwrap();
    for service in SERVICES {
        assert!(users.lines().any(|user| user.starts_with(&format!("{service}:"))), "{users}");
        for kind in ["service", "socket"] {
            assert!(
                root.join(format!("usr/lib/systemd/system/{service}.{kind}")).is_file(),
                "{service}.{kind}"
            );
        }
        let settings = fs::metadata(root.join("etc").join(service)).unwrap();
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&settings.permissions()) & 0o777,
            0o750,
            "{service}"
        );
    }
    // An edited file of settings survives the next version, and nothing but users survives a purge.
    let edited = root.join("etc/oarlock-milter/milter.toml");
    fs::write(&edited, "# mine\n").unwrap();
    let again = dpkg(&root, &["--install", package.to_str().unwrap()]);
    assert_eq!(code(&again), 0, "{}", stderr(&again));
    assert_eq!(fs::read_to_string(&edited).unwrap(), "# mine\n");
    let purged = dpkg(&root, &["--purge", "oarlock"]);
    assert_eq!(code(&purged), 0, "{}", stderr(&purged));
    let left: Vec<PathBuf> =
        files(&root).into_iter().filter(|path| path.to_string_lossy().contains("oarlock.")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!root.join("usr/bin/oarlock").exists() && !edited.exists());
}
