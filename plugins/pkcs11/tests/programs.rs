//! Programs that use PKCS#11 modules. Each test prints SKIPPED if its program is not installed.
#![allow(clippy::macro_metavars_in_unsafe, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::PathBuf;

use common::{KEYS, SO_PIN, STORE, TestDirectory, USER_PIN, module, program, said};

fn with_keys() -> TestDirectory {
    let dir = TestDirectory::new();
    dir.write("pkcs11.toml", KEYS);
    dir.make_keys();
    dir
}

fn module_path() -> String {
    module().to_str().unwrap().to_owned()
}

/// Makes a token with both PINs by `pkcs11-tool`.
fn with_store(tool: &PathBuf) -> TestDirectory {
    let dir = TestDirectory::new();
    dir.write("pkcs11.toml", STORE);
    let module = module_path();
    let init = ["--module", &module, "--init-token", "--label", "a token", "--so-pin", SO_PIN];
    dir.run(tool, &init);
    let pin = ["--module", &module, "--init-pin", "--login", "--so-pin", SO_PIN, "--new-pin", USER_PIN];
    dir.run(tool, &[&pin[..], &["--login-type", "so"]].concat());
    dir
}

#[test]
fn pkcs11_tool_tests_the_module() {
    let Some(tool) = program("pkcs11-tool") else { return };
    let dir = with_store(&tool);
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

#[test]
fn p11tool_lists_keys_and_certificates() {
    let Some(tool) = program("p11tool") else { return };
    let dir = with_keys();
    let module = module_path();
    let listed = dir.run(&tool, &["--provider", &module, "--list-all", "pkcs11:token=test%20keys"]);
    assert!(
        listed.contains("object=p256;type=private") && listed.contains("object=p256;type=cert"),
        "{listed}"
    );
    let exported = dir
        .run(&tool, &["--provider", &module, "--export", "pkcs11:token=test%20keys;object=p256;type=cert"]);
    assert!(exported.contains("BEGIN CERTIFICATE"), "{exported}");
    let signed =
        dir.run(&tool, &["--provider", &module, "--test-sign", "pkcs11:token=test%20keys;object=p256"]);
    assert!(signed.contains("ok"), "{signed}");
}

#[test]
fn ssh_keygen_lists_keys_and_signs_certificates() {
    let Some(tool) = program("ssh-keygen") else { return };
    let dir = with_keys();
    let module = module_path();
    let listed = dir.run(&tool, &["-D", &module]);
    assert!(listed.contains("ssh-rsa ") && listed.contains("ecdsa-sha2-nistp256 "), "{listed}");
    // A certificate of a user, signed by the RSA key of the module.
    let rsa = listed.lines().find(|line| line.starts_with("ssh-rsa ")).unwrap();
    dir.write("ca.pub", format!("{rsa}\n"));
    dir.run(&tool, &["-q", "-t", "ed25519", "-N", "", "-f", "user"]);
    let module_argument = module.as_str();
    dir.run(&tool, &["-q", "-D", module_argument, "-s", "ca.pub", "-I", "a test", "-n", "root", "user.pub"]);
    let shown = dir.run(&tool, &["-L", "-f", "user-cert.pub"]);
    assert!(shown.contains("Key ID: \"a test\""), "{shown}");
}

#[test]
fn ssh_agent_signs_with_a_key_of_the_module() {
    let (Some(agent), Some(_), Some(_)) = (program("ssh-agent"), program("ssh-add"), program("ssh-keygen"))
    else {
        return;
    };
    let dir = with_keys();
    let module = module_path();
    dir.write("askpass", "#!/bin/sh\necho 1234\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(dir.path("askpass"), executable).unwrap();
    dir.write("data", "some data");
    let script = format!(
        "set -e\n\
         export SSH_ASKPASS=$PWD/askpass SSH_ASKPASS_REQUIRE=force DISPLAY=none\n\
         ssh-add -s {module}\n\
         ssh-add -L | grep ecdsa-sha2-nistp256 | head -n 1 > p256.pub\n\
         ssh-keygen -Y sign -f p256.pub -n file data\n\
         (printf 'me '; cat p256.pub) > allowed\n\
         ssh-keygen -Y verify -f allowed -I me -n file -s data.sig < data\n"
    );
    dir.write("script", script);
    let signed = dir.run(&agent, &["-P", &module, "sh", "script"]);
    assert!(signed.contains("Good \"file\" signature for me"), "{signed}");
}

/// The settings of Java's provider, with the attributes that it needs.
fn java_settings(dir: &TestDirectory) {
    let text = format!("name = Oarlock\nlibrary = {}\nslotListIndex = 0\n", module_path());
    dir.write("java.cfg", text);
}

#[test]
fn keytool_lists_the_entries_of_a_directory() {
    let Some(tool) = program("keytool") else { return };
    let dir = with_keys();
    java_settings(&dir);
    let config = dir.path("java.cfg");
    let listed = dir.run(
        &tool,
        &[
            "-list",
            "-keystore",
            "NONE",
            "-storetype",
            "PKCS11",
            "-storepass",
            "none",
            "-providerClass",
            "sun.security.pkcs11.SunPKCS11",
            "-providerArg",
            config.to_str().unwrap(),
        ],
    );
    assert!(listed.contains("p256, PrivateKeyEntry"), "{listed}");
}

#[test]
fn jarsigner_signs_with_a_key_of_the_module() {
    let (Some(signer), Some(jar)) = (program("jarsigner"), program("jar")) else { return };
    let dir = with_keys();
    java_settings(&dir);
    dir.write("hello.txt", "hello");
    dir.run(jar, &["cf", "hello.jar", "hello.txt"]);
    let config = dir.path("java.cfg");
    let signed = dir.run(
        &signer,
        &[
            "-keystore",
            "NONE",
            "-storetype",
            "PKCS11",
            "-storepass",
            "none",
            "-providerClass",
            "sun.security.pkcs11.SunPKCS11",
            "-providerArg",
            config.to_str().unwrap(),
            "hello.jar",
            "p256",
        ],
    );
    assert!(signed.contains("jar signed"), "{signed}");
    let verified = dir.run(&signer, &["-verify", "hello.jar"]);
    assert!(verified.contains("jar verified"), "{verified}");
}

/// Runs a program in Python that needs a package from PyPI. Prints SKIPPED without the package.
fn python(package: &str, code: &str) {
    let Some(python) = program("python3") else { return };
    let dir = with_keys();
    let found = dir.command(&python).args(["-c", &format!("import {package}")]).output().unwrap();
    if !found.status.success() {
        eprintln!("SKIPPED: Python has no package {package}");
        return;
    }
    dir.write("test.py", code);
    let output = dir.command(&python).arg("test.py").arg(module()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn python_pkcs11_signs_in_threads() {
    python(
        "pkcs11",
        "import sys, threading, pkcs11\n\
         from pkcs11 import KeyType, ObjectClass, Mechanism\n\
         lib = pkcs11.lib(sys.argv[1])\n\
         token = lib.get_token(token_label='test keys')\n\
         def run(number):\n    \
             with token.open() as session:\n        \
                 private = session.get_key(object_class=ObjectClass.PRIVATE_KEY, label='rsa')\n        \
                 public = session.get_key(object_class=ObjectClass.PUBLIC_KEY, label='rsa')\n        \
                 data = b'thread %d' % number\n        \
                 signature = private.sign(data, mechanism=Mechanism.SHA256_RSA_PKCS)\n        \
                 assert public.verify(data, signature, mechanism=Mechanism.SHA256_RSA_PKCS)\n        \
                 assert not public.verify(b'other', signature, mechanism=Mechanism.SHA256_RSA_PKCS)\n        \
                 done.append(number)\n\
         done = []\n\
         threads = [threading.Thread(target=run, args=(number,)) for number in range(32)]\n\
         [thread.start() for thread in threads]\n\
         [thread.join() for thread in threads]\n\
         assert len(done) == 32, done\n",
    );
}

#[test]
fn pykcs11_signs_in_threads() {
    python(
        "PyKCS11",
        "import sys, threading, PyKCS11\n\
         from PyKCS11 import *\n\
         lib = PyKCS11Lib()\n\
         lib.load(sys.argv[1])\n\
         slot = lib.getSlotList(tokenPresent=True)[0]\n\
         mechanism = Mechanism(CKM_SHA256_RSA_PKCS, None)\n\
         def run(number):\n    \
             session = lib.openSession(slot)\n    \
             find = lambda kind: session.findObjects([(CKA_CLASS, kind), (CKA_LABEL, 'rsa')])[0]\n    \
             data = b'thread %d' % number\n    \
             signature = session.sign(find(CKO_PRIVATE_KEY), data, mechanism)\n    \
             assert session.verify(find(CKO_PUBLIC_KEY), data, signature, mechanism)\n    \
             done.append(number)\n\
         done = []\n\
         threads = [threading.Thread(target=run, args=(number,)) for number in range(32)]\n\
         [thread.start() for thread in threads]\n\
         [thread.join() for thread in threads]\n\
         assert len(done) == 32, done\n",
    );
}
