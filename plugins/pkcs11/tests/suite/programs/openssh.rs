//! OpenSSH.

use super::{TestDirectory, USER_PIN, module_path, program, with_keys, with_store};

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
    write_askpass(&dir, "1234");
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

#[test]
fn ssh_logs_in_with_a_key_of_a_token() {
    let (Some(ssh), Some(sshd), Some(keygen)) = (program("ssh"), program("sshd"), program("ssh-keygen"))
    else {
        return;
    };
    let Some(tool) = program("pkcs11-tool") else { return };
    let dir = with_store(&tool, "");
    let module = module_path();
    let login = ["--module", &module, "--login", "--pin", USER_PIN];
    let pair = ["--keypairgen", "--key-type", "EC:prime256v1", "--id", "01", "--label", "login"];
    dir.run(&tool, &[&login[..], &pair].concat());
    dir.write("authorized_keys", dir.run(&keygen, &["-D", &module]));
    dir.run(&keygen, &["-q", "-t", "ed25519", "-N", "", "-f", "host_key"]);
    let host_key = std::fs::read_to_string(dir.path("host_key.pub")).unwrap();
    dir.write("known_hosts", format!("localhost {host_key}"));
    write_askpass(&dir, USER_PIN);
    // The server serves one connection, on its standard input and output, so that no port is needed.
    let server = format!("{} -i -e -f {}", sshd.display(), write_sshd_settings(&dir));
    let mut command = dir.command(ssh);
    command
        .env("SSH_ASKPASS", dir.path("askpass"))
        .env("SSH_ASKPASS_REQUIRE", "force")
        .env("DISPLAY", "none");
    command.env_remove("SSH_AUTH_SOCK").args(["-F", "none", "-I", &module]).arg("-o");
    command.arg(format!("ProxyCommand={server}")).args(["-o", "PreferredAuthentications=publickey"]);
    command.arg("-o").arg(format!("UserKnownHostsFile={}", dir.path("known_hosts").display()));
    command.args(["localhost", "echo", "logged in"]);
    let said = super::said(&command.output().unwrap());
    assert!(said.lines().any(|line| line == "logged in"), "{said}");
}

/// Writes a program that knows a PIN, as OpenSSH wants it.
fn write_askpass(dir: &TestDirectory, pin: &str) {
    // A program that this process writes could not start while another test's child still holds it open.
    dir.write("script", format!("#!/bin/sh\necho {pin}\n"));
    let installed = dir.command("install").args(["-m", "700", "script", "askpass"]).status();
    assert!(installed.unwrap().success());
}

/// Writes the settings of a server that knows the keys in `authorized_keys`, and returns their path.
fn write_sshd_settings(dir: &TestDirectory) -> String {
    // The server wants this folder of its package's unit. Without root it runs without it.
    let _ = std::fs::create_dir_all("/run/sshd");
    let settings = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n\
         PasswordAuthentication no\nUseDNS no\nLogLevel ERROR\n",
        dir.path("host_key").display(),
        dir.path("authorized_keys").display()
    );
    dir.write("sshd_config", settings);
    dir.path("sshd_config").display().to_string()
}
