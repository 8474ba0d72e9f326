//! `openssl` with the provider, against `openssl` without: the whole suite for Debian's libraries.
#![allow(clippy::unwrap_used)]

mod common;
mod lives;
mod suite;

use common::{TestDirectory, program};

/// Engines on and off: lanes where there are some, and the scalar engine alone.
const SECTIONS: [&str; 2] = ["mode = local", "mode = local\nengines = scalar\nthreads = 1"];

#[test]
fn signatures_of_either_side_verify_at_the_other() {
    for dir in test_directories() {
        suite::signatures(&dir);
    }
}

#[test]
fn decryption_takes_what_plain_openssl_encrypted() {
    for dir in test_directories() {
        suite::encryption(&dir);
    }
}

#[test]
fn x25519_agrees_with_plain_openssl() {
    for dir in test_directories() {
        suite::agreement(&dir);
    }
}

#[test]
fn certificates_and_requests_are_signed() {
    for dir in test_directories() {
        suite::certificates(&dir);
    }
}

#[test]
fn handshakes_with_every_key_succeed_in_both_versions_of_tls() {
    for dir in test_directories() {
        dir.keys();
        suite::handshakes(&dir);
    }
}

#[test]
fn every_group_of_tls_is_there() {
    for dir in test_directories() {
        dir.keys();
        suite::groups(&dir);
    }
}

#[test]
fn keys_are_made_by_either_key_manager() {
    for dir in test_directories() {
        suite::generation(&dir);
    }
}

#[test]
fn what_is_not_offered_is_left_to_the_default_provider() {
    for dir in test_directories() {
        suite::left_alone(&dir);
    }
}

#[test]
fn jobs_pause_and_their_signatures_are_right() {
    for dir in test_directories() {
        suite::async_jobs(&dir);
    }
}

#[test]
fn programs_load_and_unload_it_fork_and_have_threads_and_contexts() {
    for dir in test_directories() {
        dir.keys();
        lives::lead(&dir, &["rsa", "p256"]);
    }
}

#[test]
fn bad_input_is_said_on_the_error_queue() {
    for dir in test_directories() {
        suite::bad_input(&dir);
    }
}

#[test]
fn the_provider_says_who_it_is() {
    for dir in test_directories() {
        let said = dir.openssl("list -providers -verbose").ok();
        for expected in ["name: Oarlock", "status: active", concat!("version: ", env!("CARGO_PKG_VERSION"))] {
            assert!(said.contains(expected), "{said}");
        }
    }
}

fn test_directories() -> Vec<TestDirectory> {
    if program("openssl").is_none() {
        return Vec::new();
    }
    SECTIONS.iter().map(|section| TestDirectory::new(section)).collect()
}
