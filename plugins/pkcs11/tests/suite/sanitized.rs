//! The example in C under AddressSanitizer and UndefinedBehaviorSanitizer, which see each access of the program to the
//! memory that it shares with the module.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{KEYS, TestDirectory, module, program, said};

const SANITIZE: [&str; 4] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"];

fn compile(dir: &TestDirectory, source: &Path, name: &str) -> Option<(PathBuf, Output)> {
    let built = dir.path(name);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut build = Command::new(program("cc")?);
    build.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]).args(SANITIZE).arg("-I").arg(include);
    let output = build.arg("-o").arg(&built).arg(source).arg("-ldl").output().unwrap();
    Some((built, output))
}

/// Runs a program, which ends at the first fault and fails if memory has leaked.
fn run(dir: &TestDirectory, built: &Path, arguments: &[&str]) -> Output {
    let mut command = dir.command(built);
    command.env("ASAN_OPTIONS", "detect_leaks=1").env("UBSAN_OPTIONS", "print_stacktrace=1");
    command.args(arguments).output().unwrap()
}

/// Makes a directory, unless the compiler or the machine lacks sanitizers. A program with a fault shows that they work.
fn prepared() -> Option<TestDirectory> {
    let dir = TestDirectory::new();
    let faulty = "#include <stdlib.h>\n#include <string.h>\nint main(int count, char **arguments) {\n\
                  char *memory = malloc(8); memset(memory, 0, 8); (void)arguments;\n\
                  int read = memory[7 + (count > 1)]; free(memory); return read; }\n";
    dir.write("faulty.c", faulty);
    let (built, compiled) = compile(&dir, &dir.path("faulty.c"), "faulty")?;
    if !compiled.status.success() {
        eprintln!("SKIPPED: the compiler has no sanitizers: {}", said(&compiled));
        return None;
    }
    let whole = run(&dir, &built, &[]);
    if !whole.status.success() {
        eprintln!("SKIPPED: sanitizers do not run here: {}", said(&whole));
        return None;
    }
    let fault = run(&dir, &built, &["one too far"]);
    assert!(!fault.status.success());
    let fault = said(&fault);
    assert!(fault.contains("faulty.c:5"), "{fault}");
    Some(dir)
}

#[test]
fn the_example_in_c_is_clean_under_sanitizers() {
    let Some(dir) = prepared() else { return };
    dir.write("pkcs11.toml", KEYS);
    dir.make_keys();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sign_many.c");
    let Some((built, compiled)) = compile(&dir, &source, "sign_many") else { return };
    assert!(compiled.status.success(), "{}", said(&compiled));
    let module = module();
    for (label, count) in [("p256", "64"), ("rsa", "5"), ("p256", "1")] {
        let output = run(&dir, &built, &[module.to_str().unwrap(), label, count]);
        assert!(output.status.success(), "{}", said(&output));
        assert!(said(&output).contains("the asynchronous signature verifies"), "{}", said(&output));
    }
}
