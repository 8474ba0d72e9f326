//! Arguments of `oarlock ladder`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use oarlock::BlockCipher;
use oarlock_keytable::KeyType;

/// Arguments of `oarlock ladder`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: oarlock ladder --batches 1,1000 --seconds 0.05")]
pub(crate) struct LadderArgs {
    /// Cipher: des, as in the paper, or tdes (three keys)
    #[arg(long, value_name = "NAME", default_value = "des")]
    pub(super) cipher: LadderCipher,
    /// Numbers of operations per batch, 1 to 1000000 each, separated by commas
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1,10,100,1000,10000,100000")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) batches: Vec<u32>,
    /// Bytes per operation: 8-80 (multiples of 8, uniform) or 40, or both
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', default_value = "8-80,40")]
    pub(super) lengths: Vec<OpLengths>,
    /// Number of different keys, 1 to 65536
    #[arg(long, value_name = "N", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(super) keys: u32,
    /// Seconds of work for each step at each batch size, above 0 and at most 60; a slower step runs one batch
    #[arg(long, value_name = "SECONDS", default_value = "0.2", value_parser = seconds)]
    pub(super) seconds: Duration,
    /// Draw the steps against batch size into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
}

/// The cipher of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LadderCipher {
    Des,
    Tdes,
}

/// The lengths of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpLengths {
    /// 8 to 80 bytes in multiples of 8, each equally likely: the paper's experiments 1 to 4.
    Uniform,
    /// 40 bytes: its experiments 5 to 8.
    Fixed,
}

/// A word that is not one of the expected ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found:?}")]
pub(super) struct WordError {
    expected: &'static str,
    found: String,
}

impl LadderCipher {
    pub(super) fn alg(self) -> BlockCipher {
        match self {
            Self::Des => BlockCipher::Des,
            Self::Tdes => BlockCipher::Tdes3,
        }
    }

    pub(super) fn key_type(self) -> KeyType {
        match self {
            Self::Des => KeyType::Des,
            Self::Tdes => KeyType::Tdes3,
        }
    }
}

impl FromStr for LadderCipher {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        match text {
            "des" => Ok(Self::Des),
            "tdes" => Ok(Self::Tdes),
            _ => Err(WordError { expected: "des or tdes", found: text.into() }),
        }
    }
}

impl fmt::Display for LadderCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Des => "des",
            Self::Tdes => "tdes",
        })
    }
}

impl FromStr for OpLengths {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        match text.trim() {
            "8-80" => Ok(Self::Uniform),
            "40" => Ok(Self::Fixed),
            _ => Err(WordError { expected: "8-80 or 40", found: text.into() }),
        }
    }
}

impl fmt::Display for OpLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "8-80",
            Self::Fixed => "40",
        })
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 60.0 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number above 0 and at most 60".into()),
    }
}
