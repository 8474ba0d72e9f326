//! NIST's ACVP vectors, within the packages of other implementations.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Returns the groups of a file in the folder `tests` of a package among the dependencies of the workspace.
pub(crate) fn groups(package: &str, file: &str) -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    let output = metadata.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let found = packages.find(|known| known["name"] == package).unwrap();
    let folder = PathBuf::from(found["manifest_path"].as_str().unwrap()).with_file_name("tests");
    let path = folder.join(file).join("internalProjection.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["testGroups"].as_array().unwrap().clone()
}

/// Returns the tests of a group.
pub(crate) fn tests(group: &Value) -> &[Value] {
    group["tests"].as_array().unwrap()
}

/// Returns the bytes of a hexadecimal value.
pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
