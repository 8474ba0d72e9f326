//! `oarlock token list`.

use oarlock::keys::import;
use oarlock_cryptoki::{
    AttributeSet, AttributeType as A, KeyTypeNumber, ObjectClass, TokenObjects, UserType,
};
use oarlock_key_files::TokenFile;
use oarlock_key_files::objects::{ObjectStore, ObjectStoreError, PinLevel, PinRole, PinState};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{TableCell, TextTable};
use serde::Serialize;

use super::TokenError;
use super::args::ListTokenArgs;
use super::pin_source::PinQuestion;
use crate::keys::summary;

pub(super) fn run(global: &GlobalOptions, args: &ListTokenArgs) -> Result<(), TokenError> {
    let store = ObjectStore::open(&args.path)?;
    let pin = match &args.pin_file {
        None if !args.login => None,
        file => Some(PinQuestion::USER.read(file.as_deref())?),
    };
    let list = read_list(store, pin.as_ref().map(|pin| pin.as_slice()), args)?;
    Ok(print_report(global.json, &list, |in_colour| list.to_text(in_colour))?)
}

fn read_list(store: ObjectStore, pin: Option<&[u8]>, args: &ListTokenArgs) -> Result<TokenList, TokenError> {
    if let Some(pin) = pin {
        // The store's own error says how many tries are left.
        store.login(PinRole::User, pin)?;
    }
    let token = TokenSummary::from_store(&store)?;
    // Errors of files are reported with their reason.
    let _ = store.list(None)?;
    let objects = TokenFile::from_store(store);
    let failed = |code| TokenError::Library { path: args.path.clone(), action: "list the objects", code };
    if let Some(pin) = pin {
        // The library has to log in by itself.
        objects.login(UserType::User, Some(pin)).map_err(failed)?;
    }
    let listed = objects.list().map_err(failed)?;
    let damaged = objects.left_out().iter().map(ToString::to_string).collect();
    let objects = listed.iter().map(|object| ObjectSummary::from_attributes(&object.attributes)).collect();
    Ok(TokenList { token, is_complete: pin.is_some(), objects, damaged })
}

/// A token and its objects, as `--json` prints them.
#[derive(Debug, Serialize)]
struct TokenList {
    #[serde(flatten)]
    token: TokenSummary,
    /// True if private objects are listed too.
    is_complete: bool,
    objects: Vec<ObjectSummary>,
    /// The damage of each object that cannot be used.
    damaged: Vec<String>,
}

/// A token without its objects.
#[derive(Debug, Serialize)]
pub(super) struct TokenSummary {
    path: String,
    label: String,
    serial: String,
    user_pin: &'static str,
    so_pin: &'static str,
}

/// An object without its secrets.
#[derive(Debug, Serialize)]
struct ObjectSummary {
    class: String,
    label: String,
    id: String,
    /// The type and the size of a key.
    kind: Option<String>,
    private: bool,
    extractable: Option<bool>,
}

impl TokenSummary {
    pub(super) fn from_store(store: &ObjectStore) -> Result<Self, ObjectStoreError> {
        let about = store.describe()?;
        Ok(Self {
            path: store.path().display().to_string(),
            label: about.label,
            serial: about.serial,
            user_pin: state_word(store.pin_state(PinRole::User)?),
            so_pin: state_word(store.pin_state(PinRole::SecurityOfficer)?),
        })
    }

    pub(super) fn to_text(&self) -> String {
        format!(
            "token     {}\nserial    {}\nuser PIN  {}\nSO PIN    {}\nfile      {}\n",
            self.label, self.serial, self.user_pin, self.so_pin, self.path
        )
    }
}

fn state_word(state: PinState) -> &'static str {
    match state.level() {
        _ if !state.is_set => "not set",
        PinLevel::Full => "set",
        PinLevel::Low => "set, wrong tries since the last login",
        PinLevel::FinalTry => "set, one more wrong try locks it",
        PinLevel::Locked => "locked",
    }
}

impl TokenList {
    fn to_text(&self, in_colour: bool) -> String {
        let hint =
            if self.is_complete { "" } else { "Private objects are listed with --login or --pin-file.\n" };
        let damaged: String = self.damaged.iter().map(|what| format!("damaged   {what}\n")).collect();
        let token = self.token.to_text() + &damaged;
        if self.objects.is_empty() {
            return format!("{token}\nNo objects. {hint}");
        }
        let mut table = TextTable::with_columns(["class", "label", "id", "kind", "private"], []);
        for object in &self.objects {
            let [class, label, id] = [&object.class, &object.label, &object.id].map(|text| cell(text));
            let kind = TableCell::optional(object.kind.as_deref(), TableCell::from);
            table.row([class, label, id, kind, TableCell::from(if object.private { "yes" } else { "no" })]);
        }
        format!("{token}\n{}{hint}", table.render(in_colour))
    }
}

fn cell(text: &str) -> TableCell {
    if text.is_empty() { TableCell::none() } else { TableCell::from(text) }
}

impl ObjectSummary {
    fn from_attributes(attributes: &AttributeSet) -> Self {
        let class = attributes.number(A::CLASS).map(ObjectClass);
        let bytes = |kind| attributes.bytes(kind).unwrap_or_default();
        Self {
            class: class.map_or_else(|| "unknown".to_owned(), class_word),
            // A label is text of others: control characters must not reach the terminal.
            label: String::from_utf8_lossy(bytes(A::LABEL)).escape_debug().to_string(),
            id: bytes(A::ID).iter().map(|byte| format!("{byte:02x}")).collect(),
            kind: kind_of(attributes),
            private: attributes.is_true(A::PRIVATE),
            extractable: attributes.bool(A::EXTRACTABLE),
        }
    }
}

fn class_word(class: ObjectClass) -> String {
    match class {
        ObjectClass::DATA => "data".to_owned(),
        ObjectClass::CERTIFICATE => "certificate".to_owned(),
        ObjectClass::PUBLIC_KEY => "public key".to_owned(),
        ObjectClass::PRIVATE_KEY => "private key".to_owned(),
        ObjectClass::SECRET_KEY => "secret key".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the kind of a key as `oarlock keys` names it: `rsa2048`, `p256`, `aes256`.
fn kind_of(attributes: &AttributeSet) -> Option<String> {
    let key_type = KeyTypeNumber(attributes.number(A::KEY_TYPE)?);
    let public = attributes.bytes(A::PUBLIC_KEY_INFO).and_then(|info| import::spki_der(info).ok());
    if let Some(key) = public {
        return Some(summary::kind(key.kind()));
    }
    let bits = attributes.number(A::VALUE_LEN).map_or_else(String::new, |len| (8 * len).to_string());
    Some(match key_type {
        KeyTypeNumber::AES => format!("aes{bits}"),
        KeyTypeNumber::GENERIC_SECRET => format!("secret{bits}"),
        other => other.to_string(),
    })
}
