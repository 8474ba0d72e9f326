//! Damage to key files, as editors, environment variables and copies cause it, and deliberate damage.

use crate::sentinel::{KeyFileForm, Sentinel, base64};

/// A description of the damage to a file, and the content that the file has then.
pub(crate) type Damaged = (String, Vec<u8>);

const LABELS: [&str; 9] = [
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "RSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PUBLIC KEY",
    "CERTIFICATE",
    "OPENSSH PRIVATE KEY",
    "OARLOCK RSA SHARE",
    "OARLOCK KEY REFERENCE",
];

/// Returns some files of each sort, for slow tests.
pub(crate) fn essential(key: &Sentinel) -> Vec<Damaged> {
    let text = String::from_utf8(key.text.clone()).unwrap();
    let mut made = one_line(&text);
    made.truncate(4);
    let half = &key.text[..key.text.len() * 2 / 3];
    made.push(("cut".into(), half.to_vec()));
    made.push(("cut on one line".into(), half.iter().copied().filter(|byte| *byte != b'\n').collect()));
    made.push(("doubled".into(), text.repeat(2).into_bytes()));
    match pem(&text) {
        Some((label, body)) => {
            made.push(("folded".into(), armoured(&label, &body, 7).into_bytes()));
            made.push(("mislabelled".into(), armoured("CERTIFICATE", &body, 64).into_bytes()));
            made.push(("mislabelled".into(), armoured("private key", &body, 64).into_bytes()));
            made.push(("in its own label".into(), format!("-----BEGIN {body}-----\n").into_bytes()));
            // Up to 64 capital letters and digits are a legal label.
            made.push((
                "as a label in upper case".into(),
                labelled(&body.to_uppercase().replace(['+', '/', '='], "X"), &body),
            ));
            if let Some(secret) = key.secrets.first() {
                let digits: String = secret.iter().map(|byte| format!("{byte:02X}")).collect();
                made.push(("as a label in digits".into(), labelled(&digits, &body)));
            }
            made.push(("with a damaged begin".into(), text.replacen("-----\n", "\n", 1).into_bytes()));
            let der = decoded(&body);
            made.push(("as DER, cut".into(), der[..der.len() * 2 / 3].to_vec()));
            let mut flipped = der.clone();
            flipped[der.len() / 2] ^= 0x41;
            made.push(("flipped".into(), armoured(&label, &base64(&flipped), 64).into_bytes()));
            made.push(("base64 alone, cut".into(), body.as_bytes()[..body.len() * 2 / 3].to_vec()));
            made.push(("with a header".into(), text.replacen('\n', "\nX-Key: 1\n", 1).into_bytes()));
        }
        None => made.extend(fields(key.form, &text).into_iter().step_by(2)),
    }
    made
}

/// Returns every sort of damage at every position.
pub(crate) fn damaged(key: &Sentinel) -> Vec<Damaged> {
    let text = String::from_utf8(key.text.clone()).unwrap();
    let mut made = essential(key);
    made.extend(one_line(&text));
    let step = 1 + text.len() / 40;
    for len in (1..text.len()).step_by(step) {
        let cut = &text[..len];
        made.push((format!("cut to {len}"), cut.into()));
        made.push((format!("cut to {len} on one line"), cut.replace('\n', "").into_bytes()));
        made.push((format!("without its first {len}"), text[len..].into()));
        made.push((format!("with its end after {len}"), format!("{cut}-----{}", &text[len..]).into_bytes()));
        made.push((
            format!("with a line end after {len}"),
            format!("{cut}\n\n{}", &text[len..]).into_bytes(),
        ));
    }
    match pem(&text) {
        Some((label, body)) => made.extend(blocks(&label, &body)),
        None => made.extend(fields(key.form, &text)),
    }
    made
}

