//! The interface of the libcrypto that loaded this provider: its numbers and structures, the functions that its core
//! lends, parameters, and pausing jobs.
//!
//! | module | content |
//! |---|---|
//! | `abi` | numbers and structures of OpenSSL's headers |
//! | `core` | error queue, configuration and streams of the core |
//! | `params` | `OSSL_PARAM` arrays, read and written |
//! | `fallback` | the provider that computes what this one does not offer |
//! | `async_job` | `ASYNC_JOB`: jobs that pause while their operation is pending |

pub(crate) mod abi;
pub(crate) mod async_job;
pub(crate) mod core;
pub(crate) mod fallback;
pub(crate) mod params;
