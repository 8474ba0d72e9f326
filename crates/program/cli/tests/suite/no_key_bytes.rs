//! No byte of a private key appears in any text (messages, logs, audit entries, metrics), for every fault of the
//! file of the key.
//!
//! Keys of every kind are cut, folded, doubled, mislabelled, damaged and encrypted under another passphrase. All
//! parsers get all of these files in this process; the program and a server get a selection.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::damage::{damaged, essential};
use crate::driven::{COMMANDS, Folder, MISTAKEN, Running, said, write_private};
use crate::program::{command, oarlock};
use crate::sentinel::{KeyFileForm, Sentinel, Sentinels, all};
use oarlock::Key;
use oarlock::keys::reference::Reference;
use oarlock::keys::threshold::{Share, ThresholdKey};
use oarlock::keys::{KeyError, Passphrase, WorkLimits, bind, import};
use oarlock_key_files::{KeyDirectory, KeyMaterial};
use oarlock_server::development::Development;

/// The right passphrase and a wrong one.
fn passphrases() -> [Passphrase; 2] {
    let limits =
        WorkLimits { pbkdf2_iterations: 2048, scrypt_memory_bytes: 1 << 16, scrypt_work_bytes: 1 << 16 };
    [&b"secret"[..], b"another"].map(|bytes| Passphrase::new(bytes).with_limits(limits))
}

type Parser = fn(&[u8]) -> Result<Key, KeyError>;

/// Returns the errors of all parsers for a file, in the `Display` and the `Debug` form.
fn said_by_parsers(bytes: &[u8]) -> String {
    let mut said = String::new();
    let mut add = |text: String| said.push_str(&(text + "\n"));
    fn show<T: std::fmt::Debug>(result: Result<T, KeyError>) -> String {
        match result {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("{error} {error:?}"),
        }
    }
    for passphrase in [None].into_iter().chain(passphrases().iter().map(Some)) {
        add(show(KeyMaterial::import(bytes, passphrase)));
        add(show(import::pem(bytes, passphrase)));
        add(show(import::der(bytes, passphrase)));
        add(show(Share::from_pem(bytes, passphrase)));
    }
    let [right, _] = passphrases();
    let named: [Parser; 10] = [
        import::pkcs8_der,
        import::pkcs8_pem,
        import::pkcs1_private_der,
        import::pkcs1_private_pem,
        import::pkcs1_public_der,
        import::sec1_der,
        import::sec1_pem,
        import::spki_der,
        import::spki_pem,
        import::pkcs1_public_pem,
    ];
    named.into_iter().for_each(|parse| add(show(parse(bytes))));
    add(show(import::encrypted_pkcs8_der(bytes, &right)));
    add(show(import::encrypted_pkcs8_pem(bytes, &right)));
    add(show(bind::import(bytes)));
    add(show(Share::from_der(bytes)));
    add(show(ThresholdKey::from_pem(bytes)));
    add(show(Reference::parse_pem(bytes)));
    add(format!("{:?}", import::private_key_format(bytes)));
    let open = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    match oarlock_records::load_keys(bytes, open) {
        Ok(keys) => add(format!("{keys:?}")),
        Err(error) => add(format!("{error} {error:?}")),
    }
    said
}

#[test]
fn no_parser_quotes_a_key() {
    let sentinels = Sentinels::of_all();
    let (mut files, mut seen) = (0, HashSet::new());
    for key in all() {
        for (what, bytes) in damaged(&key) {
            files += 1;
            // Most files give an error that an earlier file gave.
            for line in said_by_parsers(&bytes).lines().filter(|line| seen.insert((*line).to_owned())) {
                sentinels.assert_absent(&format!("{} {what}", key.name), line.as_bytes());
            }
        }
    }
    assert!(files > 1000 && seen.len() > 100, "{files} files, {} texts", seen.len());
}

#[test]
fn no_command_quotes_a_key() {
    let sentinels = Sentinels::of_all();
    let keys = all();
    // Two threads work on separate files.
    std::thread::scope(|scope| {
        for first in [0, 1] {
            let (keys, sentinels) = (&keys, &sentinels);
            scope.spawn(move || {
                let folder = Folder::new();
                for (number, key) in keys.iter().enumerate().skip(first).step_by(2) {
                    drive(&folder, number, key, sentinels);
                }
            });
        }
    });
}

