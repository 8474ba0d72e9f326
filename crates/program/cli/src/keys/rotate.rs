//! `oarlock keys rotate`.

use std::path::PathBuf;

use oarlock::keys::generate;
use oarlock_records::{Rotation, VersionRange};
use oarlock_server::development::Development;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

use super::args::RotateArgs;
use super::records::RecordsAccess;
use super::{KeysError, records};

/// The versions of a key, as `--json` prints them.
#[derive(Debug, Serialize)]
struct KeyVersionReport {
    name: String,
    /// The version that encrypts.
    version: u32,
    /// The oldest version that may be used.
    min_version: u32,
    file: String,
}

pub(super) fn run(global: &GlobalOptions, args: &RotateArgs) -> Result<(), KeysError> {
    if args.keep_key && args.min_version.is_none() && !args.remove {
        return Err(KeysError::Usage(
            "--keep-key changes nothing by itself: give --min-version or --remove too",
        ));
    }
    let path: PathBuf = match &args.records {
        Some(path) => path.clone(),
        None => Development::of_user()?.records(),
    };
    let rotation = Rotation {
        has_new_key: !args.keep_key,
        min_version: args.min_version,
        removes_old_keys: args.remove,
    };
    let access = RecordsAccess::new(&args.identity, &args.seal)?;
    let range = records::rotate(&path, &args.name, rotation, &access, generate::secret)?;
    let VersionRange { min, newest } = range;
    let report = KeyVersionReport {
        name: args.name.clone(),
        version: newest,
        min_version: min,
        file: path.display().to_string(),
    };
    print_report(global.json, &report, |_| {
        format!(
            "name         {}\nversion      {newest}\nmin version  {min}\nfile         {}\n",
            report.name, report.file
        )
    })?;
    Ok(())
}
