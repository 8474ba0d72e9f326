//! The arguments of `oarlock bench resolver`.

use clap::{Args, ValueEnum};

use super::plan::ResolverName;
use crate::bench::args::SetUpArgs;
use crate::dnssec::bench::ZoneKeyKind;

/// Arguments of `oarlock bench resolver`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
                  oarlock bench resolver --resolvers unbound --keys p256\n  \
                  oarlock --engines scalar --json bench resolver >resolver.json\n  \
                  oarlock dnssec capacity --queries-per-second 500 --worst-case --overhead-from resolver.json\n\n\
                  Knot serves a signed root and signed zones below it on this machine. Each zone has one key and many names. The \
                  resolvers trust the root and ask Knot alone. Every query is for a name that its resolver has not seen, so the \
                  resolver fetches one set with one signature and verifies it. Every answer must have the bit AD.\n\
                  A resolver runs once with OpenSSL's default provider, and once for each engine of this machine (or of --engines) \
                  with Oarlock's provider before it. They take turns on the first core of this process; Knot and the queries have \
                  the other cores.\n\
                  cpu_us is the CPU time of the whole resolver process per validated answer. unvalidated_cpu_us is the same for a \
                  zone of the same content without a DS record, whose answers the resolver passes on unverified. verify_us is one \
                  verification alone, as `oarlock dnssec capacity` measures it; overhead_us is the rest of the difference. Fields \
                  of the default provider begin with peer_. ratio is peer_cpu_us divided by cpu_us, the median over turns. limit is \
                  the ratio if a verification cost nothing.")]
pub(in crate::bench) struct ResolverBenchArgs {
    /// Resolvers to measure, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    resolvers: Vec<ResolverName>,
    /// Kinds of the zones' keys, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',')]
    keys: Vec<ZoneKeyKind>,
    /// Number of names that each resolver is asked for in a turn, with validation and again without it, 1 to 1000000
    #[arg(long, value_name = "N", default_value = "3000", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) names: u32,
    /// Number of turns, 1 to 1000
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// Number of queries that wait for an answer at once, 1 to 256
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) queries: u16,
    #[command(flatten)]
    pub(super) set_up: SetUpArgs,
}

impl ResolverBenchArgs {
    /// Returns the resolvers that were asked for, each once.
    pub(super) fn resolvers(&self) -> Vec<ResolverName> {
        let is_wanted = |name: &ResolverName| self.resolvers.is_empty() || self.resolvers.contains(name);
        ResolverName::value_variants().iter().copied().filter(is_wanted).collect()
    }

    /// Returns the kinds of keys that were asked for, each once.
    pub(super) fn keys(&self) -> Vec<ZoneKeyKind> {
        let is_wanted = |kind: &ZoneKeyKind| self.keys.is_empty() || self.keys.contains(kind);
        ZoneKeyKind::value_variants().iter().copied().filter(is_wanted).collect()
    }

    /// Returns the number of names that a zone needs: those of all turns, and those that warm a resolver up.
    pub(super) fn names_in_zone(&self) -> u32 {
        WARM_UP_NAMES.saturating_add(self.names.saturating_mul(self.turns))
    }
}

/// The number of names that a resolver is asked for before the first turn. The provider builds the table of a key after
/// 32 uses, in the background.
pub(super) const WARM_UP_NAMES: u32 = 500;
