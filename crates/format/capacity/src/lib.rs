//! The signatures per second that a resolver must verify, from its queries per second. Internal to Oarlock: the
//! interface changes without notice.
//!
//! The model is that of Hageman, van Rijswijk-Deij, Pras and Sperotto, "The Performance Impact of Elliptic Curve
//! Cryptography on DNSSEC Validation" (2016), as Blaauwendraad (2017) uses it for small machines: a chain of four
//! linear functions,
//!
//! ```text
//! f1: R   = r   Q   + beta1      responses from queries
//! f2: R_s = a_s R   + beta2      responses with signatures
//! f3: S   = s   R_s + beta3      signatures
//! f4: S_v = a_v S   + beta4      signatures to verify
//! f:  S_v = a Q + b,   a = a_v s a_s r,   b = a_v (s (a_s beta1 + beta2) + beta3) + beta4
//! ```
//!
//! | item | content |
//! |---|---|
//! | [`walk_message`] | a message: query or response, and its signatures |
//! | [`Traffic`] | messages counted by the second, in bounded memory, with a simulated cache |
//! | [`QueryBurst`] | queries per second: maximum and percentiles |
//! | [`LineFit`] | a line through intervals, with its error |
//! | [`DemandModel`], [`round_up_requirement`] | f, and the required rate |
//! | [`CpuBudget`] | the capacity of a resolver that does other work too |
//! | [`capture`] | DNS messages in packet captures, dnstap and query logs |
#![forbid(unsafe_code)]

mod budget;
mod burst;
mod cache;
pub mod capture;
mod fit;
mod message;
mod model;
#[cfg(test)]
mod tests;
mod traffic;

pub use self::budget::{CpuBudget, OVERHEAD_US};
pub use self::burst::QueryBurst;
pub use self::fit::LineFit;
pub use self::message::{DnsMessageError, MessageSummary, QUERY, SignatureRecord, walk_message};
pub use self::model::{DemandModel, FunctionOrigin, ModelFunction, round_up_requirement};
pub use self::traffic::{Traffic, TrafficCounts, TrafficLimits};
