//! The settings of `opendkim.conf` besides the tables, and the text of `milter.toml`. opendkim.conf(5).

use std::fmt::Write;

use oarlock_milter::socket::MilterSocket;

use super::conf::{ConfLine, ConfLines};
use super::dataset::DataSet;
use super::{ImportError, ImportWarning, ReadFile};
use crate::client_list::{ClientList, DomainList};
use crate::config::FilterConfig;

const HEADER: &str = "# Made from the settings of OpenDKIM by `oarlock dkim import`. docs/milter.toml describes every setting.\n";

/// The settings in groups that are carried over by other parts of the import.
const TABLES: [&str; 8] = [
    "KeyTable",
    "SigningTable",
    "MultipleSignatures",
    "Domain",
    "Selector",
    "KeyFile",
    "SubDomains",
    "BaseDirectory",
];

/// Settings without a counterpart, and the reason.
const WITHOUT: [(&str, &[&str]); 6] = [
    (
        "the filter logs to stderr, one line for each message with the reason of a failure",
        &["Syslog", "SyslogFacility", "SyslogName", "SyslogSuccess", "LogWhy", "LogResults", "MilterDebug"],
    ),
    (
        "the systemd unit decides this",
        &[
            "AutoRestart",
            "AutoRestartCount",
            "AutoRestartRate",
            "Background",
            "ChangeRootDirectory",
            "EnableCoredumps",
            "PidFile",
            "UserID",
            "TemporaryDirectory",
            "KeepTemporaryFiles",
        ],
    ),
    (
        "ADSP is historic (RFC 5617), and the filter does not know it",
        &[
            "ADSPAction",
            "ADSPDiscard",
            "ADSPNoSuchDomain",
            "BogusPolicy",
            "InsecurePolicy",
            "LocalADSP",
            "SendADSPReports",
        ],
    ),
    (
        "the filter always signs the whole body, because anybody can add to an unsigned part",
        &["BodyLengths", "BodyLengthDB", "BodyLengthDBFile", "MaximumSignedBytes"],
    ),
    ("it only silences lines of OpenDKIM's log", &["ExternalIgnoreList"]),
    (
        "a resolver on this host validates, and passes on no bogus key: [on] dns_error decides",
        &["BogusKey", "TrustAnchorFile", "ResolverConfiguration"],
    ),
];

/// The sections of `milter.toml`, in the order in which they are written.
const SECTIONS: [&str; 8] = ["", "exempt", "listen", "signing", "verifying", "on", "dns", "limits"];

/// The faults of `[on]`, and the settings of OpenDKIM for them.
const RESPONSES: [(&str, &str); 5] = [
    ("On-BadSignature", "bad_signature"),
    ("On-DNSError", "dns_error"),
    ("On-InternalError", "internal_error"),
    ("On-NoSignature", "no_signature"),
    ("On-SignatureError", "signing_error"),
];

/// A setting of `milter.toml`.
struct TomlSetting {
    section: &'static str,
    name: &'static str,
    value: String,
}

/// Returns the text of `milter.toml`. Reports settings that have no counterpart.
pub(super) fn text(
    conf: &ConfLines,
    has_table: bool,
    read: ReadFile<'_>,
    warnings: &mut Vec<ImportWarning>,
) -> Result<String, ImportError> {
    let mut toml = TomlText { settings: Vec::new(), warnings };
    if has_table {
        toml.put("signing", "table", quoted("signing.table"));
    }
    if conf.iter().next().is_some() && conf.get("Canonicalization").is_none() && has_table {
        // The default of OpenDKIM.
        toml.put("signing", "canonicalization", quoted("simple/simple"));
    }
    toml.add_default_response(conf);
    for line in conf.iter() {
        match line.name.to_ascii_lowercase().as_str() {
            "internalhosts" | "peerlist" | "exemptdomains" => toml.add_list(line, conf, read)?,
            "signheaders" | "oversignheaders" | "nameservers" | "senderheaders" => {
                toml.add_words(line, conf, read)?;
            }
            _ => toml.add(line, conf),
        }
    }
    Ok(toml.print())
}

