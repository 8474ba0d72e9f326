//! Faults of modules, planted by the faulty module.

use std::os::unix::process::ExitStatusExt;

use oarlock::JobError;
use oarlock_hsm::{HsmError, HsmSettings, HsmState};

use crate::own_process::{TestToken, key, open, shown, sign, start, with_fatal_faults, with_faults};

fn reason(answer: Result<Vec<u8>, JobError>) -> String {
    match answer {
        Err(JobError::HolderFailed { holder, reason }) if holder == "hsm" => reason,
        other => panic!("{other:?}"),
    }
}

/// A patience that a loaded machine does not exceed by itself, for tests that wait for its end.
fn impatient(token: &TestToken) -> HsmSettings {
    HsmSettings { patience_ms: 2_000, ..token.settings() }
}

#[test]
fn a_lost_login_a_lost_session_and_a_short_removal_are_repaired() {
    with_faults(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        let key = key(&hsm, "key");
        for (fault, repaired, connected) in
            [("logged_out", 1, 1), ("no_session", 2, 1), ("removed_briefly", 2, 2)]
        {
            token.plant_once(fault);
            sign(&hsm, &key).unwrap_or_else(|error| panic!("{fault}: {error}"));
            let report = hsm.report();
            assert_eq!(
                (report.repaired, report.connected, report.failed),
                (repaired, connected, 0),
                "{fault}"
            );
        }
        hsm.probe().unwrap();
    });
}

#[test]
fn a_session_that_is_lost_again_and_again_fails_its_job_only() {
    with_faults(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        let key = key(&hsm, "key");
        token.plant("no_session");
        assert_eq!(reason(sign(&hsm, &key)), "the module fails: the session is still lost after 3 repairs");
        token.remove_fault("no_session");
        sign(&hsm, &key).unwrap();
        token.plant_once("device_error");
        assert!(reason(sign(&hsm, &key)).starts_with("the module fails: "));
        sign(&hsm, &key).unwrap();
        assert_eq!(hsm.report().state, HsmState::Ready);
    });
}

#[test]
fn a_removed_device_answers_a_thousand_jobs_once_each_and_comes_back() {
    with_faults(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        let key = key(&hsm, "key");
        token.plant("removed");
        let answers: Vec<_> = start(&hsm, &key, 1000).iter().collect();
        let mut indices: Vec<usize> = answers.iter().map(|(index, _)| *index).collect();
        indices.sort_unstable();
        assert_eq!(indices, (0..1000).collect::<Vec<_>>());
        assert!(answers.into_iter().all(|(_, answer)| !reason(answer).is_empty()));
        let report = hsm.report();
        match &report.state {
            HsmState::Quarantined { reason } => assert!(reason.contains("has no token"), "{reason}"),
            state => assert_eq!(*state, HsmState::Connecting),
        }
        assert_eq!(report.failed, 1000);
        assert!(hsm.probe().is_err());
        token.remove_fault("removed");
        hsm.probe().unwrap();
        sign(&hsm, &key).unwrap();
    });
}

#[test]
fn a_call_that_hangs_is_abandoned_and_the_others_go_on() {
    with_faults(|token| {
        token.generate_p256("key");
        token.make_gate();
        let hsm = open(impatient(token));
        let key = key(&hsm, "key");
        token.plant_once("hang");
        let hung = start(&hsm, &key, 1);
        let gate = token.hold_gate();
        // The other session answers while the first one hangs, and a third one takes its place.
        start(&hsm, &key, 20).iter().for_each(|(_, answer)| drop(answer.unwrap()));
        assert_eq!(reason(hung.recv().unwrap().1), "the module did not return within 2000 ms");
        start(&hsm, &key, 20).iter().for_each(|(_, answer)| drop(answer.unwrap()));
        let report = hsm.report();
        assert_eq!((report.hanging, report.abandoned, report.failed), (1, 1, 1));
        // When it returns, its answer is not taken any more, and its thread ends.
        drop(gate);
        assert!(hung.recv().is_err(), "one answer, and then the end of its sink");
        sign(&hsm, &key).unwrap();
    });
}

#[test]
fn too_many_calls_that_hang_put_the_device_in_quarantine_until_one_returns() {
    with_faults(|token| {
        token.generate_p256("key");
        token.make_gate();
        let hsm = open(HsmSettings { sessions: 1, ..impatient(token) });
        let key = key(&hsm, "key");
        token.plant("hang");
        for number in 1..=3 {
            assert!(reason(sign(&hsm, &key)).contains("did not return"), "{number}");
        }
        let refused = reason(sign(&hsm, &key));
        assert!(refused.contains("3 threads hang in the module"), "{refused}");
        assert!(matches!(hsm.probe(), Err(HsmError::TooManyHung { threads: 3 })));
        token.remove_fault("hang");
        drop(token.hold_gate());
        while hsm.report().hanging > 2 {
            std::thread::yield_now();
        }
        hsm.probe().unwrap();
        sign(&hsm, &key).unwrap();
    });
}

