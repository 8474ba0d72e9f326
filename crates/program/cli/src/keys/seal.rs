//! `oarlock keys seal` and `oarlock keys unseal`: files that only the holders of identities can open.

use std::fs::{File, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use oarlock_files::output::{Overwrite, checked_path, private_permissions, write_file};
use oarlock_key_files::sealed::{
    AgeIdentities, AgeRecipient, KeyFileContent, KeyFileReadFault, SEALED_ENDING, SealArmor, is_sealed,
    parse_recipients, read_key_file, seal,
};
use oarlock_key_files::{check_private, read_secret};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;
use zeroize::Zeroizing;

use super::args::{SealArgs, SealTo, UnsealArgs};
use super::secret_files::read_identities;
use super::{KeysError, key_file};

/// The largest file in bytes, as for files of symmetric keys.
const MAX_BYTES: usize = super::records::MAX_BYTES;

/// The largest file of recipients in bytes.
const MAX_RECIPIENT_BYTES: usize = 1 << 20;

/// A sealed file, as `--json` prints it.
#[derive(Debug, Serialize)]
struct SealedFileReport {
    file: String,
    recipients: Vec<String>,
    is_armored: bool,
}

/// An opened file, as `--json` prints it.
#[derive(Debug, Serialize)]
struct OpenedFileReport {
    file: String,
}

pub(super) fn run(global: &GlobalOptions, args: &SealArgs) -> Result<(), KeysError> {
    let recipients = args.seal.recipients()?;
    let out = match (&args.out, key_file::is_stdin(&args.file)) {
        (Some(out), _) => out.clone(),
        (None, true) => return Err(KeysError::Usage("a file from stdin needs --out; - is stdout")),
        (None, false) => with_ending(&args.file),
    };
    let armor = if args.armor { SealArmor::Armored } else { SealArmor::Binary };
    let is_stdout = key_file::is_stdin(&out);
    if is_stdout && !args.armor && io::stdout().is_terminal() {
        return Err(KeysError::Usage("stdout is a terminal: --armor makes text, --out names a file"));
    }
    if !is_stdout {
        checked_path(&out, overwrite(args.force))?;
    }
    let content = read(&args.file)?;
    let sealed = seal(&content, &recipients, armor)
        .map_err(|fault| KeysError::Sealed { path: args.file.clone(), fault })?;
    if is_stdout {
        return Ok(io::stdout().write_all(&sealed)?);
    }
    write_file(&out, &sealed, sealed_permissions(), overwrite(args.force))?;
    if !key_file::is_stdin(&args.file) {
        eprintln!("oarlock: {} is still there, and is not sealed", args.file.display());
    }
    let report = SealedFileReport {
        file: out.display().to_string(),
        recipients: recipients.iter().map(ToString::to_string).collect(),
        is_armored: args.armor,
    };
    print_report(global.json, &report, |_| {
        format!("file        {}\nrecipients  {}\n", report.file, report.recipients.join("\n            "))
    })?;
    Ok(())
}

pub(super) fn run_unseal(global: &GlobalOptions, args: &UnsealArgs) -> Result<(), KeysError> {
    let identities = read_identities(&args.identity)?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => without_ending(&args.file)
            .ok_or(KeysError::Usage("a file whose name does not end in .age needs --out; - is stdout"))?,
    };
    let is_stdout = key_file::is_stdin(&out);
    if is_stdout && io::stdout().is_terminal() {
        return Err(KeysError::Usage("stdout is a terminal, and the file is secret: --out names a file"));
    }
    if !is_stdout {
        checked_path(&out, overwrite(args.force))?;
    }
    let content = read_content(&args.file, MAX_BYTES, Some(&identities))?;
    if !content.form.is_sealed() {
        return Err(KeysError::NotSealed { path: args.file.clone() });
    }
    if is_stdout {
        return Ok(io::stdout().write_all(&content.bytes)?);
    }
    write_file(&out, &content.bytes, private_permissions(), overwrite(args.force))?;
    let report = OpenedFileReport { file: out.display().to_string() };
    print_report(global.json, &report, |_| format!("file  {}\n", report.file))?;
    Ok(())
}

impl SealTo {
    /// Returns true if a file is to be sealed.
    pub(super) fn is_given(&self) -> bool {
        !self.to.is_empty() || !self.to_file.is_empty()
    }

    /// Returns the recipients of the arguments and of the files.
    pub(super) fn recipients(&self) -> Result<Vec<AgeRecipient>, KeysError> {
        let mut recipients = Vec::new();
        for (number, text) in (1..).zip(&self.to) {
            recipients.push(text.parse().map_err(|fault| KeysError::Recipient { number, fault })?);
        }
        for path in &self.to_file {
            let failed = |error| KeysError::Read { path: path.clone(), error };
            let text = read_secret(path, MAX_RECIPIENT_BYTES + 1).map_err(failed)?;
            if text.len() > MAX_RECIPIENT_BYTES {
                return Err(KeysError::LongFile { path: path.clone(), max: MAX_RECIPIENT_BYTES });
            }
            let found = parse_recipients(&text);
            let found = found.map_err(|(line, fault)| KeysError::RecipientLine {
                path: path.clone(),
                line,
                fault,
            })?;
            if found.is_empty() {
                return Err(KeysError::NoRecipient { path: path.clone() });
            }
            recipients.extend(found);
        }
        Ok(recipients)
    }
}

/// Reads a file, and opens it if it is sealed; `-` is stdin.
pub(super) fn read_content(
    path: &Path,
    max_bytes: usize,
    identities: Option<&AgeIdentities>,
) -> Result<KeyFileContent, KeysError> {
    let from = if key_file::is_stdin(path) { Path::new("/dev/stdin") } else { path };
    let content = read_key_file(from, max_bytes, identities).map_err(|fault| match fault {
        KeyFileReadFault::Sealed(fault) => KeysError::Sealed { path: path.to_owned(), fault },
        KeyFileReadFault::Io(error) => KeysError::Read { path: path.to_owned(), error },
        other => KeysError::Read { path: path.to_owned(), error: io::Error::other(other) },
    })?;
    Ok(content)
}

/// Everybody may read a sealed file.
pub(super) fn sealed_permissions() -> Permissions {
    Permissions::from_mode(0o644)
}

/// Returns the path with the ending of sealed files.
pub(super) fn with_ending(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(SEALED_ENDING);
    name.into()
}

/// Returns the path without the ending of sealed files, or None if it does not have it.
pub(super) fn without_ending(path: &Path) -> Option<PathBuf> {
    (path.extension()? == SEALED_ENDING).then(|| path.with_extension(""))
}

fn overwrite(is_forced: bool) -> Overwrite {
    if is_forced { Overwrite::AnyFile } else { Overwrite::Nothing }
}

/// Reads a file that is not sealed yet. Other users must not be able to read it.
fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, KeysError> {
    let from = if key_file::is_stdin(path) { Path::new("/dev/stdin") } else { path };
    let failed = |error| KeysError::Read { path: path.to_owned(), error };
    let content = read_secret(from, MAX_BYTES + 1).map_err(failed)?;
    // Before the mode is checked: everybody may read a sealed file.
    if is_sealed(&content) {
        return Err(KeysError::SealedAlready { path: path.to_owned() });
    }
    File::open(from).and_then(|file| check_private(from, &file)).map_err(failed)?;
    if content.len() > MAX_BYTES {
        return Err(KeysError::LongFile { path: path.to_owned(), max: MAX_BYTES });
    }
    Ok(content)
}
