//! The columns that a job names, each once.

use crate::error::PlanError;
use crate::job::{AeadColumns, IvFrom, KeyFrom, RecordJob, RowCipher, RowOperation, TweakFrom};

/// The columns of a job, as indices into `names`.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) names: Vec<String>,
    read: Vec<usize>,
    pub(crate) value: usize,
    pub(crate) key: Option<usize>,
    pub(crate) second_key: Option<usize>,
    pub(crate) iv: Option<usize>,
    pub(crate) second_iv: Option<usize>,
    pub(crate) tag: Option<usize>,
    pub(crate) aad: Option<usize>,
    /// Columns that are left out of the output.
    pub(crate) drops: Vec<usize>,
    /// The columns that are written, and the value that each receives.
    pub(crate) writes: Vec<(usize, ColumnOutput)>,
}

/// The value that is written to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnOutput {
    Result,
    Iv,
    Tag,
}

impl Columns {
    pub(crate) fn from_job(job: &RecordJob) -> Result<Self, PlanError> {
        job.check()?;
        let mut columns = Self::default();
        columns.value = columns.read(&job.value);
        columns.key = columns.read_key(&job.key);
        columns.write(job.into.as_ref().unwrap_or(&job.value), ColumnOutput::Result)?;
        match &job.operation {
            RowOperation::Encrypt { cipher, iv, aead, .. } => {
                columns.iv = columns.read_iv(iv);
                columns.write_iv(iv)?;
                if let RowCipher::Aead(_) = cipher {
                    columns.read_aad(aead);
                    columns.write(&aead.tag, ColumnOutput::Tag)?;
                }
            }
            RowOperation::Decrypt { cipher, iv, aead, .. } => {
                columns.iv = columns.read_iv(iv);
                if let RowCipher::Aead(_) = cipher {
                    columns.read_aad(aead);
                    columns.tag = Some(columns.read(&aead.tag));
                }
                if job.drops_ivs {
                    columns.drops = columns.iv.into_iter().chain(columns.tag).collect();
                }
            }
            RowOperation::Translate { iv, to_key, to_iv, .. } => {
                columns.iv = columns.read_iv(iv);
                columns.second_key = columns.read_key(to_key);
                columns.second_iv = columns.read_iv(to_iv);
                columns.write_iv(to_iv)?;
            }
            RowOperation::Tokenise { tweak, .. } | RowOperation::Detokenise { tweak, .. } => {
                if let TweakFrom::Column(name) = tweak {
                    columns.aad = Some(columns.read(name));
                }
            }
            RowOperation::Mac { .. } => {}
        }
        Ok(columns)
    }

    /// True if rows must have the column.
    pub(crate) fn is_read(&self, column: usize) -> bool {
        self.read.contains(&column)
    }

    /// Returns the written columns that a row does not have yet, in the order in which they are added.
    pub(crate) fn appended(&self, has: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        self.writes.iter().map(|(column, _)| *column).filter(move |column| !has(*column))
    }

    fn name(&mut self, name: &str) -> usize {
        let known = self.names.iter().position(|candidate| candidate == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    fn read(&mut self, name: &str) -> usize {
        let column = self.name(name);
        self.read.push(column);
        column
    }

    fn read_key(&mut self, key: &KeyFrom) -> Option<usize> {
        match key {
            KeyFrom::One(_) => None,
            KeyFrom::Column(name) => Some(self.read(name)),
        }
    }

    fn read_iv(&mut self, iv: &IvFrom) -> Option<usize> {
        match iv {
            IvFrom::Column(name) => Some(self.read(name)),
            _ => None,
        }
    }

    fn read_aad(&mut self, aead: &AeadColumns) {
        self.aad = aead.aad.as_ref().map(|name| self.read(name));
    }

    fn write_iv(&mut self, iv: &IvFrom) -> Result<(), PlanError> {
        match iv {
            IvFrom::New(name) => self.write(name, ColumnOutput::Iv),
            _ => Ok(()),
        }
    }

    fn write(&mut self, name: &str, what: ColumnOutput) -> Result<(), PlanError> {
        let column = self.name(name);
        if self.writes.iter().any(|(written, _)| *written == column) {
            return Err(PlanError::SameColumn { name: name.to_owned() });
        }
        self.writes.push((column, what));
        Ok(())
    }
}
