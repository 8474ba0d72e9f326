//! Token files through the module: PINs, damage, full disks, and other processes.

mod damage;
mod handles;
mod pins;
mod processes;
mod program;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;

use crate::common::{SO_PIN, USER_PIN, module};

fn pin(text: &str) -> AuthPin {
    AuthPin::new(text.into())
}

fn loaded() -> (Pkcs11, Slot) {
    let client = Pkcs11::new(module()).unwrap();
    client.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
    let slot = client.get_all_slots().unwrap()[0];
    (client, slot)
}

/// Makes a token with both PINs. Nobody is logged in.
fn prepared() -> (Pkcs11, Slot) {
    let (client, slot) = loaded();
    client.init_token(slot, &pin(SO_PIN), "a token").unwrap();
    let session = client.open_rw_session(slot).unwrap();
    session.login(UserType::So, Some(&pin(SO_PIN))).unwrap();
    session.init_pin(&pin(USER_PIN)).unwrap();
    session.close().unwrap();
    (client, slot)
}

/// Opens a session of the user on a token that exists.
fn logged_in(client: &Pkcs11, slot: Slot) -> Result<Session, RvError> {
    let session = client.open_rw_session(slot).map_err(code)?;
    session.login(UserType::User, Some(&pin(USER_PIN))).map_err(code)?;
    Ok(session)
}

fn code(error: Error) -> RvError {
    match error {
        Error::Pkcs11(code, _) => code,
        other => panic!("{other}"),
    }
}

/// Makes a readable secret key on the token.
fn create_secret(session: &Session, label: &str, value: &[u8]) -> Result<ObjectHandle, RvError> {
    let template = [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Token(true),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        Attribute::Label(label.into()),
        Attribute::Value(value.to_vec()),
    ];
    session.create_object(&template).map_err(code)
}

/// Returns the labels and the values of all secret keys.
fn read_secrets(session: &Session) -> Result<Vec<(String, Vec<u8>)>, RvError> {
    let found = session.find_objects(&[Attribute::Class(ObjectClass::SECRET_KEY)]).map_err(code)?;
    let read = |object| {
        let wanted = [AttributeType::Label, AttributeType::Value];
        let attributes = session.get_attributes(object, &wanted).map_err(code)?;
        let [Attribute::Label(label), Attribute::Value(value)] = &attributes[..] else {
            panic!("expected a label and a value, found {}", attributes.len())
        };
        Ok((String::from_utf8(label.clone()).unwrap(), value.clone()))
    };
    found.into_iter().map(read).collect()
}
