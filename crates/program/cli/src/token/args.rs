//! Arguments of `oarlock token`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::key_path::key_path;
use crate::keys::InputPassphrase;

/// Arguments of `oarlock token`.
#[derive(Args, Debug)]
#[command(
    after_help = "A token is one file with keys, certificates and PINs, which the PKCS#11 module offers to other programs. Its \
                  owner alone can read it, and its keys are encrypted under the PINs. The user PIN opens the keys; the PIN of \
                  the security officer (SO) sets and unlocks the user PIN.\n\n\
                  Examples: oarlock token init --path www.token --label www\n          \
                  oarlock token import --path www.token --key www.pem --certificate www.crt --label www --id 01\n          \
                  oarlock token list --path www.token"
)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(super) command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token file, or remove all objects of one
    Init(InitArgs),
    /// Describe a token, and list its objects without their secrets
    List(ListTokenArgs),
    /// Put a private key, its public half and its certificates into a token
    Import(ImportTokenArgs),
    /// Change a PIN, or unlock the user PIN
    Pin(PinArgs),
}

#[derive(Args, Debug)]
#[command(
    after_help = "PINs are asked on the terminal, unless files name them. The first line of such a file is the PIN; nobody else \
                  may be able to read the file.\n\n\
                  Examples: oarlock token init --path www.token --label www\n          \
                  oarlock token init --path www.token --label www --so-pin-file so.pin --pin-file user.pin"
)]
pub(super) struct InitArgs {
    /// File of the token
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) path: PathBuf,
    /// Label of the token, at most 32 bytes
    #[arg(long, value_name = "LABEL")]
    pub(super) label: String,
    /// File with the PIN of the security officer
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) so_pin_file: Option<PathBuf>,
    /// File with the user PIN
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) pin_file: Option<PathBuf>,
    /// Set no user PIN; `oarlock token pin --unlock` sets it later
    #[arg(long, conflicts_with = "pin_file")]
    pub(super) no_user_pin: bool,
    /// Remove all objects and the user PIN of an existing token, which needs the PIN of its security officer
    #[arg(long)]
    pub(super) again: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Without the user PIN, private objects are not listed.\n\n\
                        Examples: oarlock token list --path www.token\n          \
                        oarlock token list --path www.token --login\n          \
                        oarlock token list --path www.token --pin-file user.pin --json")]
pub(super) struct ListTokenArgs {
    /// File of the token
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) path: PathBuf,
    /// Ask for the user PIN on the terminal
    #[arg(long, conflicts_with = "pin_file")]
    pub(super) login: bool,
    /// File with the user PIN
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) pin_file: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "The private key becomes private, sensitive and not extractable. Its public half, and its certificate, get the \
                  same label and the same id. Further certificates of the file get no id.\n\n\
                  Example: oarlock token import --path www.token --key www.pem --certificate www.crt --label www --id 01"
)]
pub(super) struct ImportTokenArgs {
    /// File of the token
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) path: PathBuf,
    /// Private key in PEM or DER, as `oarlock keys import` reads it
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) key: PathBuf,
    /// Certificates in PEM, that of the key first
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) certificate: Option<PathBuf>,
    /// Label of the objects
    #[arg(long, value_name = "LABEL")]
    pub(super) label: String,
    /// Id of the objects (CKA_ID) in hexadecimal digits
    #[arg(long, value_name = "HEX", value_parser = parse_id)]
    pub(super) id: ObjectIdBytes,
    #[command(flatten)]
    pub(super) in_passphrase: InputPassphrase,
    /// File with the user PIN
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) pin_file: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "A PIN is locked after ten wrong tries, by whichever program. The security officer unlocks the user PIN by \
                  setting a new one. A locked PIN of the security officer stays locked.\n\n\
                  Examples: oarlock token pin --path www.token\n          \
                  oarlock token pin --path www.token --so\n          \
                  oarlock token pin --path www.token --unlock"
)]
pub(super) struct PinArgs {
    /// File of the token
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) path: PathBuf,
    /// Change the PIN of the security officer, not the user PIN
    #[arg(long, conflicts_with = "unlock")]
    pub(super) so: bool,
    /// Set a new user PIN with the PIN of the security officer
    #[arg(long)]
    pub(super) unlock: bool,
    /// File with the present user PIN
    #[arg(long, value_name = "FILE", value_parser = key_path(), conflicts_with_all = ["so", "unlock"])]
    pub(super) pin_file: Option<PathBuf>,
    /// File with the present PIN of the security officer
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) so_pin_file: Option<PathBuf>,
    /// File with the new PIN
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) new_pin_file: Option<PathBuf>,
}

/// The id of objects that belong together, `CKA_ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectIdBytes(pub(super) Vec<u8>);

/// Parses an even number of hexadecimal digits, perhaps with colons between the bytes, as OpenSSL prints them.
fn parse_id(text: &str) -> Result<ObjectIdBytes, String> {
    let digits: Vec<u32> =
        text.chars().filter(|letter| *letter != ':').map_while(|c| c.to_digit(16)).collect();
    let is_whole = digits.len() + text.matches(':').count() == text.chars().count();
    if !is_whole || digits.is_empty() || digits.len() % 2 == 1 {
        return Err("expected an even number of hexadecimal digits, such as 01 or a1b2".to_owned());
    }
    Ok(ObjectIdBytes(digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_whole_bytes() {
        assert_eq!(parse_id("01").unwrap().0, [1]);
        assert_eq!(parse_id("A1:b2").unwrap().0, [0xa1, 0xb2]);
        for text in ["", "1", "0x01", "01 02", "g1", ":", "é1"] {
            assert!(parse_id(text).is_err(), "{text}");
        }
    }
}