struct TomlText<'w> {
    settings: Vec<TomlSetting>,
    warnings: &'w mut Vec<ImportWarning>,
}

impl TomlText<'_> {
    /// Sets a value. A later one replaces an earlier one.
    fn put(&mut self, section: &'static str, name: &'static str, value: String) {
        self.settings.retain(|setting| (setting.section, setting.name) != (section, name));
        self.settings.push(TomlSetting { section, name, value });
    }

    /// Sets a value that the filter accepts. Reports any other value.
    fn put_if(
        &mut self,
        line: &ConfLine,
        section: &'static str,
        name: &'static str,
        value: Result<String, String>,
    ) {
        let value = value.and_then(|value| match fault(section, name, &value) {
            Some(fault) => Err(fault),
            None => Ok(value),
        });
        match value {
            Ok(value) => self.put(section, name, value),
            Err(reason) => self.warn(line, reason),
        }
    }

    fn warn(&mut self, line: &ConfLine, reason: impl Into<String>) {
        self.warnings.push(line.warning(reason));
    }

    /// Adds the counterpart of a setting with one value.
    fn add(&mut self, line: &ConfLine, conf: &ConfLines) {
        let value = line.value.as_str();
        match line.name.to_ascii_lowercase().as_str() {
            "mode" => self.put_if(line, "", "mode", mode(value)),
            // This word stands for the host's name, which is the default here.
            "authservid" if value.eq_ignore_ascii_case("HOSTNAME") => {}
            "authservid" => self.put_if(line, "", "authserv_id", Ok(quoted(value))),
            "socket" => self.put_if(line, "listen", "sockets", socket(value)),
            "umask" => self.add_umask(line),
            "canonicalization" => self.put_if(line, "signing", "canonicalization", canonicalization(value)),
            "signaturettl" => self.put_if(line, "signing", "lifetime_seconds", number(value, 0..=u32::MAX)),
            "requiresafekeys" if line.boolean() == Some(false) => {
                self.put("signing", "allows_open_keys", "true".to_owned());
            }
            "requiresafekeys" => {}
            "clockdrift" => self.put_if(line, "verifying", "clock_skew_seconds", number(value, 0..=u32::MAX)),
            "minimumkeybits" => self.put_if(line, "verifying", "min_rsa_bits", number(value, 1024..=4096)),
            "maximumsignaturestoverify" => {
                self.put_if(line, "verifying", "max_signatures", number(value, 1..=u32::MAX));
            }
            "maximumheaders" => self.put_if(line, "limits", "max_header_bytes", number(value, 1..=u32::MAX)),
            "dnstimeout" => {
                let seconds = number(value, 1..=4_000_000);
                self.put_if(line, "dns", "timeout_ms", seconds.map(|seconds| seconds + "000"));
            }
            "sendermacro" if !is_envelope_macro(line) => {
                self.warn(
                    line,
                    "the macro has no counterpart: expected {mail_addr}, or [signing] domain_from",
                );
            }
            // Otherwise the fields of SenderHeaders follow.
            "sendermacro" if conf.get("SenderHeaders").is_none() => {
                self.put("signing", "domain_from", list(&["mail_from".to_owned(), "from".to_owned()]));
            }
            "sendermacro" => {}
            "unprotectedkey" if value.eq_ignore_ascii_case("none") => {}
            "unprotectedkey" => {
                self.put("verifying", "requires_dnssec", "true".to_owned());
                self.put("dns", "dnssec", "true".to_owned());
                self.warn(line, "the result is policy, and a validating resolver must be on this host");
            }
            // Handled before the other responses, at any position.
            "on-default" => {}
            name if name.starts_with("on-") => self.add_response(line),
            name if TABLES.iter().any(|table| table.eq_ignore_ascii_case(name)) => {}
            _ => {
                let known = WITHOUT
                    .iter()
                    .find(|(_, names)| names.iter().any(|name| line.name.eq_ignore_ascii_case(name)));
                self.warn(line, known.map_or("milter.toml has no such setting", |(reason, _)| reason));
            }
        }
    }

    fn add_umask(&mut self, line: &ConfLine) {
        let Some(mask) = u32::from_str_radix(&line.value, 8).ok().filter(|mask| *mask <= 0o777) else {
            return self.warn(line, "expected octal digits");
        };
        let mode = 0o666 & !mask;
        if mode & 0o002 != 0 {
            self.warn(
                line,
                "it admits all users to the socket: the filter admits its group, or list [listen] unix_users",
            );
        }
        self.put("listen", "unix_mode", quoted(&format!("{:04o}", mode & 0o660)));
    }

    /// `On-Default` sets all responses. The others replace it.
    fn add_default_response(&mut self, conf: &ConfLines) {
        let Some(line) = conf.get("On-Default") else { return };
        match response(&line.value) {
            Ok(value) => RESPONSES.iter().for_each(|(_, name)| self.put("on", name, value.clone())),
            Err(reason) => self.warn(line, reason),
        }
    }

    fn add_response(&mut self, line: &ConfLine) {
        match RESPONSES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&line.name)) {
            Some((_, name)) => self.put_if(line, "on", name, response(&line.value)),
            None => self.warn(line, "[on] has no such fault"),
        }
    }

    /// Adds a list of hosts or domains. Entries that have no counterpart are left out.
    fn add_list(&mut self, line: &ConfLine, conf: &ConfLines, read: ReadFile<'_>) -> Result<(), ImportError> {
        let set = DataSet::open(line, conf.base(), read)?;
        let (section, name, is_domains) = match line.name.to_ascii_lowercase().as_str() {
            "internalhosts" => ("", "internal_hosts", false),
            "peerlist" => ("exempt", "hosts", false),
            _ => ("exempt", "domains", true),
        };
        let mut kept = Vec::new();
        for entry in set.entries {
            // OpenDKIM allows brackets around addresses.
            let text = entry.key.replace(['[', ']'], "");
            let one = vec![text.clone()];
            let fault = match is_domains {
                true => DomainList::try_from(one).err().map(|error| error.to_string()),
                false => ClientList::try_from(one).err().map(|error| error.to_string()),
            };
            match fault {
                Some(fault) => self.warnings.push(entry.source.warning(&line.name, fault)),
                None => kept.push(text),
            }
        }
        self.put(section, name, list(&kept));
        Ok(())
    }

    /// Adds a list of words: names of fields or addresses of name servers.
    fn add_words(
        &mut self,
        line: &ConfLine,
        conf: &ConfLines,
        read: ReadFile<'_>,
    ) -> Result<(), ImportError> {
        let set = DataSet::open(line, conf.base(), read)?;
        let words: Vec<String> = set.entries.into_iter().map(|entry| entry.key).collect();
        let is_plain =
            |word: &String| word.bytes().all(|byte| byte.is_ascii_graphic() && !b"*+:".contains(&byte));
        let has_from = words.iter().any(|word| word.eq_ignore_ascii_case("From"));
        match line.name.to_ascii_lowercase().as_str() {
            "nameservers" => self.put_if(line, "dns", "servers", Ok(list(&words))),
            "senderheaders" => self.add_senders(line, &words, conf),
            _ if !words.iter().all(is_plain) || words.iter().any(|word| word.starts_with('-')) => {
                self.warn(
                    line,
                    "its changes to OpenDKIM's list (+, -, *) have no counterpart: list the fields",
                );
            }
            "signheaders" if !has_from => {
                self.warn(line, "From is not in the list, and every signature must have it");
            }
            "signheaders" => self.put_if(line, "signing", "signed_headers", Ok(list(&words))),
            _ => self.put_if(line, "signing", "oversigned_headers", Ok(list(&words))),
        }
        Ok(())
    }

    /// Adds the sources of the address that signs. The macro has precedence over the fields.
    fn add_senders(&mut self, line: &ConfLine, words: &[String], conf: &ConfLines) {
        let is_of_envelope = conf.get("SenderMacro").is_some_and(is_envelope_macro);
        let mut sources: Vec<String> = is_of_envelope.then(|| "mail_from".to_owned()).into_iter().collect();
        for word in words {
            match word.to_ascii_lowercase() {
                name if name == "from" || name == "sender" => {
                    if !sources.contains(&name) {
                        sources.push(name);
                    }
                }
                _ => self.warn(line, format!("{word} has no counterpart: expected From or Sender")),
            }
        }
        // OpenDKIM falls back to From if it finds none of the fields.
        if !sources.iter().any(|source| source == "from") {
            sources.push("from".to_owned());
        }
        self.put("signing", "domain_from", list(&sources));
    }

    fn print(&self) -> String {
        let mut text = HEADER.to_owned();
        for section in SECTIONS {
            let mut settings = self.settings.iter().filter(|setting| setting.section == section).peekable();
            if settings.peek().is_some() && !section.is_empty() {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "\n[{section}]");
            }
            for TomlSetting { name, value, .. } in settings {
                let _ = writeln!(text, "{name} = {value}");
            }
        }
        text
    }
}

