//! `pkcs11-tool` of OpenSC.

use super::{USER_PIN, module_path, program, with_keys, with_store};

#[test]
fn pkcs11_tool_tests_the_module() {
    let Some(tool) = program("pkcs11-tool") else { return };
    let dir = with_store(&tool, "");
    let module = module_path();
    let login = ["--module", &module, "--login", "--pin", USER_PIN];
    for kind in ["rsa:2048", "EC:prime256v1"] {
        let id = if kind.starts_with("rsa") { "01" } else { "02" };
        dir.run(
            &tool,
            &[&login[..], &["--keypairgen", "--key-type", kind, "--id", id, "--label", kind]].concat(),
        );
    }
    let tested = dir.run(&tool, &[&login[..], &["--test"]].concat());
    assert!(tested.contains("No errors"), "{tested}");
    let forked = dir.run(&tool, &[&login[..], &["--test-fork"]].concat());
    assert!(!forked.contains("CKR_"), "{forked}");
    let listed = dir.run(&tool, &[&login[..], &["--list-objects"]].concat());
    assert!(
        listed.contains("Private Key Object; RSA") && listed.contains("Private Key Object; EC"),
        "{listed}"
    );
}

#[test]
fn pkcs11_tool_tests_threads() {
    let Some(tool) = program("pkcs11-tool") else { return };
    let dir = with_keys();
    let module = module_path();
    let threads = ["IN:GI:SL", "IN:SL:GI"];
    let arguments: Vec<&str> = ["--module", &module]
        .into_iter()
        .chain(threads.iter().flat_map(|thread| ["--test-threads", thread]))
        .collect();
    let tested = dir.run(&tool, &arguments);
    assert!(!tested.contains("CKR_GENERAL_ERROR"), "{tested}");
}
