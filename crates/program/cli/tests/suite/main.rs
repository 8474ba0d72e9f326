//! The program `oarlock` as its users run it.
//!
//! | module | what it holds |
//! |---|---|
//! | `commands`, `command_line` | output, exit codes, positions of options, errors of usage, JSON documents |
//! | `serve`, `serve_load`, `serve_faults` | the server as its operators run it: under load, killed, reloaded |
//! | `call`, `other_languages`, `ring`, `haproxy` | clients of a server: ours, in other languages, local, behind HAProxy |
//! | `audit`, `sealed_keys`, `socket_activation` | the audit log, sealed key files, sockets that systemd binds |
//! | `milter`, `proxy` | the mail filter and the TLS proxy |
//! | `hsm` | keys in HSMs at the cryptoserver |
//! | `keys`, `token` | keys and token files |
//! | `dkim`, `dkim_import`, `dkim_publish` | mail, settings of OpenDKIM, and records in zones |
//! | `dnssec_keys`, `dnssec_key_times`, `dnssec_sign`, `dnssec_verify` | zones and their keys |
//! | `dnssec_parent`, `dnssec_ksr` | zones with their parents and children, and keys that stay offline |
//! | `dnssec_capacity` | the capacity of a resolver |
//! | `text_files` | every reader of text, with the line ends of other systems |
//! | `records`, `records_arrow`, `records_server`, `bouncy_castle` | columns of files, also at a server and beside other programs |
//! | `sockets_command`, `hand_over` | the kernel's TLS records, and commands that the laboratory runs |
//! | `guides` | the guides of docs/guides |
//! | `no_key_bytes` | no byte of a private key in any text |
//! | `install`, `image` | what `make install`, `make deb` and packaging/Dockerfile make |
//! | `program`, `served`, `guide`, `zones`, `damage`, `driven`, `sentinel` | helpers |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]

mod audit;
mod bouncy_castle;
mod call;
mod command_line;
mod commands;
mod damage;
mod dkim;
mod dkim_import;
mod dkim_publish;
mod dnssec_capacity;
mod dnssec_key_times;
mod dnssec_keys;
mod dnssec_ksr;
mod dnssec_parent;
mod dnssec_sign;
mod dnssec_verify;
mod driven;
mod guide;
mod guides;
mod hand_over;
mod haproxy;
mod hsm;
mod image;
mod install;
mod keys;
mod milter;
mod no_key_bytes;
mod other_languages;
mod program;
mod proxy;
mod records;
mod records_arrow;
mod records_server;
mod ring;
mod sealed_keys;
mod sentinel;
mod serve;
mod serve_faults;
mod serve_load;
mod served;
mod socket_activation;
mod sockets_command;
mod text_files;
mod token;
mod zones;
