//! Oarlock as a PKCS#11 module. Programs load it and get the function lists of versions 2.40, 3.0 and 3.2, and an
//! interface of its own for many operations in one call. docs/pkcs11.md describes the setup.
//!
//! | module | content |
//! |---|---|
//! | `entry` | the functions that programs call, and all unsafe code |
//! | `config` | the settings file |
//! | `library` | the state between `C_Initialize` and `C_Finalize` |
//! | `slots` | the slots of the settings, with their tokens and the accelerator that they share |
//! | `token` | tokens: a store on disk, a directory of key files, a cryptoserver |
//! | `event` | slot events: tokens that come and go |
//! | `pending` | outputs and descriptors of asynchronous sessions |
//! | `fork` | the recognition of forked children |
//!
//! The rules of PKCS#11 itself are in `oarlock-cryptoki`. This crate turns pointers into slices and settings into
//! slots.
#![deny(unsafe_code)]

mod config;
mod entry;
mod event;
mod fork;
mod library;
mod pending;
mod slots;
mod token;
