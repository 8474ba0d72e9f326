//! PINs: forbidden lengths, the lock, and the security officer who unlocks.

use cryptoki::error::RvError;
use cryptoki::session::UserType;

use super::{code, create_secret, loaded, logged_in, pin, prepared, read_secrets};
use crate::common::{SO_PIN, STORE, USER_PIN, isolated};

#[test]
fn a_pin_of_0_or_256_bytes_is_out_of_range_and_no_try() {
    isolated(
        "store::pins::a_pin_of_0_or_256_bytes_is_out_of_range_and_no_try",
        STORE,
        |_| (),
        |dir| {
            let (client, slot) = loaded();
            let long = "1".repeat(256);
            for wrong in ["", "123", &long] {
                let made = client.init_token(slot, &pin(wrong), "x").map_err(code);
                assert_eq!(made, Err(RvError::PinLenRange));
                assert!(!dir.path("token").exists(), "no file is made");
            }
            client.finalize().unwrap();
            let (client, slot) = prepared();
            let session = client.open_rw_session(slot).unwrap();
            for wrong in ["", "123", &long] {
                for user in [UserType::User, UserType::So] {
                    let login = session.login(user, Some(&pin(wrong))).map_err(code);
                    assert_eq!(login, Err(RvError::PinLenRange));
                }
                let set = session.set_pin(&pin(USER_PIN), &pin(wrong)).map_err(code);
                assert_eq!(set, Err(RvError::PinLenRange));
            }
            let about = client.get_token_info(slot).unwrap();
            assert!(!about.user_pin_count_low() && !about.so_pin_count_low());
            assert_eq!((about.min_pin_length(), about.max_pin_length()), (4, 255));
            session.login(UserType::So, Some(&pin(SO_PIN))).unwrap();
            for wrong in ["", "123", &long] {
                assert_eq!(session.init_pin(&pin(wrong)).map_err(code), Err(RvError::PinLenRange));
            }
            session.logout().unwrap();
            let longest = &long[..255];
            session.set_pin(&pin(USER_PIN), &pin(longest)).unwrap();
            session.login(UserType::User, Some(&pin(longest))).unwrap();
        },
    );
}

#[test]
fn wrong_pins_lock_the_user_and_the_officer_unlocks() {
    isolated(
        "store::pins::wrong_pins_lock_the_user_and_the_officer_unlocks",
        STORE,
        |_| (),
        |_| {
            let (client, slot) = prepared();
            let session = logged_in(&client, slot).unwrap();
            create_secret(&session, "kept", b"a secret value").unwrap();
            session.logout().unwrap();
            let login = |text: &str| session.login(UserType::User, Some(&pin(text))).map_err(code);
            for left in (0..10).rev() {
                assert_eq!(login("wrong-pin"), Err(RvError::PinIncorrect));
                let about = client.get_token_info(slot).unwrap();
                assert!(about.user_pin_count_low());
                assert_eq!((about.user_pin_final_try(), about.user_pin_locked()), (left == 1, left == 0));
            }
            assert_eq!(login(USER_PIN), Err(RvError::PinLocked));
            let set = session.set_pin(&pin(USER_PIN), &pin("another")).map_err(code);
            assert_eq!(set, Err(RvError::PinLocked));
            session.login(UserType::So, Some(&pin(SO_PIN))).unwrap();
            session.init_pin(&pin("another")).unwrap();
            session.logout().unwrap();
            assert_eq!(login(USER_PIN), Err(RvError::PinIncorrect));
            login("another").unwrap();
            let about = client.get_token_info(slot).unwrap();
            assert!(!about.user_pin_count_low() && !about.user_pin_locked());
            assert_eq!(read_secrets(&session).unwrap(), [("kept".to_owned(), b"a secret value".to_vec())]);
        },
    );
}
