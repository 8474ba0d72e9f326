//! Modules, tokens and PINs that are wrong or missing.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use oarlock_hsm::{HsmError, HsmState};

use crate::own_process::{PIN, key, open, sign, with_faults, with_token, with_tokens, write_private};

#[test]
fn a_token_is_found_by_label_and_by_slot() {
    with_token(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        hsm.probe().unwrap();
        assert!(hsm.report().mechanisms.contains(&"CKM_ECDSA".to_owned()));
        let report = hsm.report();
        assert_eq!((report.state, report.connected), (HsmState::Ready, 1));
        let mut settings = token.settings();
        settings.token = Some("male".into());
        let error = open(settings.clone()).probe().unwrap_err().to_string();
        let (start, end) = error.split_once("\"mail\" in slot ").unwrap();
        assert!(start.contains("libsofthsm2.so has no token \"male\"; found "), "{error}");
        let slot = end.split(',').next().unwrap().parse().unwrap();
        (settings.token, settings.slot) = (None, Some(slot));
        sign(&open(settings.clone()), &key(&hsm, "key")).unwrap();
        settings.slot = Some(slot + 100_000);
        assert!(matches!(open(settings).probe(), Err(HsmError::NoToken { .. })));
    });
}

#[test]
fn two_tokens_with_one_label_are_an_error_that_names_their_slots() {
    with_tokens(&["mail", "mail", "web"], |token| {
        let error = token.hsm().probe().unwrap_err();
        assert!(matches!(error, HsmError::SeveralTokens { found: 2, .. }), "{error}");
        let mut settings = token.settings();
        settings.token = Some("web".into());
        open(settings).probe().unwrap();
    });
}

#[test]
fn files_that_are_not_modules_are_named() {
    with_token(|token| {
        let mut settings = token.settings();
        settings.module = token.directory.join("pin");
        let error = open(settings.clone()).probe().unwrap_err();
        assert!(matches!(error, HsmError::Load { .. }), "{error}");
        assert!(!error.to_string().contains(PIN));
        settings.module = "/nonexistent/module.so".into();
        assert!(matches!(open(settings).probe(), Err(HsmError::Load { .. })));
    });
}

#[test]
fn a_wrong_pin_is_tried_once_until_its_file_has_another_one() {
    with_faults(|token| {
        token.generate_p256("key");
        let path = token.directory.join("pin");
        write_private(&path, "not-the-pin\n");
        let hsm = token.hsm();
        let wrong = hsm.probe().unwrap_err();
        assert!(matches!(wrong, HsmError::WrongPin { .. }), "{wrong}");
        assert!(!wrong.to_string().contains("not-the-pin") && !format!("{hsm:?}").contains("not-the-pin"));
        for _ in 0..3 {
            assert!(matches!(hsm.probe(), Err(HsmError::WrongPin { .. })));
        }
        assert_eq!(token.logins(), 1);
        write_private(&path, &format!("{PIN}\r\nanother line"));
        hsm.probe().unwrap();
        sign(&hsm, &key(&hsm, "key")).unwrap();
    });
}

#[test]
fn flaws_of_the_pin_file_are_named_and_no_login_is_tried() {
    with_faults(|token| {
        let path = token.directory.join("pin");
        let error = |settings| open(settings).probe().unwrap_err().to_string();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let open_file = error(token.settings());
        assert!(open_file.starts_with("pin_file: ") && !open_file.contains(PIN), "{open_file}");
        write_private(&path, "\n");
        assert!(error(token.settings()).ends_with("expected a PIN in the first line"));
        fs::remove_file(&path).unwrap();
        assert!(error(token.settings()).contains("No such file"));
        let without = oarlock_hsm::HsmSettings { pin_file: None, ..token.settings() };
        assert_eq!(error(without), "pin_file: token \"mail\" wants a PIN; name the file that has it");
        assert_eq!(token.logins(), 0);
    });
}

#[test]
fn a_token_that_is_locked_or_nearly_so_is_left_alone() {
    with_faults(|token| {
        token.plant("locked");
        let hsm = token.hsm();
        assert!(matches!(hsm.probe(), Err(HsmError::PinLocked { .. })));
        token.plant("final_try");
        token.remove_fault("locked");
        assert!(matches!(hsm.probe(), Err(HsmError::PinFinalTry { .. })));
        assert_eq!(token.logins(), 0);
        token.remove_fault("final_try");
        hsm.probe().unwrap();
        assert_eq!(token.logins(), 1, "a login is valid in all sessions");
    });
}

#[test]
fn a_token_that_is_missing_at_the_start_is_used_once_it_is_there() {
    with_faults(|token| {
        token.generate_p256("key");
        token.plant("removed");
        let hsm = token.hsm();
        assert!(matches!(hsm.probe(), Err(HsmError::NoToken { .. })));
        let HsmState::Quarantined { reason } = hsm.report().state else { panic!("{:?}", hsm.report()) };
        assert!(reason.contains("has no token"), "{reason}");
        token.remove_fault("removed");
        hsm.probe().unwrap();
        sign(&hsm, &key(&hsm, "key")).unwrap();
    });
}
