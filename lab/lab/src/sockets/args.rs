//! Arguments of `oarlock sockets bench`.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use oarlock_measure::sockets::{MAX_CONTENT, SocketSuite};
use serde::Serialize;

use super::error::SocketsError;

/// The longest file: it has to fit into memory, so that no disk is measured.
const MAX_BYTES: u64 = 4 << 30;

/// Arguments of `oarlock-lab sockets`.
#[derive(Args, Debug)]
pub(crate) struct SocketsLabArgs {
    #[command(subcommand)]
    pub(super) command: SocketsLabCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum SocketsLabCommand {
    /// Send a file sealed in four ways, and count the system calls and bytes between user space and kernel
    Bench(Box<SocketsBenchArgs>),
}

/// Arguments of `oarlock sockets bench`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples: oarlock sockets bench\n          \
                  oarlock sockets bench --ways user --records-per-call 1,16 --sizes 4k,16k --plot ways.svg\n\n\
                  Ways: user seals in this process; device asks the kernel's device for each record (AF_ALG), or a cryptoserver \
                  (--device-socket); kernel writes to a socket with the kernel's TLS; sendfile does so without reading the \
                  file; plain seals nothing and is a control.\n\
                  calls_per_buffer and border_bytes_per_byte count the system calls of the sender, and the bytes that they \
                  copy between user space and kernel, the file's own read included; copied_bytes_per_byte is what the program \
                  copies within user space. cpu_seconds is the sender's thread alone.")]
pub(crate) struct SocketsBenchArgs {
    /// Ways to measure, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "WAYS",
        value_delimiter = ',',
        default_value = "user,device,kernel,sendfile"
    )]
    pub(super) ways: Vec<SealMethod>,
    /// Bytes of each buffer, 1 to 16k, separated by commas; k is 1024
    #[arg(long, value_name = "SIZES", value_delimiter = ',', default_value = "4k,8k,16k", value_parser = parse_bytes)]
    pub(super) sizes: Vec<u64>,
    /// Bytes of the file, 1 to 4G; k, M and G are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "100M", value_parser = parse_bytes)]
    pub(super) bytes: u64,
    /// Suites, separated by commas
    #[arg(long, value_enum, value_name = "SUITES", value_delimiter = ',', default_value = "aes128-gcm")]
    pub(super) suite: Vec<SocketSuite>,
    /// Numbers of connections that share the file, 1 to 256 each, separated by commas
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) streams: Vec<u16>,
    /// Records: whole, one for each buffer, or piecemeal, records of 16k that several buffers fill
    #[arg(long, value_enum, value_name = "FRAMES", value_delimiter = ',', default_value = "whole")]
    pub(super) frames: Vec<SocketFrames>,
    /// Numbers of buffers for each call, 1 to 64 each, separated by commas; more than 1 needs whole frames
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) records_per_call: Vec<u16>,
    /// Number of turns of each row, 1 to 100; the median counts
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) turns: u16,
    /// UNIX socket of a cryptoserver, which is the device on a kernel without AF_ALG
    #[arg(long, value_name = "PATH")]
    pub(super) device_socket: Option<PathBuf>,
    /// Draw the CPU time of each way into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
}

impl SocketsBenchArgs {
    /// Checks the values that the parser cannot.
    pub(super) fn check(&self) -> Result<(), SocketsError> {
        let wrong = |option, expected, found: u64| SocketsError::Option {
            option,
            expected,
            found: found.to_string(),
        };
        let max = MAX_CONTENT as u64;
        if let Some(size) = self.sizes.iter().find(|size| !(1..=max).contains(*size)) {
            return Err(wrong("sizes", "1 to 16k bytes, which is the most content of a record", *size));
        }
        if !(1..=MAX_BYTES).contains(&self.bytes) {
            return Err(wrong("bytes", "1 to 4G", self.bytes));
        }
        Ok(())
    }
}

/// A way to send a sealed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SealMethod {
    /// Seal in this process
    User,
    /// Seal by a device: the kernel's, or a cryptoserver
    Device,
    /// Let the socket seal
    Kernel,
    /// Let the socket read the file and seal
    Sendfile,
    /// Seal nothing
    Plain,
}

impl SealMethod {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Device => "device",
            Self::Kernel => "kernel",
            Self::Sendfile => "sendfile",
            Self::Plain => "plain",
        }
    }
}

/// The relation of records to buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SocketFrames {
    /// A record for each buffer
    Whole,
    /// Records of 16k that several buffers fill
    Piecemeal,
}

impl fmt::Display for SocketFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole => "whole",
            Self::Piecemeal => "piecemeal",
        })
    }
}

/// Parses a number of bytes: `4096`, `4k`, `100M`, `1G`.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim_end_matches(['k', 'K', 'M', 'm', 'G', 'g']) {
        digits if digits.len() == text.len() => (digits, 0),
        digits => match &text[digits.len()..] {
            "k" | "K" => (digits, 10),
            "M" | "m" => (digits, 20),
            "G" | "g" => (digits, 30),
            _ => ("", 0),
        },
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "expected a number of bytes, such as 4096, 4k or 100M".into())
}

#[cfg(test)]
mod parser_tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        let cases = [("1", 1), ("4k", 4096), ("4K", 4096), ("100M", 100 << 20), ("2G", 2 << 30)];
        for (text, bytes) in cases {
            assert_eq!(parse_bytes(text), Ok(bytes));
        }
        for text in ["", "k", "4kk", "4T", "-1", "1.5k", "99999999999999999999", "99999999999999G", "ä"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
