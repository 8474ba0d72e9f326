//! `oarlock token pin`.

use oarlock_key_files::objects::{ObjectStore, PinRole};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;

use super::TokenError;
use super::args::PinArgs;
use super::list::TokenSummary;
use super::pin_source::PinQuestion;

pub(super) fn run(global: &GlobalOptions, args: &PinArgs) -> Result<(), TokenError> {
    let store = ObjectStore::open(&args.path)?;
    let (new_file, so_file) = (args.new_pin_file.as_deref(), args.so_pin_file.as_deref());
    if args.unlock {
        let so_pin = PinQuestion::OFFICER.read(so_file)?;
        let officer = store.login(PinRole::SecurityOfficer, &so_pin)?;
        store.init_pin(&officer, &PinQuestion::NEW_USER.read_new(new_file)?)?;
    } else if args.so {
        let old = PinQuestion::OFFICER.read(so_file)?;
        store.set_pin(PinRole::SecurityOfficer, &old, &PinQuestion::NEW_OFFICER.read_new(new_file)?)?;
    } else {
        let old = PinQuestion::USER.read(args.pin_file.as_deref())?;
        store.set_pin(PinRole::User, &old, &PinQuestion::NEW_USER.read_new(new_file)?)?;
    }
    let summary = TokenSummary::from_store(&store)?;
    Ok(print_report(global.json, &summary, |_| summary.to_text())?)
}
