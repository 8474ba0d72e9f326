//! `oarlock sockets probe`: what it prints, and its errors.

use crate::program::{code, oarlock, stderr, text};
use serde_json::Value;

#[test]
fn the_probe_says_what_the_kernel_takes() {
    let output = oarlock(&["--json", "sockets", "probe"]);
    let document: Value = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(document["ciphers"].as_array().unwrap().len(), 6);
    assert!(document["plain_write"]["call_ns"].as_f64().unwrap() > 0.0);
    let choices = document["choices"].as_array().unwrap();
    assert!(
        choices.len() >= 3 && choices.iter().all(|choice| choice["user_record_ns"].as_f64().unwrap() > 0.0)
    );
    let works = document["kernel_tls"]["works"].as_bool().unwrap();
    assert_eq!(works, document["kernel_tls"]["why_not"].is_null());
    let shown = text(&oarlock(&["sockets", "probe"]));
    assert!(shown.starts_with("TLS in the kernel: "), "{shown}");
    if !works {
        assert!(shown.contains("ENOENT: this kernel has no TLS"), "{shown}");
        let stays = |choice: &Value| {
            choice["choice"] == "user" && choice["reason"].as_str().unwrap().contains("ENOENT")
        };
        assert!(choices.iter().all(stays), "{document}");
        assert!(shown.contains("aes128-gcm: user: the kernel is not available: ENOENT"), "{shown}");
    }
}

#[test]
fn wrong_options_are_errors_of_usage() {
    for (arguments, expected) in [
        (&["sockets"][..], "Usage: oarlock sockets"),
        (&["sockets", "probe", "--fast"], "oarlock: unexpected argument '--fast'"),
    ] {
        let output = oarlock(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}