#[test]
fn a_login_that_hangs_is_abandoned_too() {
    with_faults(|token| {
        token.generate_p256("key");
        token.make_gate();
        token.plant_once("hang_login");
        let hsm = open(HsmSettings { sessions: 1, ..impatient(token) });
        let error = hsm.key(&"pkcs11:object=key".parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains("did not return within 2000 ms"), "{error}");
        drop(token.hold_gate());
        while hsm.report().hanging > 0 {
            std::thread::yield_now();
        }
        hsm.probe().unwrap();
        sign(&hsm, &key(&hsm, "key")).unwrap();
    });
}

#[test]
fn wrong_short_and_long_signatures_are_not_released_and_lead_to_quarantine() {
    with_faults(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        let key = key(&hsm, "key");
        for (fault, expected) in
            [("wrong", "its signature does not verify"), ("short", "a signature of 63 bytes, expected 64")]
        {
            token.plant_once(fault);
            assert_eq!(reason(sign(&hsm, &key)), format!("the module gave a wrong answer: {expected}"));
        }
        sign(&hsm, &key).unwrap();
        assert_eq!((hsm.report().wrong, hsm.report().state), (2, HsmState::Ready));
        token.plant("long");
        token.plant("stays_long");
        token.plant("wrong");
        assert_eq!(
            reason(sign(&hsm, &key)),
            "the module gave a wrong answer: a signature of 128 bytes, expected 64"
        );
        token.remove_fault("long");
        token.remove_fault("stays_long");
        // The probe makes the suspect signature again, and the module is still wrong.
        let refused = reason(sign(&hsm, &key));
        assert!(refused.contains("quarantine") || refused.contains("wrong answer"), "{refused}");
        assert!(matches!(hsm.probe(), Err(HsmError::Wrong { .. })));
        token.remove_fault("wrong");
        hsm.probe().unwrap();
        sign(&hsm, &key).unwrap();
    });
}

#[test]
fn lies_about_lengths_and_counts_fail_one_job_and_leave_a_usable_device() {
    with_faults(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        let key = key(&hsm, "key");
        token.plant_once("huge");
        assert!(reason(sign(&hsm, &key)).contains("impossible lengths"));
        sign(&hsm, &key).unwrap();
        token.plant_once("tiny");
        assert!(reason(sign(&hsm, &key)).contains("the module fails"));
        sign(&hsm, &key).unwrap();
        // The buffer cannot have more bytes than its length: it has the signature, which verifies.
        token.plant_once("length_lie");
        sign(&hsm, &key).unwrap();
        token.plant_once("count_lie");
        let lie = hsm.key(&"pkcs11:object=key".parse().unwrap());
        assert!(matches!(lie, Err(HsmError::Wrong { .. })), "{lie:?}");
        sign(&hsm, &key).unwrap();
    });
}

#[test]
fn a_token_with_one_session_serves_all_jobs() {
    with_faults(|token| {
        token.generate_p256("key");
        token.plant("one_session");
        let hsm = open(HsmSettings { sessions: 8, ..token.settings() });
        let key = key(&hsm, "key");
        start(&hsm, &key, 100).iter().for_each(|(_, answer)| drop(answer.unwrap()));
        token.plant_once("no_session");
        sign(&hsm, &key).unwrap();
        let report = hsm.report();
        assert_eq!((report.state, report.failed, report.connected), (HsmState::Ready, 0, 1));
    });
}

#[test]
fn a_module_that_prints_forks_and_starts_threads_changes_nothing() {
    with_faults(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        let key = key(&hsm, "key");
        for fault in ["print", "thread", "fork"] {
            token.plant_once(fault);
            sign(&hsm, &key).unwrap();
        }
        drop(hsm);
    });
}

#[test]
fn a_dropped_device_answers_what_is_queued() {
    let output = with_fatal_faults(|token| {
        token.generate_p256("key");
        token.make_gate();
        let hsm = open(HsmSettings { sessions: 1, ..token.settings() });
        let key = key(&hsm, "key");
        token.plant_once("hang");
        let answers = start(&hsm, &key, 10);
        // The first job is in the module, and so the others are queued.
        let gate = token.hold_gate();
        drop(hsm);
        for _ in 1..10 {
            assert_eq!(reason(answers.recv().unwrap().1), "the device is closed");
        }
        drop(gate);
        let (index, answer) = answers.recv().unwrap();
        assert_eq!(index, 0);
        answer.unwrap();
    });
    // Its thread may close its session when the process ends, which SoftHSM does not survive.
    if let Some(output) = output {
        assert!(String::from_utf8_lossy(&output.stdout).contains(" ... ok"), "{}", shown(&output));
    }
}

#[test]
fn a_module_that_crashes_ends_its_process() {
    let output = with_fatal_faults(|token| {
        token.generate_p256("key");
        let hsm = token.hsm();
        let key = key(&hsm, "key");
        sign(&hsm, &key).unwrap();
        token.plant("crash");
        let _ = sign(&hsm, &key);
        unreachable!("the process has ended");
    });
    if let Some(output) = output {
        assert_eq!(output.status.signal(), Some(11), "{}", shown(&output));
    }
}
