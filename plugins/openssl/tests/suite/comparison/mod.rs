//! OpenSSL's own command-line operations with and without the provider, in every documented configuration. The provider
//! takes nothing away: what works without it works with it, and what fails fails.

mod table;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use self::table::{CERTIFICATES, Check, HANDSHAKES, KEYS, OPERATIONS, Operation, PARAMETERS};
use crate::common::{ProgramResult, TestDirectory, configuration};
use crate::conformance::Server;

/// The configurations: a name, two lines of the documented one, and what stands in their place.
pub const CONFIGURATIONS: [(&str, &str, &str); 3] = [
    ("documented.cnf", "", ""),
    (
        "swapped.cnf",
        "default = default_section\noarlock = oarlock_section\n",
        "oarlock = oarlock_section\ndefault = default_section\n",
    ),
    ("import.cnf", "?provider=oarlock", "?provider=oarlock,?oarlock.keys=import"),
];

/// The configuration without the provider.
const PLAIN: &str = "req.cnf";

/// The result of an operation: what its two programs said, or None for a failure.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    made: bool,
    checked: Option<Vec<u8>>,
}

/// One row of the table.
struct Case<'a> {
    operation: &'a Operation,
    key: &'a str,
    value: &'a str,
    number: usize,
}

/// Compares every operation of the table.
pub fn operations(dir: &TestDirectory) {
    prepare(dir);
    let cases = cases();
    let plain: Vec<Outcome> = cases.iter().map(|case| case.run(dir, PLAIN, PLAIN)).collect();
    let differences: Vec<String> = std::thread::scope(|scope| {
        let running = CONFIGURATIONS.map(|(name, _, _)| {
            let (cases, plain) = (&cases, &plain);
            scope.spawn(move || differences(dir, name, cases, plain))
        });
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// Compares handshakes of servers and clients in all versions of TLS.
pub fn handshakes(dir: &TestDirectory) {
    prepare(dir);
    let mut differences = Vec::new();
    for (key, clients) in HANDSHAKES {
        let connect = |server: &str, client: &str| -> Vec<String> {
            let options = "-cipher DEFAULT@SECLEVEL=0 -groups X25519:P-256:P-521:brainpoolP256r1:X448";
            let server = Server::under(dir, server, key, options);
            clients.iter().map(|options| handshake(dir, client, &server, options)).collect()
        };
        let plain = connect(PLAIN, PLAIN);
        assert!(
            plain.iter().any(|result| !result.is_empty()),
            "{key}: no client connects without the provider"
        );
        for (name, _, _) in CONFIGURATIONS {
            for (server, client) in [(name, PLAIN), (PLAIN, name)] {
                for ((options, plain), found) in clients.iter().zip(&plain).zip(connect(server, client)) {
                    if found != *plain {
                        differences.push(format!(
                            "server {server}, client {client}, {key}, {options}: {found:?} instead of {plain:?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns what was agreed on in a handshake, or nothing if it failed.
fn handshake(dir: &TestDirectory, client: &str, server: &Server, options: &str) -> String {
    let cipher = if options.contains("-cipher") { "" } else { "-cipher DEFAULT@SECLEVEL=0" };
    let arguments = format!("s_client -connect 127.0.0.1:{} {cipher} {options}", server.port);
    let connected = run(dir, client, &arguments);
    if !connected.output.status.success() {
        return String::new();
    }
    let said = String::from_utf8_lossy(&connected.output.stdout).into_owned();
    let agreed = said.lines().filter(|line| line.contains("Cipher is") || line.contains("Temp Key"));
    agreed.collect::<Vec<_>>().join("; ")
}

/// Writes the configurations.
pub fn configure(dir: &TestDirectory) {
    let documented = configuration("mode = local\nengines = scalar\nthreads = 1");
    for (name, line, other) in CONFIGURATIONS {
        assert!(documented.contains(line), "{name}");
        dir.write(name, documented.replacen(line, other, 1));
    }
}

/// Writes the configurations, and makes keys, certificates and messages without the provider.
fn prepare(dir: &TestDirectory) {
    configure(dir);
    dir.write(PLAIN, "[req]\ndistinguished_name = name\n[name]\n");
    dir.write("message", b"a short message");
    dir.write("hash", [7; 32]);
    dir.write("block", [&[0][..], &[5; 255]].concat());
    let plain = |arguments: &str| run(dir, PLAIN, arguments);
    for (name, arguments) in PARAMETERS.iter().chain(KEYS) {
        plain(&format!("{arguments} -out {name}")).ok();
    }
    for (name, _) in KEYS {
        plain(&format!("pkey -in {name} -pubout -out {name}.pub")).ok();
    }
    for name in CERTIFICATES {
        plain(&format!("req -x509 -new -key {name} -subj /CN=localhost -days 2 -out {name}.crt")).ok();
    }
}

fn cases() -> Vec<Case<'static>> {
    let rows = OPERATIONS.iter().flat_map(|operation| {
        let pairs =
            operation.keys.iter().flat_map(|key| operation.each.iter().map(move |value| (key, value)));
        pairs.map(move |(key, value)| (operation, key, value))
    });
    rows.enumerate().map(|(number, (operation, key, value))| Case { operation, key, value, number }).collect()
}

/// Returns the cases whose outcome differs under a configuration.
fn differences(dir: &TestDirectory, name: &str, cases: &[Case<'_>], plain: &[Outcome]) -> Vec<String> {
    let mut different = Vec::new();
    for (case, plain) in cases.iter().zip(plain) {
        let ways: &[(&str, &str)] = match case.operation.check {
            Check::Arguments(_) => &[(name, PLAIN), (PLAIN, name)],
            Check::Same | Check::NewKey => &[(name, PLAIN)],
        };
        for (maker, checker) in ways {
            let found = case.run(dir, maker, checker);
            if found != *plain {
                let arguments = case.arguments(case.operation.make, "out");
                different.push(format!(
                    "{arguments}\n  under {maker}, checked under {checker}: {}\n  without: {}",
                    found.shown(),
                    plain.shown()
                ));
            }
        }
    }
    different
}

impl Case<'_> {
    fn arguments(&self, pattern: &str, out: &str) -> String {
        pattern.replace("{key}", self.key).replace("{out}", out).replace("{}", self.value)
    }

    /// Makes the output under one configuration and checks it under another.
    fn run(&self, dir: &TestDirectory, maker: &str, checker: &str) -> Outcome {
        let out = format!("out-{}-{}", self.number, if maker == PLAIN { PLAIN } else { maker });
        // What plain OpenSSL has made once is checked under each configuration.
        let is_made = maker == PLAIN && checker != PLAIN;
        let path = dir.path(&out);
        let made = match is_made {
            true => path.exists(),
            false => run(dir, maker, &self.arguments(self.operation.make, &out)).output.status.success(),
        };
        if !made {
            let _ = fs::remove_file(path);
            return Outcome { made, checked: None };
        }
        let checked = match self.operation.check {
            Check::Same => Some(dir.read(&out)),
            Check::NewKey => {
                let shown = run(dir, checker, &format!("pkey -in {out} -text_pub -noout"));
                shown.output.status.success().then(|| without_numbers(&shown.output.stdout))
            }
            Check::Arguments(arguments) => {
                let read = run(dir, checker, &self.arguments(arguments, &out));
                let said = String::from_utf8_lossy(&read.output.stdout).replace(&out, "");
                read.output.status.success().then(|| said.into_bytes())
            }
        };
        Outcome { made, checked }
    }
}

impl Outcome {
    fn shown(&self) -> String {
        match (&self.checked, self.made) {
            (Some(checked), _) => format!("{:?}", String::from_utf8_lossy(checked)),
            (None, true) => "fails the check".to_owned(),
            (None, false) => "fails".to_owned(),
        }
    }
}

/// Returns the lines of a key's text that do not depend on its numbers.
fn without_numbers(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let kept = text.lines().filter(|line| !line.starts_with(' ')).map(str::trim_end);
    kept.collect::<Vec<_>>().join("\n").into_bytes()
}

/// Runs `openssl` under a configuration.
fn run(dir: &TestDirectory, configuration: &str, arguments: &str) -> ProgramResult {
    let mut command: Command = dir.plain_command(&dir.openssl);
    let configuration: PathBuf = dir.path(configuration);
    command.env("OPENSSL_CONF", configuration).args(arguments.split_whitespace());
    ProgramResult::from_command(command.stdin(std::process::Stdio::null()))
}
