//! Sessions, logins and lockouts.

use oarlock_cryptoki::{
    AttributeType as A, CallOutput, KeyTypeNumber, Mechanism, MechanismType as M, ObjectHandle, ReturnCode,
    SessionHandle, SlotId, TokenSessionState, UserType, mechanism_flags, session_flags, token_flags,
};

use crate::common::*;

#[test]
fn a_session_has_the_state_of_its_flags_and_of_the_login() {
    let user = User::logged_out(|_| {});
    let state = |session| user.cryptoki.session_description(session).unwrap().state;
    let reader = user.cryptoki.open_session(SLOT, READ_ONLY).unwrap();
    assert_eq!(
        (state(user.session), state(reader)),
        (TokenSessionState::ReadWritePublic, TokenSessionState::ReadOnlyPublic)
    );
    user.cryptoki.login(reader, UserType::User, Some(USER_PIN)).unwrap();
    assert_eq!(
        (state(user.session), state(reader)),
        (TokenSessionState::ReadWriteUser, TokenSessionState::ReadOnlyUser)
    );
    assert_eq!(user.cryptoki.session_counts(SLOT), Ok((2, 1)));
    user.cryptoki.logout(user.session).unwrap();
    let officer = user.cryptoki.login(user.session, UserType::SecurityOfficer, Some(SO_PIN));
    assert_eq!(officer.unwrap_err(), ReturnCode::SessionReadOnlyExists);
    user.cryptoki.close_session(reader).unwrap();
    user.cryptoki.login(user.session, UserType::SecurityOfficer, Some(SO_PIN)).unwrap();
    assert_eq!(state(user.session), TokenSessionState::ReadWriteSecurityOfficer);
    let reader = user.cryptoki.open_session(SLOT, READ_ONLY);
    assert_eq!(reader.unwrap_err(), ReturnCode::SessionReadWriteSoExists);
}

#[test]
fn flags_and_slots_that_do_not_exist_open_no_session() {
    let user = User::logged_out(|slot| slot.max_sessions = 2);
    let open = |slot, flags| user.cryptoki.open_session(slot, flags);
    assert_eq!(open(SlotId(8), READ_ONLY).unwrap_err(), ReturnCode::SlotIdInvalid);
    assert_eq!(open(SLOT, 0).unwrap_err(), ReturnCode::SessionParallelNotSupported);
    assert_eq!(open(SLOT, READ_ONLY | 1 << 40).unwrap_err(), ReturnCode::ArgumentsBad);
    let second = open(SLOT, READ_ONLY | session_flags::ASYNC_SESSION).unwrap();
    assert_eq!(open(SLOT, READ_ONLY).unwrap_err(), ReturnCode::SessionCount);
    user.cryptoki.close_session(second).unwrap();
    open(SLOT, READ_ONLY).unwrap();
}

#[test]
fn handles_that_are_stale_or_made_up_are_invalid() {
    let user = User::new();
    let stale = user.cryptoki.open_session(SLOT, READ_WRITE).unwrap();
    let key = user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 16)).unwrap();
    user.cryptoki.close_session(stale).unwrap();
    for session in [stale, SessionHandle(0), SessionHandle(u64::MAX)] {
        let init = user.cryptoki.sign_init(session, &Mechanism::plain(M::AES_CMAC), key);
        assert_eq!(init.unwrap_err(), ReturnCode::SessionHandleInvalid);
        assert_eq!(user.cryptoki.close_session(session).unwrap_err(), ReturnCode::SessionHandleInvalid);
    }
    user.cryptoki.destroy_object(user.session, key).unwrap();
    for object in [key, ObjectHandle(0), ObjectHandle(u64::MAX)] {
        let init = user.cryptoki.sign_init(user.session, &Mechanism::plain(M::AES_CMAC), object);
        assert_eq!(init.unwrap_err(), ReturnCode::KeyHandleInvalid);
        let destroyed = user.cryptoki.destroy_object(user.session, object);
        assert_eq!(destroyed.unwrap_err(), ReturnCode::ObjectHandleInvalid);
        assert_eq!(user.get(object, A::LABEL).unwrap_err(), ReturnCode::ObjectHandleInvalid);
    }
}

#[test]
fn a_session_takes_its_objects_with_it_and_leaves_those_of_the_token() {
    let user = User::new();
    let other = user.cryptoki.open_session(SLOT, READ_WRITE).unwrap();
    let generate = |token| {
        let template = Template::new().number(A::VALUE_LEN, 16).flag(A::TOKEN, token);
        user.cryptoki.generate_key(other, &Mechanism::plain(M::AES_KEY_GEN), &template.entries()).unwrap()
    };
    let (of_session, kept) = (generate(false), generate(true));
    assert_eq!(user.find(&Template::new()).len(), 2);
    user.cryptoki.close_session(other).unwrap();
    assert_eq!(user.find(&Template::new()), [kept]);
    assert_eq!(user.get(of_session, A::LABEL).unwrap_err(), ReturnCode::ObjectHandleInvalid);
}