/// Runs the commands on the files of a key, the `number`-th of all.
fn drive(folder: &Folder, number: usize, key: &Sentinel, sentinels: &Sentinels) {
    for (at, (what, bytes)) in essential(key).into_iter().enumerate() {
        folder.write("x.pem", &bytes);
        for (index, words) in COMMANDS.into_iter().enumerate() {
            // Each command gets the one-line file of every key, and a part of the other files. Another key has another
            // part, so each command gets every kind of damage.
            if at == 0 || (at + index + number).is_multiple_of(8) {
                let said = folder.run(words, &bytes);
                sentinels.assert_absent(&format!("{} {what}: oarlock {words}", key.name), &said);
            }
        }
    }
}

/// `--key "$(cat key.pem)"`, and `OARLOCK_KEY` with the key in it.
#[test]
fn a_key_instead_of_its_file_name_is_not_quoted() {
    let sentinels = Sentinels::of_all();
    let folder = Folder::new();
    for key in all().iter().filter(|key| key.text.starts_with(b"-----BEGIN")).step_by(2) {
        let text = String::from_utf8(key.text.clone()).unwrap();
        let lines = [text.clone(), text.replace('\n', " ")];
        for (text, words) in lines.iter().flat_map(|text| MISTAKEN.map(|words| (text, words))) {
            let words: Vec<String> = words.split(' ').map(|word| word.replace("FILE", text)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = folder.command(&words).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
            sentinels.assert_absent(&format!("{}: {}", key.name, MISTAKEN.join(" ")), &said(output));
        }
        let mut call = folder.command(&["call", "--server", "https://127.0.0.1:1", "keys"]);
        let output = call.env("OARLOCK_KEY", &text).env("OARLOCK_CERT", "ca.pem").output().unwrap();
        assert!(String::from_utf8_lossy(&output.stderr).contains("it is not shown"), "{output:?}");
        sentinels.assert_absent(&format!("{}: OARLOCK_KEY", key.name), &said(output));
        for (file, line) in [("seal.toml", "key = "), ("remote.toml", "private_key = ")] {
            let settings = fs::read_to_string(folder.path(file)).unwrap();
            let quoted = format!("{line}\"{}\"", text.replace('\n', "\\n"));
            folder.write("x.toml", settings.replace(&format!("{line}\"x.pem\""), &quoted).as_bytes());
            let output = folder.command(&["milter", "--config", "x.toml", "--check"]).output().unwrap();
            assert!(String::from_utf8_lossy(&output.stderr).contains("it is not shown"), "{output:?}");
            sentinels.assert_absent(&format!("{}: {file}", key.name), &said(output));
        }
    }
}

/// Fills a directory with files. Everything that is wrong with them is listed at once.
fn fill(directory: &Path) {
    for key in all() {
        for (at, (_, bytes)) in essential(&key).into_iter().enumerate() {
            write_private(&directory.join(format!("{}-{at}.pem", key.name)), &bytes);
            write_private(&directory.join(format!("{}-{at}.other", key.name)), &bytes);
        }
    }
}

#[test]
fn no_list_of_a_directory_quotes_a_key() {
    let sentinels = Sentinels::of_all();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    for passphrase in [None].into_iter().chain(passphrases().map(Some)) {
        let mut directory = KeyDirectory::new(folder.path(), passphrase);
        let changes = directory.refresh().unwrap();
        assert!(changes.refused.len() > 50, "{}", changes.refused.len());
        sentinels.assert_absent("a directory", format!("{changes:?} {directory:?}").as_bytes());
        let texts: Vec<String> = changes.refused.iter().map(|(_, fault)| fault.to_string()).collect();
        sentinels.assert_absent("a directory", texts.join("\n").as_bytes());
    }
    let listed = said(oarlock(&["keys", "list", "--directory", folder.path().to_str().unwrap()]));
    sentinels.assert_absent("keys list", &listed);
}

#[test]
fn no_configuration_check_quotes_a_key() {
    let sentinels = Sentinels::of_all();
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    Development::at(state).prepare().unwrap();
    let config = state.join("oarlock.toml");
    let check = || said(oarlock(&["serve", "--config", config.to_str().unwrap(), "--check"]));
    for key in all() {
        for (what, bytes) in essential(&key).into_iter().step_by(2) {
            // A TLS key without line ends, and a file of symmetric keys.
            let file = if key.form == KeyFileForm::Symmetric { "records.keys" } else { "server-key.pem" };
            let whole = fs::read(state.join(file)).unwrap();
            fs::write(state.join(file), &bytes).unwrap();
            sentinels.assert_absent(&format!("{} {what}: {file}", key.name), &check());
            fs::write(state.join(file), whole).unwrap();
            // A key file instead of the configuration.
            write_private(&state.join("x.toml"), &bytes);
            for service in ["serve", "milter"] {
                let said =
                    said(oarlock(&[service, "--config", state.join("x.toml").to_str().unwrap(), "--check"]));
                sentinels.assert_absent(&format!("{} {what}: {service} --config", key.name), &said);
            }
        }
    }
}

#[test]
fn no_server_quotes_a_key() {
    let sentinels = Sentinels::of_all();
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let development = Development::at(state);
    development.prepare().unwrap();
    fill(&development.keys());
    let text = fs::read_to_string(development.config()).unwrap();
    let text = text
        .replace("127.0.0.1:7443", "127.0.0.1:0")
        .replace("[listen]\n", "[listen]\nmetrics = \"127.0.0.1:0\"\n");
    fs::write(development.config(), text + "\n[audit]\nfile = \"audit.jsonl\"\n").unwrap();
    let mut serve = command(&["--json", "-v", "serve", "--log", "json", "--state"]);
    serve.arg(state);
    let server = Running::start(serve, state.join("server.log"));
    let (message, key_file) = (state.join("message"), state.join("own.pem"));
    fs::write(&message, "hello\n").unwrap();
    for key in all() {
        for (what, bytes) in essential(&key).into_iter().step_by(3) {
            write_private(&key_file, &bytes);
            let mut call = command(&["-v", "call", "--state"]);
            call.arg(state).args(["sign", "--hex", "--in"]).arg(&message).arg("--own-key").arg(&key_file);
            let said = said(call.output().unwrap());
            sentinels.assert_absent(&format!("{} {what}: call sign --own-key", key.name), &said);
        }
    }
    send_wrapped(&server, &sentinels);
    // A file that is added while the server runs is named in the log too.
    write_private(&development.keys().join("late.pem"), &essential(&all()[0])[4].1);
    let log = server.log_with("late.pem");
    assert!(log.contains("this file is not used, and no key of it was read before"), "{log}");
    sentinels.assert_absent("the server's log", log.as_bytes());
    sentinels.assert_absent("the metrics", server.metrics().as_bytes());
    sentinels.assert_absent("the audit log", &fs::read(state.join("audit.jsonl")).unwrap());
}

/// Lets the server unwrap a damaged wrapped AES key under a key of the client. RFC 3394.
fn send_wrapped(server: &Running, sentinels: &Sentinels) {
    let key = all().into_iter().find(|key| key.form == KeyFileForm::Symmetric).unwrap();
    let [secret, wrapping] = [&key.secrets[0], &key.secrets[1]];
    let socket = server.said["unix"].as_str().unwrap().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answers = runtime.block_on(unwrapped(&socket, secret, wrapping));
    sentinels.assert_absent("an unwrap of damaged keys", answers.as_bytes());
}

/// Returns the server's answers to wraps of a key, each with another byte damaged.
async fn unwrapped(socket: &str, secret: &[u8], wrapping: &[u8]) -> String {
    use oarlock::WrapAlg;
    use oarlock_keytable::{BatchBuilder, BatchEntry, BatchTask, EntryOutput, KeyTable, KeyType, KeyWrap};
    use oarlock_wire::proto::{OpenKey, Symmetric, open_key, request, response};
    let (alg, key_type) = (WrapAlg::Aes256Kw, KeyType::Aes128);
    let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let mut builder = BatchBuilder::new();
    let wrapping_key = builder.outside_key(&oarlock::keys::raw::secret(wrapping.to_vec()).unwrap());
    builder.add(BatchEntry::new(BatchTask::wrap(alg)).key_from(wrapping_key).input(secret)).unwrap();
    let wrapped = KeyTable::new().run(&accelerator, &builder.batch()).unwrap().output().to_vec();

    let link = oarlock_wire::ServerLink::open(&oarlock_wire::Endpoint::unix(socket)).await.unwrap();
    let source =
        open_key::Source::Symmetric(Symmetric { r#type: "aes256".into(), secret: wrapping.to_vec().into() });
    let open = OpenKey { handle: 0, source: Some(source), ..OpenKey::default() };
    link.call(request::Body::OpenKey(open)).await.unwrap();
    let mut builder = BatchBuilder::new();
    for at in 0..wrapped.len() {
        let mut damaged = wrapped.clone();
        damaged[at] ^= 0x41;
        for bytes in [&damaged[..], &wrapped[..at], secret] {
            let slot = builder.slot(32);
            let task = BatchTask::unwrap_key(KeyWrap::Aes(alg), key_type);
            builder.add(BatchEntry::new(task).key(0).input(bytes).output(EntryOutput::Slot(slot))).unwrap();
        }
    }
    let message = oarlock_wire::records::write(&builder.batch(), |index| index).unwrap();
    match link.call(request::Body::Records(message)).await.unwrap() {
        response::Body::RecordResults(results) => {
            assert!(results.codes.iter().all(|code| *code != 0), "a damaged key came out");
            format!("{results:?} {:?} {:?}", results.faults, &results.output[..])
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_milter_quotes_a_key() {
    let sentinels = Sentinels::of_all();
    let folder = Folder::new();
    let whole =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/keys/tests/data/rsa2048.pem"))
            .unwrap();
    folder.write("x.pem", &whole);
    let command = folder.command(&["--json", "-v", "milter", "--log", "json", "--config", "milter.toml"]);
    let milter = Running::start(command, folder.path("milter.log"));
    let mut lines = String::from("example.com s1 x.pem\n");
    for key in all() {
        for (at, (_, bytes)) in essential(&key).into_iter().enumerate().step_by(3) {
            let file = format!("{}-{at}.pem", key.name);
            folder.write(&file, &bytes);
            lines.push_str(&format!("d{at}.{}.example s1 {file}\n", key.name));
        }
    }
    // The table with all of them is refused, with a reason for each.
    folder.write("signing.table", lines.as_bytes());
    milter.signal("-HUP");
    let log = milter.log_with("p256-");
    sentinels.assert_absent("the milter's log", log.as_bytes());
    folder.write("milter.toml", b"authserv_id = 7\n");
    milter.signal("-HUP");
    let log = milter.log_with("the new settings were rejected");
    sentinels.assert_absent("the milter's log", log.as_bytes());
    sentinels.assert_absent("the milter's metrics", milter.metrics().as_bytes());
}

/// The search finds key bytes in an error text of an earlier version.
#[test]
fn the_search_finds_key_bytes_in_every_form() {
    let sentinels = Sentinels::of_all();
    for key in all().iter().filter(|key| !key.secrets.is_empty()) {
        let secret = &key.secrets[0];
        let piece = &secret[3..11];
        let hex: String = piece.iter().map(|byte| format!("{byte:02X}")).collect();
        let text = String::from_utf8_lossy(&key.text);
        let quoted =
            format!("malformed PEM block {}: no END", text.chars().skip(40).take(64).collect::<String>());
        let list = format!("illegal section start: {:?}", &secret[..9]);
        let upper = crate::sentinel::base64(&secret[1..16]).to_uppercase();
        for leak in [piece.to_vec(), hex.into_bytes(), list.into_bytes(), upper.into_bytes()] {
            assert!(sentinels.find(&leak).is_some(), "{}", key.name);
        }
        if key.name == "p256" {
            assert!(sentinels.find(quoted.as_bytes()).is_some(), "{quoted}");
            assert!(sentinels.find(format!("{:?}", quoted.as_bytes()).as_bytes()).is_some());
        }
    }
    assert!(sentinels.find(b"expected a PEM block PRIVATE KEY, found no block").is_none());
}
