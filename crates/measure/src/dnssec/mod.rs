//! `oarlock dnssec bench`, `zonegen` and `capacity`.
//!
//! | module | what it holds |
//! |---|---|
//! | `bench` | whole zones, beside the programs of others |
//! | `zonegen` | zones of made-up delegations |
//! | `capacity` | the answer whether this machine can verify a resolver's load |

pub mod bench;
pub mod capacity;
pub mod zonegen;