#[test]
fn the_last_session_takes_the_login_with_it() {
    let user = User::new();
    user.cryptoki.close_all_sessions(SLOT).unwrap();
    let session = user.cryptoki.open_session(SLOT, READ_WRITE).unwrap();
    let state = user.cryptoki.session_description(session).unwrap().state;
    assert_eq!(state, TokenSessionState::ReadWritePublic);
}

#[test]
fn a_logout_hides_private_objects_and_ends_operations() {
    let user = User::new();
    let template = Template::new().number(A::VALUE_LEN, 16);
    let of_session = user.generate(M::AES_KEY_GEN, &template).unwrap();
    let kept = user.generate(M::AES_KEY_GEN, &template.clone().flag(A::TOKEN, true)).unwrap();
    let public = user.generate(M::AES_KEY_GEN, &template.flag(A::PRIVATE, false)).unwrap();
    user.cryptoki.sign_init(user.session, &Mechanism::plain(M::AES_CMAC), kept).unwrap();
    user.cryptoki.logout(user.session).unwrap();
    let mut mac = [0; 16];
    let signed = user.cryptoki.sign(user.session, b"m", &mut CallOutput::new(&mut mac));
    assert_eq!(signed.unwrap_err(), ReturnCode::OperationNotInitialized);
    assert_eq!(user.find(&Template::new()), [public]);
    for gone in [of_session, kept] {
        assert_eq!(user.get(gone, A::LABEL).unwrap_err(), ReturnCode::ObjectHandleInvalid);
    }
    assert_eq!(user.cryptoki.logout(user.session).unwrap_err(), ReturnCode::UserNotLoggedIn);
    let private = user.create(&Template::secret(KeyTypeNumber::AES, &[1; 16]));
    assert_eq!(private.unwrap_err(), ReturnCode::UserNotLoggedIn);
    user.cryptoki.login(user.session, UserType::User, Some(USER_PIN)).unwrap();
    // The object of the token is found again, under another handle, and the one of the session has ended.
    assert_eq!(user.find(&Template::new().flag(A::TOKEN, true)).len(), 1);
    assert_eq!(user.find(&Template::new().flag(A::TOKEN, false)), [public]);
    for gone in [of_session, kept] {
        assert_eq!(user.get(gone, A::LABEL).unwrap_err(), ReturnCode::ObjectHandleInvalid);
    }
}

#[test]
fn a_read_only_session_makes_no_token_objects() {
    let user = User::new();
    let reader = user.cryptoki.open_session(SLOT, READ_ONLY).unwrap();
    let mechanism = Mechanism::plain(M::AES_KEY_GEN);
    let template = Template::new().number(A::VALUE_LEN, 16);
    let on_token = template.clone().flag(A::TOKEN, true);
    let made = user.cryptoki.generate_key(reader, &mechanism, &on_token.entries());
    assert_eq!(made.unwrap_err(), ReturnCode::SessionReadOnly);
    user.cryptoki.generate_key(reader, &mechanism, &template.entries()).unwrap();
    let kept = user.generate(M::AES_KEY_GEN, &on_token).unwrap();
    assert_eq!(user.cryptoki.destroy_object(reader, kept).unwrap_err(), ReturnCode::SessionReadOnly);
    let label = Template::new().bytes(A::LABEL, b"a");
    let changed = user.cryptoki.set_attribute_value(reader, kept, &label.entries());
    assert_eq!(changed.unwrap_err(), ReturnCode::SessionReadOnly);
}

#[test]
fn wrong_pins_lock_the_token_and_the_officer_unlocks_it() {
    let user = User::logged_out(|_| {});
    let login = |pin: &[u8]| user.cryptoki.login(user.session, UserType::User, Some(pin));
    let flags = || user.cryptoki.token_description(SLOT).unwrap().flags;
    for (pin, flag) in [
        (&b""[..], token_flags::USER_PIN_COUNT_LOW),
        (&[b'x'; 256][..], token_flags::USER_PIN_FINAL_TRY),
        (&b"wrong"[..], token_flags::USER_PIN_LOCKED),
    ] {
        assert_eq!(login(pin).unwrap_err(), ReturnCode::PinIncorrect);
        assert_ne!(flags() & flag, 0);
    }
    assert_eq!(login(USER_PIN).unwrap_err(), ReturnCode::PinLocked);
    assert_eq!(
        user.cryptoki.init_pin(user.session, Some(b"new pin")).unwrap_err(),
        ReturnCode::UserNotLoggedIn
    );
    user.cryptoki.login(user.session, UserType::SecurityOfficer, Some(SO_PIN)).unwrap();
    assert_eq!(login(USER_PIN).unwrap_err(), ReturnCode::UserAnotherAlreadyLoggedIn);
    assert_eq!(user.cryptoki.init_pin(user.session, Some(b"x")).unwrap_err(), ReturnCode::PinLenRange);
    user.cryptoki.init_pin(user.session, Some(b"new pin")).unwrap();
    user.cryptoki.logout(user.session).unwrap();
    login(b"new pin").unwrap();
    assert_eq!(login(b"new pin").unwrap_err(), ReturnCode::UserAlreadyLoggedIn);
    let changed = user.cryptoki.set_pin(user.session, Some(b"wrong"), Some(b"newer pin"));
    assert_eq!(changed.unwrap_err(), ReturnCode::PinIncorrect);
    user.cryptoki.set_pin(user.session, Some(b"new pin"), Some(b"newer pin")).unwrap();
    user.cryptoki.logout(user.session).unwrap();
    login(b"newer pin").unwrap();
}

