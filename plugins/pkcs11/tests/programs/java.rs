//! Tools of a JDK.

use super::{TestDirectory, module_path, program, with_keys};

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
