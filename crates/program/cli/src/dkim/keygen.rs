//! `oarlock dkim keygen`.

use std::path::PathBuf;

use oarlock::keys::generate;
use oarlock_dkim::{DkimSigner, RecordOptions, record_text, zone_line};
use oarlock_files::output::Overwrite;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

use super::DkimError;
use super::args::{MailKeyType, MailKeygenArgs};
use crate::keys::{key_file, summary};

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
struct MadeMailKey<'a> {
    path: PathBuf,
    name: String,
    record: &'a str,
    zone_line: String,
}

pub(super) fn run(global: &GlobalOptions, args: &MailKeygenArgs) -> Result<(), DkimError> {
    let passphrase = args.passphrase.read()?;
    let key = match args.kind {
        MailKeyType::Rsa => generate::rsa(args.bits)?,
        MailKeyType::Ed25519 => generate::ed25519()?,
    };
    let path = args.out.clone().unwrap_or_else(|| format!("{}.{}.pem", args.selector, args.domain).into());
    // Made for its checks: no key is written for a domain or selector that cannot sign.
    let signer = DkimSigner::new(&args.domain, &args.selector, key.clone())
        .map_err(|error| DkimError::Signer { path: path.clone(), error })?;
    let options = RecordOptions { is_testing: args.test, is_strict: args.strict, notes: args.notes.clone() };
    let record = record_text(&key, &options)?;
    let over = if args.force { Overwrite::AnyFile } else { Overwrite::Nothing };
    key_file::write(&path, &key, passphrase.as_ref(), over)?;
    summary::warn(signer.selector(), &key);
    let made = MadeMailKey {
        path,
        name: format!("{}._domainkey.{}", signer.selector(), signer.domain()),
        record: &record,
        zone_line: zone_line(signer.selector(), signer.domain(), &record),
    };
    print_report(global.json, &made, |_| format!("{}\n", made.zone_line))?;
    if !global.json {
        eprintln!("oarlock: the private key is in {}; publish the lines above in DNS", made.path.display());
    }
    Ok(())
}
