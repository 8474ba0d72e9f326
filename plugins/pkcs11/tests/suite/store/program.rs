//! One token for `oarlock token` and the module.

use std::path::PathBuf;

use cryptoki::error::RvError;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use oarlock::Curve;
use oarlock::keys::{export, generate};

use super::{code, create_secret, loaded, logged_in, pin, prepared};
use crate::common::{SO_PIN, STORE, TestDirectory, USER_PIN, isolated};

/// Returns the program of this build, or prints SKIPPED: cargo builds it for all packages together only.
fn program() -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let program = test.parent()?.parent()?.join("oarlock");
    if !program.exists() {
        println!("SKIPPED: {} is not built; `cargo test --workspace` builds it", program.display());
        return None;
    }
    Some(program)
}

fn write_pins(dir: &TestDirectory) {
    dir.write("so.pin", SO_PIN);
    dir.write("user.pin", USER_PIN);
    dir.write("new.pin", "new-user-pin");
    dir.write("k.pem", export::private_pkcs8_pem(&generate::ec(Curve::P256).unwrap()).unwrap().as_bytes());
}

fn find(session: &Session, class: ObjectClass, label: &str) -> ObjectHandle {
    let template = [Attribute::Class(class), Attribute::Label(label.into())];
    session.find_objects(&template).unwrap()[0]
}

#[test]
fn the_module_opens_a_token_of_the_program() {
    isolated("store::program::the_module_opens_a_token_of_the_program", STORE, write_pins, |dir| {
        let Some(program) = program() else { return };
        let run = |arguments: &str| dir.run(&program, &arguments.split(' ').collect::<Vec<_>>());
        run("token init --path token --label made --so-pin-file so.pin --pin-file user.pin");
        run("token import --path token --key k.pem --label k --id 01 --pin-file user.pin");
        let (client, slot) = loaded();
        assert_eq!(client.get_token_info(slot).unwrap().label(), "made");
        let session = logged_in(&client, slot).unwrap();
        let (private, public) =
            (find(&session, ObjectClass::PRIVATE_KEY, "k"), find(&session, ObjectClass::PUBLIC_KEY, "k"));
        let signature = session.sign(&Mechanism::EcdsaSha256, private, b"data").unwrap();
        session.verify(&Mechanism::EcdsaSha256, public, b"data", &signature).unwrap();
        // The program changes the token while the module has it open.
        run("token import --path token --key k.pem --label again --id 02 --pin-file user.pin");
        let again = find(&session, ObjectClass::PRIVATE_KEY, "again");
        let signature = session.sign(&Mechanism::EcdsaSha256, again, b"data").unwrap();
        session.verify(&Mechanism::EcdsaSha256, public, b"data", &signature).unwrap();
        run("token pin --path token --pin-file user.pin --new-pin-file new.pin");
        session.logout().unwrap();
        let login = |text| session.login(UserType::User, Some(&pin(text))).map_err(code);
        assert_eq!(login(USER_PIN), Err(RvError::PinIncorrect));
        login("new-user-pin").unwrap();
    });
}

#[test]
fn the_program_lists_a_token_of_the_module() {
    isolated("store::program::the_program_lists_a_token_of_the_module", STORE, write_pins, |dir| {
        let Some(program) = program() else { return };
        let (client, slot) = prepared();
        let session = logged_in(&client, slot).unwrap();
        create_secret(&session, "a secret", &[7; 32]).unwrap();
        let public =
            [Attribute::Token(true), Attribute::Label("pair".into()), Attribute::EcParams(P256.to_vec())];
        let private = [Attribute::Token(true), Attribute::Label("pair".into()), Attribute::Id(vec![0xab])];
        let made = session.generate_key_pair(&Mechanism::EccKeyPairGen, &public, &private).unwrap();
        let list = |arguments: &[&str]| {
            dir.run(&program, &[&["token", "list", "--path", "token"], arguments].concat())
        };
        let listed = list(&["--pin-file", "user.pin"]);
        for expected in ["secret key   a secret", "private key  pair", "public key   pair", "p256", "  ab  "]
        {
            assert!(listed.contains(expected), "{expected:?} is missing in\n{listed}");
        }
        assert!(!list(&[]).contains("a secret"), "private objects need a login");
        // The module still uses what it has made, under the label that it gives it now.
        session.update_attributes(made.1, &[Attribute::Label("renamed".into())]).unwrap();
        assert!(list(&["--pin-file", "user.pin"]).contains("private key  renamed"));
        let label = session.get_attributes(made.1, &[AttributeType::Label]).unwrap();
        assert_eq!(label, [Attribute::Label("renamed".into())]);
    });
}

/// The object identifier of P-256 in DER.
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