/// Returns texts without some or all line ends.
fn one_line(text: &str) -> Vec<Damaged> {
    let text = text.trim_end();
    let mut made: Vec<Damaged> = ["", " ", "\\n", "\r", "\t", "\\r\\n", "%0A", "+", "\u{a0}", "\\", "\0"]
        .iter()
        .map(|between| (format!("with {between:?} for line ends"), text.replace('\n', between).into_bytes()))
        .collect();
    made.push(("without its first line end".into(), text.replacen('\n', "", 1).into_bytes()));
    if let Some((before, after)) = text.rsplit_once('\n') {
        made.push(("without its last line end".into(), format!("{before}{after}").into_bytes()));
    }
    let quoted = text.replace('\n', "\\n");
    made.push(("in JSON".into(), format!("{{\"kty\": 1, \"key\": \"{quoted}\"}}").into_bytes()));
    made.push(("twice on a line".into(), [text, text].concat().replace('\n', "").into_bytes()));
    made.push(("in UTF-16".into(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
    made
}

/// Returns the label and the base64 text of a PEM block.
fn pem(text: &str) -> Option<(String, String)> {
    let begin = text.lines().rfind(|line| line.starts_with("-----BEGIN "))?;
    let label = begin.strip_prefix("-----BEGIN ")?.strip_suffix("-----")?.to_owned();
    let lines = text.lines().skip_while(|line| *line != begin).skip(1);
    Some((label, lines.take_while(|line| !line.starts_with('-')).collect()))
}

fn armoured(label: &str, body: &str, width: usize) -> String {
    let lines: String =
        body.as_bytes().chunks(width).flat_map(|line| [std::str::from_utf8(line).unwrap(), "\n"]).collect();
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----\n")
}

fn labelled(label: &str, body: &str) -> Vec<u8> {
    armoured(&label[..label.len().min(64)], body, 64).into_bytes()
}

fn decoded(body: &str) -> Vec<u8> {
    let mut bytes = oarlock_records::SecretBuffer::default();
    oarlock_records::Encoding::Base64.decode(body.as_bytes(), &mut bytes).unwrap();
    bytes[..].to_vec()
}

/// Returns PEM blocks with other line widths, other labels, and damaged DER.
fn blocks(label: &str, body: &str) -> Vec<Damaged> {
    let mut made = Vec::new();
    for width in [1, 7, 76, 10_000] {
        made.push((format!("folded at {width}"), armoured(label, body, width).into_bytes()));
    }
    for other in LABELS.iter().filter(|other| **other != label) {
        made.push((format!("labelled {other}"), armoured(other, body, 64).into_bytes()));
        let mixed = armoured(label, body, 64).replacen(label, other, 1);
        made.push((format!("labelled {other} at its beginning"), mixed.into_bytes()));
    }
    made.push(("upper case".into(), armoured(label, &body.to_uppercase(), 64).into_bytes()));
    let der = decoded(body);
    let step = 1 + der.len() / 50;
    for at in (0..der.len()).step_by(step) {
        for flip in [0x01, 0x02, 0x80] {
            let mut flipped = der.clone();
            flipped[at] ^= flip;
            made.push((
                format!("byte {at} flipped by {flip}"),
                armoured(label, &base64(&flipped), 64).into_bytes(),
            ));
            made.push((format!("byte {at} flipped by {flip}, as DER"), flipped));
        }
        made.push((format!("as DER, cut to {at}"), der[..at].to_vec()));
        made.push((format!("as DER, from {at}"), der[at..].to_vec()));
        let cut = armoured(label, &base64(&der[..at]), 64);
        made.push((format!("cut to {at} within the block"), cut.into_bytes()));
    }
    made.push(("as DER with more behind".into(), [&der[..], &der[..9]].concat()));
    made
}

/// Returns files of lines with swapped fields.
fn fields(form: KeyFileForm, text: &str) -> Vec<Damaged> {
    let lines: Vec<&str> = text.lines().collect();
    let mut made = Vec::new();
    for at in 0..lines.len() {
        let with = |line: String| {
            let mut changed = lines.clone();
            changed[at] = &line;
            (changed.join("\n") + "\n").into_bytes()
        };
        let line = lines[at];
        made.push((format!("line {at} twice"), with(format!("{line}\n{line}"))));
        made.push((format!("line {at} reversed"), with(line.chars().rev().collect())));
        if form == KeyFileForm::Bind {
            let value = line.split_once(": ").map_or("", |(_, value)| value);
            for name in
                ["Algorithm", "Modulus", "PublicExponent", "PrivateKey", "Engine", "Private-key-format", "X"]
            {
                made.push((format!("line {at} named {name}"), with(format!("{name}: {value}"))));
            }
            made.push((format!("line {at} without a colon"), with(line.replace(':', ""))));
            made.push((
                format!("line {at} without its first character"),
                with(line.replacen(": ", ": *", 1)),
            ));
            made.push((format!("line {at} as a name"), with(format!("{value}: 1"))));
        } else {
            let secret = line.split('"').find(|part| part.len() >= 32).unwrap_or_default();
            let quoted = format!("\"{secret}\"");
            for (what, from, to) in [
                ("its key as a type", "\"type\":\"", format!("\"type\":\"{secret}")),
                ("its key as a word", "}", format!(",\"ivs\":[{quoted}]}}")),
                ("its key as a rule", "}", format!(",\"weak_keys\":{quoted}}}")),
                ("its key as a number", "}", format!(",\"max_random_gcm\":{quoted}}}")),
                ("its key as a field", "}", format!(",{quoted}:1}}")),
                ("its key as a list", &quoted, format!("[{quoted}]")),
                ("its key without quotes", &quoted, secret.to_owned()),
                (
                    "its key cut",
                    &quoted,
                    format!("\"{}\"", secret.get(..secret.len().saturating_sub(1)).unwrap_or_default()),
                ),
                ("its key with an escape", &quoted, format!("\"\\u0041{secret}\"")),
                ("its key in the other encoding", "hex", "base64".to_owned()),
                ("its key of another type", "aes128", "aes256".to_owned()),
                ("its key twice", "}", format!(",\"hex\":{quoted}}}")),
            ] {
                made.push((format!("line {at} with {what}"), with(line.replacen(from, &to, 1))));
            }
        }
    }
    made
}
