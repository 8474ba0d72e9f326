//! The rows: resolvers, providers, keys.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use crate::bench::plan::BenchProgram;

/// A resolver that validates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(in crate::bench) enum ResolverName {
    /// Unbound
    Unbound,
    /// BIND's named
    Bind,
}

/// The provider of a resolver's cryptography.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolverProvider {
    /// OpenSSL's own.
    Default,
    /// Oarlock's, with one engine.
    Oarlock { engine: &'static str },
}

impl ResolverName {
    pub(super) fn program(self) -> BenchProgram {
        match self {
            Self::Unbound => BenchProgram::Unbound,
            Self::Bind => BenchProgram::Named,
        }
    }
}

impl fmt::Display for ResolverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unbound => "unbound",
            Self::Bind => "bind",
        })
    }
}

impl fmt::Display for ResolverProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Oarlock { engine } => engine,
        })
    }
}
