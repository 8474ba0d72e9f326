//! The job that the arguments describe for an Arrow file, and the options that do not suit one.

use oarlock::{FpeAlg, MacAlg};
use oarlock_columns::{ColumnCipher, ColumnIv};
use oarlock_keytable::TokenFormat;
use oarlock_records::{Encoding, Padding, RowCipher, TweakFrom};

use super::{CipherArgs, FileArgs, IvOrigin, OldIvOrigin, RecordTokenArgs, RecordsArgs, RecordsCommand};
use crate::records::RecordsError;

/// A job on a column of an Arrow file.
#[derive(Debug)]
pub(in crate::records) struct ArrowJob {
    pub(in crate::records) column: String,
    /// The column of the results.
    pub(in crate::records) into: String,
    /// The column of associated data, or of tweaks.
    pub(in crate::records) beside: Option<String>,
    /// True if decrypted values are strings.
    pub(in crate::records) is_text: bool,
    pub(in crate::records) operation: ArrowOperation,
}

/// The operation of a job.
#[derive(Clone, Debug)]
pub(in crate::records) enum ArrowOperation {
    Encrypt(ColumnCipher, ColumnIv<'static>),
    Decrypt(ColumnCipher),
    Translate(ColumnCipher, ColumnCipher),
    Mac(MacAlg, usize),
    /// The tweak is that of all rows, if there is no column of tweaks.
    Tokenise(FpeAlg, TokenFormat, Vec<u8>),
    Detokenise(FpeAlg, TokenFormat, Vec<u8>),
}

const IN_ONE_VALUE: &str = "IV, ciphertext and tag of a row are one value";
const ONE_KEY: &str = "all rows have one key, of --key-file, --key-env, --key or --key-name";
const NEW_IVS: &str = "each row gets a new IV, or zeros for SIV and GCM-SIV";

impl RecordsArgs {
    /// Returns the job on an Arrow file.
    pub(in crate::records) fn arrow_job(&self) -> Result<ArrowJob, RecordsError> {
        let files = self.files();
        files.check_arrow()?;
        refuse(self.keys().key_column.is_some(), "--key-column", ONE_KEY)?;
        let (operation, beside) = self.arrow_operation()?;
        let usual = match &operation {
            ArrowOperation::Mac(..) => "mac",
            _ => &files.column,
        };
        Ok(ArrowJob {
            column: files.column.clone(),
            into: files.into.as_deref().unwrap_or(usual).to_owned(),
            beside,
            is_text: matches!(operation, ArrowOperation::Decrypt(_)) && files.encoding.is_some(),
            operation,
        })
    }

    /// Returns the operation, and the name of the column beside the values.
    fn arrow_operation(&self) -> Result<(ArrowOperation, Option<String>), RecordsError> {
        Ok(match &self.command {
            RecordsCommand::Encrypt(args) => {
                let iv = match args.iv {
                    None => ColumnIv::Usual,
                    Some(IvOrigin::New) => ColumnIv::Random,
                    Some(IvOrigin::Zero) => ColumnIv::Zero,
                    Some(IvOrigin::Column | IvOrigin::Key) => {
                        return Err(RecordsError::ArrowOption { option: "--iv", reason: NEW_IVS });
                    }
                };
                let cipher = args.cipher.arrow_cipher()?;
                (ArrowOperation::Encrypt(cipher, iv), args.cipher.aad_column.clone())
            }
            RecordsCommand::Decrypt(args) => {
                refuse(args.iv.is_some(), "--iv", IN_ONE_VALUE)?;
                refuse(args.drop_iv, "--drop-iv", IN_ONE_VALUE)?;
                (ArrowOperation::Decrypt(args.cipher.arrow_cipher()?), args.cipher.aad_column.clone())
            }
            RecordsCommand::Translate(args) => {
                let has_column = args.iv_column != "iv" || args.to_iv_column.is_some();
                refuse(has_column, "--iv-column or --to-iv-column", IN_ONE_VALUE)?;
                refuse(!matches!(args.iv, OldIvOrigin::Column), "--iv", IN_ONE_VALUE)?;
                refuse(!matches!(args.to_iv, IvOrigin::New), "--to-iv", NEW_IVS)?;
                refuse(args.to.to_key_column.is_some(), "--to-key-column", ONE_KEY)?;
                let to = args.to_cipher.unwrap_or(args.cipher);
                (ArrowOperation::Translate(column_cipher(args.cipher)?, column_cipher(to)?), None)
            }
            RecordsCommand::Mac(args) => {
                (ArrowOperation::Mac(args.alg, args.length.unwrap_or(args.alg.tag_len())), None)
            }
            RecordsCommand::Tokenise(args) => args.arrow_operation(ArrowOperation::Tokenise)?,
            RecordsCommand::Detokenise(args) => args.arrow_operation(ArrowOperation::Detokenise)?,
        })
    }
}

impl FileArgs {
    fn check_arrow(&self) -> Result<(), RecordsError> {
        let is_digits = self.encoding.is_some_and(|encoding| encoding != Encoding::Text);
        refuse(is_digits, "--encoding", "values are bytes; text is for decrypted values that are strings")?;
        refuse(self.delimiter != b',', "--delimiter", "they have no delimiters")?;
        refuse(self.no_header, "--no-header", "their schema names the columns")?;
        refuse(self.reject_rows, "--reject-rows", "their rows are not lines of text")
    }
}

impl CipherArgs {
    fn arrow_cipher(&self) -> Result<ColumnCipher, RecordsError> {
        refuse(self.iv_column != "iv", "--iv-column", IN_ONE_VALUE)?;
        refuse(self.tag_column != "tag", "--tag-column", IN_ONE_VALUE)?;
        let is_none = self.padding == Some(Padding::None);
        refuse(is_none, "--padding none", "values under CBC are always padded, as with --padding pkcs7")?;
        column_cipher(self.cipher)
    }
}

impl RecordTokenArgs {
    fn arrow_operation(
        &self,
        operation: fn(FpeAlg, TokenFormat, Vec<u8>) -> ArrowOperation,
    ) -> Result<(ArrowOperation, Option<String>), RecordsError> {
        let (format, tweak) = self.format()?;
        Ok(match tweak {
            TweakFrom::One(tweak) => (operation(self.cipher, format, tweak), None),
            TweakFrom::Column(column) => (operation(self.cipher, format, Vec::new()), Some(column)),
        })
    }
}

/// Returns the cipher for columns, which has the same name.
fn column_cipher(cipher: RowCipher) -> Result<ColumnCipher, RecordsError> {
    cipher.to_string().parse().map_err(RecordsError::Column)
}

/// Fails if an option is given.
fn refuse(is_given: bool, option: &'static str, reason: &'static str) -> Result<(), RecordsError> {
    if is_given { Err(RecordsError::ArrowOption { option, reason }) } else { Ok(()) }
}