#[test]
fn a_token_is_initialised_only_without_sessions() {
    let user = User::new();
    user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 16).flag(A::TOKEN, true)).unwrap();
    let label = *b"another label                   ";
    let init = |pin: &[u8]| user.cryptoki.init_token(SLOT, Some(pin), &label);
    assert_eq!(init(SO_PIN).unwrap_err(), ReturnCode::SessionExists);
    user.cryptoki.close_all_sessions(SLOT).unwrap();
    assert_eq!(init(b"wrong").unwrap_err(), ReturnCode::PinIncorrect);
    init(SO_PIN).unwrap();
    assert_eq!(user.cryptoki.token_description(SLOT).unwrap().label, "another label");
    let session = user.cryptoki.open_session(SLOT, READ_WRITE).unwrap();
    assert_eq!(find(&user.cryptoki, session, &Template::new()), []);
    let login = user.cryptoki.login(session, UserType::User, Some(USER_PIN));
    assert_eq!(login.unwrap_err(), ReturnCode::UserPinNotInitialized);
}

#[test]
fn a_cancelled_operation_is_over() {
    let user = User::new();
    let key = user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 16)).unwrap();
    user.cryptoki.sign_init(user.session, &Mechanism::plain(M::AES_CMAC), key).unwrap();
    user.cryptoki.digest_init(user.session, &Mechanism::plain(M::SHA256)).unwrap();
    let again = user.cryptoki.sign_init(user.session, &Mechanism::plain(M::AES_CMAC), key);
    assert_eq!(again.unwrap_err(), ReturnCode::OperationActive);
    user.cryptoki.session_cancel(user.session, mechanism_flags::SIGN).unwrap();
    let update = user.cryptoki.sign_update(user.session, b"m");
    assert_eq!(update.unwrap_err(), ReturnCode::OperationNotInitialized);
    user.cryptoki.digest_update(user.session, b"the other continues").unwrap();
}

#[test]
fn two_threads_in_one_session_get_answers_and_errors_and_no_panic() {
    let user = User::new();
    let key = user.generate(M::AES_KEY_GEN, &Template::new().number(A::VALUE_LEN, 16)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let mut mac = [0; 16];
                    let init = user.cryptoki.sign_init(user.session, &Mechanism::plain(M::AES_CMAC), key);
                    assert!(matches!(init, Ok(()) | Err(ReturnCode::OperationActive)), "{init:?}");
                    let signed = user.cryptoki.sign(user.session, b"m", &mut CallOutput::new(&mut mac));
                    assert!(
                        matches!(
                            signed,
                            Ok(()) | Err(ReturnCode::OperationActive | ReturnCode::OperationNotInitialized)
                        ),
                        "{signed:?}"
                    );
                }
            });
        }
    });
    // The session is usable afterwards in any case.
    user.cryptoki.session_cancel(user.session, mechanism_flags::SIGN).unwrap();
    assert_eq!(user.sign(&Mechanism::plain(M::AES_CMAC), key, b"m").unwrap().len(), 16);
}

#[test]
fn a_key_that_wants_the_pin_for_each_use_gets_it_for_each_use() {
    let user = User::new();
    let public = Template::new().bytes(A::EC_PARAMS, P256);
    let private = Template::new().flag(A::ALWAYS_AUTHENTICATE, true);
    let (_, key) = user.pair(M::EC_KEY_PAIR_GEN, &public, &private).unwrap();
    let mechanism = Mechanism::plain(M::ECDSA_SHA256);
    let login = |pin: &[u8]| user.cryptoki.login(user.session, UserType::ContextSpecific, Some(pin));
    assert_eq!(login(USER_PIN).unwrap_err(), ReturnCode::OperationNotInitialized);
    for _ in 0..2 {
        user.cryptoki.sign_init(user.session, &mechanism, key).unwrap();
        let mut signature = [0; 64];
        let mut sign = || user.cryptoki.sign(user.session, b"m", &mut CallOutput::new(&mut signature));
        assert_eq!(sign().unwrap_err(), ReturnCode::UserNotLoggedIn);
        assert_eq!(login(b"wrong").unwrap_err(), ReturnCode::PinIncorrect);
        login(USER_PIN).unwrap();
        sign().unwrap();
    }
}