/// Returns the reason why the filter would not accept a setting.
fn fault(section: &str, name: &str, value: &str) -> Option<String> {
    let text = match section {
        "" => format!("{name} = {value}\n"),
        section => format!("[{section}]\n{name} = {value}\n"),
    };
    match toml::from_str::<FilterConfig>(&text) {
        Ok(config) => config.check().err().map(|error| error.to_string()),
        Err(error) => Some(error.message().to_owned()),
    }
}

/// Returns true if a macro has the envelope sender.
fn is_envelope_macro(line: &ConfLine) -> bool {
    line.value.trim_matches(['{', '}']).eq_ignore_ascii_case("mail_addr")
}

/// Returns the value of `mode`: `s` signs and `v` verifies.
fn mode(value: &str) -> Result<String, String> {
    match (value.contains('s'), value.contains('v')) {
        _ if !value.chars().all(|char| char == 's' || char == 'v') => Err("expected s, v or sv".to_owned()),
        (true, true) => Ok(quoted("both")),
        (true, false) => Ok(quoted("sign")),
        (false, true) => Ok(quoted("verify")),
        (false, false) => Err("expected s, v or sv".to_owned()),
    }
}

fn socket(value: &str) -> Result<String, String> {
    // OpenDKIM takes a text without a colon for a path.
    let text = if value.contains(':') { value.to_owned() } else { format!("local:{value}") };
    let socket: MilterSocket = text.parse().map_err(|error| format!("{error}"))?;
    Ok(list(&[socket.to_string()]))
}

