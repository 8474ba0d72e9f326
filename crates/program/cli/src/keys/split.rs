//! `oarlock keys split`.

use std::io::{self, Write};
use std::path::PathBuf;

use oarlock::keys::export::Protection;
use oarlock::keys::threshold::{self, Share};
use oarlock::keys::{KeyError, Passphrase};
use oarlock_files::atomic_file::folder_of;
use oarlock_files::output::{Overwrite, checked_path, private_permissions, write_file};
use oarlock_key_files::KeyMaterial;
use oarlock_terminal::GlobalOptions;
use zeroize::Zeroizing;

use super::args::SplitArgs;
use super::summary::KeySummary;
use super::{KeysError, key_file};

pub(super) fn run(global: &GlobalOptions, args: &SplitArgs) -> Result<(), KeysError> {
    let passphrase = args.in_passphrase.read()?;
    let key = key_file::read(&args.file, passphrase.as_ref()).map_err(KeysError::of_input)?;
    let name = args.name.clone().unwrap_or_else(|| key_file::name_of(&args.file));
    key_file::check_name(&name, ": --name gives one")?;
    let passphrase = args.passphrase.read()?;
    let failed = |error| KeysError::Key { path: args.file.clone(), error };
    let (public, shares) = threshold::split(&key, args.threshold, args.shares).map_err(failed)?;
    // All paths are checked before anything is written: an incomplete set of shares is useless.
    let paths: Vec<PathBuf> = shares.iter().map(|share| args.path_of(share, &name)).collect();
    let whole = args.out.join(format!("{name}.threshold.pem"));
    for path in paths.iter().chain([&whole]) {
        checked_path(path, args.over())?;
    }
    for (share, path) in shares.iter().zip(&paths) {
        key_file::make(folder_of(path))?;
        let text = text(share, passphrase.as_ref()).map_err(failed)?;
        write_file(path, text.as_bytes(), private_permissions(), args.over())?;
    }
    write_file(&whole, public.to_pem().map_err(failed)?.as_bytes(), private_permissions(), args.over())?;
    say(global, args, &name, &shares, &paths, &whole)
}

impl SplitArgs {
    /// Returns the file of a share: each server has a key directory, in which the key has the same name.
    fn path_of(&self, share: &Share, name: &str) -> PathBuf {
        self.out.join(format!("server-{}", share.index())).join(format!("{name}.pem"))
    }

    fn over(&self) -> Overwrite {
        if self.force { Overwrite::AnyFile } else { Overwrite::Nothing }
    }
}

fn text(share: &Share, passphrase: Option<&Passphrase>) -> Result<Zeroizing<String>, KeyError> {
    match passphrase {
        Some(passphrase) => share.to_encrypted_pem(passphrase, Protection::default()),
        None => share.to_pem(),
    }
}

fn say(
    global: &GlobalOptions,
    args: &SplitArgs,
    name: &str,
    shares: &[Share],
    paths: &[PathBuf],
    whole: &std::path::Path,
) -> Result<(), KeysError> {
    let abouts: Vec<KeySummary> = shares
        .iter()
        .zip(paths)
        .map(|(share, path)| KeySummary::material(name, &KeyMaterial::Share(share.clone()), path))
        .collect();
    let mut out = io::stdout().lock();
    if global.json {
        let value = serde_json::json!({ "threshold_key": whole, "shares": abouts });
        return Ok(writeln!(out, "{value}")?);
    }
    for path in paths {
        writeln!(out, "{}", path.display())?;
    }
    writeln!(out, "{}  what clients combine and verify with", whole.display())?;
    writeln!(
        out,
        "Any {} of these {} sign as {name}. Give each directory to a server of its own, and remove {}: anyone who has it signs \
         alone.",
        args.threshold,
        args.shares,
        args.file.display()
    )?;
    Ok(out.flush()?)
}
