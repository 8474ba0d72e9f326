//! `openssl` with the provider against `openssl` without it: the whole suite for Debian's libraries.

use crate::common::{TestDirectory, program};
use crate::lives;
use crate::post_quantum::keys;
use crate::{comparison, conformance};

/// The sections of the provider: all engines, and the scalar engine alone.
const SECTIONS: [&str; 2] = ["mode = local", "mode = local\nengines = scalar\nthreads = 1"];

#[test]
fn verifies_signatures_of_plain_openssl_and_the_opposite() {
    for dir in test_directories() {
        conformance::signatures(&dir);
    }
}

#[test]
fn decrypts_messages_of_plain_openssl() {
    for dir in test_directories() {
        conformance::encryption(&dir);
    }
}

#[test]
fn agrees_on_secrets_with_plain_openssl() {
    for dir in test_directories() {
        conformance::agreement(&dir);
    }
}

#[test]
fn derives_keys_of_tls_as_plain_openssl() {
    for dir in test_directories() {
        conformance::derivations(&dir);
    }
}

#[test]
fn encrypts_and_decrypts_mail_for_ec_keys() {
    for dir in test_directories() {
        conformance::enveloped_mail(&dir);
    }
}

#[test]
fn signs_certificates_and_requests() {
    for dir in test_directories() {
        conformance::certificates(&dir);
    }
}

#[test]
fn handshakes_with_every_key_succeed_in_both_versions_of_tls() {
    for dir in test_directories() {
        dir.keys();
        conformance::handshakes(&dir);
    }
}

#[test]
fn offers_every_tls_group() {
    for dir in test_directories() {
        dir.keys();
        conformance::groups(&dir);
    }
}

#[test]
fn keys_of_both_key_managers_work() {
    for dir in test_directories() {
        conformance::generation(&dir);
    }
}

#[test]
fn leaves_unsupported_operations_to_the_default_provider() {
    for dir in test_directories() {
        conformance::left_alone(&dir);
    }
}

#[test]
fn takes_no_operation_away() {
    if program("openssl").is_some() {
        comparison::operations(&TestDirectory::new(""));
    }
}

#[test]
fn programs_use_what_only_the_default_provider_has() {
    if program("openssl").is_some() {
        let dir = TestDirectory::new("");
        comparison::configure(&dir);
        dir.key("rsa", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048");
        lives::use_others(&dir, &comparison::CONFIGURATIONS.map(|(name, _, _)| name), "rsa");
    }
}

#[test]
fn takes_no_version_of_tls_away() {
    if program("openssl").is_some() {
        comparison::handshakes(&TestDirectory::new(""));
    }
}

#[test]
fn jobs_pause_and_make_valid_signatures() {
    for dir in test_directories() {
        conformance::async_jobs(&dir);
    }
}

#[test]
fn works_in_processes_that_may_start_no_threads() {
    for dir in test_directories() {
        conformance::without_threads(&dir);
    }
}

#[test]
fn works_in_programs_with_forks_threads_and_contexts() {
    for dir in test_directories() {
        dir.keys();
        lives::lead(&dir, &["rsa", "p256"]);
    }
}

#[test]
fn reports_bad_input_on_the_error_queue() {
    for dir in test_directories() {
        conformance::bad_input(&dir);
    }
}

#[test]
fn lattice_keys_go_to_files() {
    test_directories().iter().for_each(keys::files);
}

#[test]
fn ml_dsa_signs_messages_and_certificates() {
    test_directories().iter().for_each(keys::signatures);
}

#[test]
fn lattice_jobs_pause_and_need_no_stack_of_theirs() {
    test_directories().iter().for_each(|dir| keys::jobs(dir, &[]));
}

#[test]
fn reports_its_name_and_version() {
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