fn canonicalization(value: &str) -> Result<String, String> {
    let (header, body) = value.split_once('/').unwrap_or((value, "simple"));
    let form = |form: &str| ["simple", "relaxed"].into_iter().find(|known| known.eq_ignore_ascii_case(form));
    match (form(header), form(body)) {
        (Some(header), Some(body)) => Ok(quoted(&format!("{header}/{body}"))),
        _ => Err("expected simple or relaxed for the header, and for the body after a slash".to_owned()),
    }
}

fn number(value: &str, allowed: std::ops::RangeInclusive<u32>) -> Result<String, String> {
    let found: Option<u32> = value.parse().ok().filter(|found| allowed.contains(found));
    let expected = || format!("expected a number from {} to {}", allowed.start(), allowed.end());
    found.map(|found| found.to_string()).ok_or_else(expected)
}

fn response(value: &str) -> Result<String, String> {
    let known = ["accept", "reject", "tempfail", "quarantine"];
    let found = known.into_iter().find(|name| *name == value || name[..1] == *value);
    found.map(quoted).ok_or_else(|| {
        format!("{value:?} has no counterpart: expected accept, reject, tempfail or quarantine")
    })
}

fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

/// Returns a basic string of TOML. <https://toml.io/en/v1.0.0#string>
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if char.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted + "\""
}
