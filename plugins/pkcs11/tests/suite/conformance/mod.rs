//! Conformance to the standard, also by suites of others.

mod pkcs11_check;
mod profiles;
mod termination;
