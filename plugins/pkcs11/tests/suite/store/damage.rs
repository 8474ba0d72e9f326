//! Files that were cut or changed while nobody had them open.

use std::fs;

use cryptoki::error::RvError;
use rusqlite::{Connection, params};

use super::{create_secret, loaded, logged_in, prepared, read_secrets};
use crate::common::{STORE, TestDirectory, isolated};

/// The type of `CKA_VALUE`.
const VALUE: i64 = 0x11;

/// Makes a token with two secret keys, and closes it.
fn make_token() {
    let (client, slot) = prepared();
    let session = logged_in(&client, slot).unwrap();
    create_secret(&session, "one", &[1; 32]).unwrap();
    create_secret(&session, "two", &[2; 32]).unwrap();
    session.close().unwrap();
    client.finalize().unwrap();
}

/// Opens the token anew and reads all secret values.
fn read_anew() -> Result<Vec<(String, Vec<u8>)>, RvError> {
    let (client, slot) = loaded();
    let read = logged_in(&client, slot).and_then(|session| read_secrets(&session));
    client.finalize().unwrap();
    read
}

fn database(dir: &TestDirectory) -> Connection {
    Connection::open(dir.path("token")).unwrap()
}

#[test]
fn a_token_that_was_cut_is_an_error() {
    isolated(
        "store::damage::a_token_that_was_cut_is_an_error",
        STORE,
        |_| (),
        |dir| {
            make_token();
            let whole = fs::read(dir.path("token")).unwrap();
            let allowed = [RvError::DeviceError, RvError::TokenNotRecognized, RvError::FunctionFailed];
            for len in [0, 1, 15, 100, 1000, 4096, whole.len() / 2, whole.len() - 4096] {
                fs::write(dir.path("token"), &whole[..len]).unwrap();
                let read = read_anew().expect_err("a part of the file is missing");
                assert!(allowed.contains(&read), "cut to {len} bytes: {read:?}");
            }
            fs::write(dir.path("token"), &whole).unwrap();
            assert_eq!(read_anew().unwrap().len(), 2);
        },
    );
}

#[test]
fn objects_with_swapped_rows_are_left_out() {
    isolated(
        "store::damage::objects_with_swapped_rows_are_left_out",
        STORE,
        |_| (),
        |dir| {
            make_token();
            let whole = fs::read(dir.path("token")).unwrap();
            let values = || {
                let database = database(dir);
                let mut query =
                    database.prepare("SELECT object, value FROM attribute WHERE type = ?1").unwrap();
                let rows = query.query_map([VALUE], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
                rows.collect::<Result<Vec<(i64, Vec<u8>)>, _>>().unwrap()
            };
            let [(first, first_value), (second, second_value)] = &values()[..] else { panic!() };
            assert_eq!(first_value.len(), second_value.len(), "only their positions differ");
            let connection = database(dir);
            let set = "UPDATE attribute SET value = ?1 WHERE object = ?2 AND type = ?3";
            connection.execute(set, params![first_value, second, VALUE]).unwrap();
            connection.execute(set, params![second_value, first, VALUE]).unwrap();
            drop(connection);
            assert_eq!(read_anew(), Ok(vec![]), "swapped values");

            fs::write(dir.path("token"), &whole).unwrap();
            let connection = database(dir);
            let moved = "UPDATE attribute SET object = ?1 WHERE object = ?2";
            connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
            for (to, from) in [(&i64::MAX, first), (first, second), (second, &i64::MAX)] {
                connection.execute(moved, [to, from]).unwrap();
            }
            drop(connection);
            assert_eq!(read_anew(), Ok(vec![]), "swapped objects");

            fs::write(dir.path("token"), &whole).unwrap();
            let connection = database(dir);
            connection.execute(set, params![first_value, second, VALUE]).unwrap();
            drop(connection);
            assert_eq!(read_anew(), Ok(vec![("one".to_owned(), vec![1; 32])]), "one damaged object");

            fs::write(dir.path("token"), &whole).unwrap();
            assert_eq!(read_anew().unwrap().len(), 2);
        },
    );
}

#[test]
fn another_file_is_not_a_token() {
    let name = "store::damage::another_file_is_not_a_token";
    let prepare = |dir: &TestDirectory| dir.write("token", "a text of some other program, and not a token");
    isolated(name, STORE, prepare, |dir| {
        assert_eq!(read_anew(), Err(RvError::TokenNotRecognized));
        let (client, slot) = loaded();
        let made = client.init_token(slot, &super::pin(super::SO_PIN), "x").map_err(super::code);
        assert_eq!(made, Err(RvError::TokenNotRecognized), "it is not replaced");
        assert!(fs::read_to_string(dir.path("token")).unwrap().starts_with("a text"));
    });
}
