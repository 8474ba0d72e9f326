//! `openssl` with the provider, against `openssl` without: the whole suite for Debian's libraries.
#![allow(clippy::unwrap_used)]

mod common;
mod lives;
mod suite;

use common::{Place, program};

/// Engines on and off: lanes where there are some, and the scalar engine alone.
const SECTIONS: [&str; 2] = ["mode = local", "mode = local\nengines = scalar\nthreads = 1"];

#[test]
fn signatures_of_either_side_verify_at_the_other() {
    for place in places() {
        suite::signatures(&place);
    }
}

#[test]
fn decryption_takes_what_plain_openssl_encrypted() {
    for place in places() {
        suite::encryption(&place);
    }
}

#[test]
fn x25519_agrees_with_plain_openssl() {
    for place in places() {
        suite::agreement(&place);
    }
}

#[test]
fn certificates_and_requests_are_signed() {
    for place in places() {
        suite::certificates(&place);
    }
}

#[test]
fn handshakes_with_every_key_succeed_in_both_versions_of_tls() {
    for place in places() {
        place.keys();
        suite::handshakes(&place);
    }
}

#[test]
fn every_group_of_tls_is_there() {
    for place in places() {
        place.keys();
        suite::groups(&place);
    }
}

#[test]
fn keys_are_made_by_either_key_manager() {
    for place in places() {
        suite::generation(&place);
    }
}

#[test]
fn what_is_not_offered_is_left_to_the_default_provider() {
    for place in places() {
        suite::left_alone(&place);
    }
}

#[test]
fn jobs_pause_and_their_signatures_are_right() {
    for place in places() {
        suite::async_jobs(&place);
    }
}

#[test]
fn programs_load_and_unload_it_fork_and_have_threads_and_contexts() {
    for place in places() {
        place.keys();
        lives::lead(&place, &["rsa", "p256"]);
    }
}

#[test]
fn bad_input_is_said_on_the_error_queue() {
    for place in places() {
        suite::bad_input(&place);
    }
}

#[test]
fn the_provider_says_who_it_is() {
    for place in places() {
        let said = place.openssl("list -providers -verbose").ok();
        for expected in ["name: Oarlock", "status: active", concat!("version: ", env!("CARGO_PKG_VERSION"))] {
            assert!(said.contains(expected), "{said}");
        }
    }
}

fn places() -> Vec<Place> {
    if program("openssl").is_none() {
        return Vec::new();
    }
    SECTIONS.iter().map(|section| Place::new(section)).collect()
}
