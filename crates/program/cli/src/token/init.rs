//! `oarlock token init`.

use oarlock_key_files::objects::{ObjectStore, ObjectStoreError, PinRole, PinRules, StoreFault};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;

use super::TokenError;
use super::args::InitArgs;
use super::list::TokenSummary;
use super::pin_source::PinQuestion;

pub(super) fn run(global: &GlobalOptions, args: &InitArgs) -> Result<(), TokenError> {
    // Before any question.
    let existing = if args.again { Some(ObjectStore::open(&args.path)?) } else { None };
    if existing.is_none() && args.path.symlink_metadata().is_ok() {
        return Err(ObjectStoreError { path: args.path.clone(), fault: StoreFault::Exists }.into());
    }
    let so_pin = match &existing {
        Some(_) => PinQuestion::OFFICER.read(args.so_pin_file.as_deref())?,
        None => PinQuestion::OFFICER.read_new(args.so_pin_file.as_deref())?,
    };
    let user_pin =
        if args.no_user_pin { None } else { Some(PinQuestion::USER.read_new(args.pin_file.as_deref())?) };
    if let Some(pin) = &user_pin {
        check_len(pin.len(), args)?;
    }
    let store = match existing {
        Some(store) => {
            store.initialise_again(&so_pin, &args.label)?;
            store
        }
        None => ObjectStore::create(&args.path, &args.label, &so_pin, PinRules::default())?,
    };
    if let Some(pin) = user_pin {
        // Only the security officer may set the first user PIN, as for `C_InitPIN`.
        let officer = store.login(PinRole::SecurityOfficer, &so_pin)?;
        store.init_pin(&officer, &pin)?;
    }
    let summary = TokenSummary::from_store(&store)?;
    Ok(print_report(global.json, &summary, |_| summary.to_text())?)
}

/// Checks the length of the user PIN before a file is made.
fn check_len(found: usize, args: &InitArgs) -> Result<(), TokenError> {
    let rules = PinRules::default();
    let (min, max) = (rules.min_bytes as usize, rules.max_bytes as usize);
    if (min..=max).contains(&found) {
        return Ok(());
    }
    Err(TokenError::UserPinLength { path: args.path.clone(), found, min, max })
}
