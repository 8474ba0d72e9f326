//! Known answers beside the batches, as in the paper's experiment 8.

use oarlock::Accelerator;
use oarlock::{Direction, KeySource, Span};
use oarlock_keytable::{KeyPolicy, KeyTable, KeyType};

use super::LadderError;
use super::args::LadderCipher;
use super::columns::BatchColumns;
use super::workload::task;

/// A published answer.
struct KnownVector {
    key: &'static [u8],
    iv: [u8; 8],
    plaintext: &'static [u8],
    ciphertext: &'static [u8],
}

/// FIPS 81 table C1, CBC.
const DES: KnownVector = KnownVector {
    key: &[0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef],
    iv: [0x12, 0x34, 0x56, 0x78, 0x90, 0xab, 0xcd, 0xef],
    plaintext: b"Now is the time for all ",
    ciphertext: &[
        0xe5, 0xc7, 0xcd, 0xde, 0x87, 0x2b, 0xf2, 0x7c, 0x43, 0xe9, 0x34, 0x00, 0x8c, 0x38, 0x9c, 0x0f, 0x68,
        0x37, 0x88, 0x49, 0x9a, 0x7c, 0x05, 0xf6,
    ],
};

/// SP 800-67 Rev. 1 B.1, the first block: with an IV of zero, CBC is ECB there.
const TDES: KnownVector = KnownVector {
    key: &[
        0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x45,
        0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
    ],
    iv: [0; 8],
    plaintext: b"The qufc",
    ciphertext: &[0xa8, 0x26, 0xfd, 0x8c, 0xe5, 0x3b, 0x85, 0x5f],
};

/// Records with known results, alternately encryptions and decryptions.
#[derive(Debug)]
pub(super) struct KnownAnswers {
    table: KeyTable,
    data: Vec<u8>,
    columns: BatchColumns,
    expected: Vec<u8>,
}

impl KnownAnswers {
    /// Makes `count` records, at least two.
    pub(super) fn new(cipher: LadderCipher, count: usize) -> Result<Self, LadderError> {
        let (key_type, vector) = match cipher {
            LadderCipher::Des => (KeyType::Des, &DES),
            LadderCipher::Tdes => (KeyType::Tdes3, &TDES),
        };
        Self::from_vector(key_type, vector, count.max(2))
    }

    fn from_vector(key_type: KeyType, vector: &KnownVector, count: usize) -> Result<Self, LadderError> {
        let table = KeyTable::new();
        let key = table.insert("known", key_type, vector.key, KeyPolicy::any_data(key_type))?.index;
        let alg = key_type.cipher().ok_or(LadderError::TooLarge)?;
        let (mut data, mut columns, mut expected) = (Vec::new(), BatchColumns::default(), Vec::new());
        for index in 0..count {
            let (direction, input, result) = match index % 2 {
                0 => (Direction::Encrypt, vector.plaintext, vector.ciphertext),
                _ => (Direction::Decrypt, vector.ciphertext, vector.plaintext),
            };
            // Each record has its own bytes, like the records of a caller.
            let iv = append(&mut data, &vector.iv)?;
            let input = append(&mut data, input)?;
            columns.push(task(alg, direction), KeySource::Table(key), iv, input)?;
            expected.extend_from_slice(result);
        }
        Ok(Self { table, data, columns, expected })
    }

    /// Computes them all and compares.
    ///
    /// # Errors
    /// The first wrong record.
    pub(super) fn check(&self, accelerator: &Accelerator) -> Result<(), LadderError> {
        let outcome = self.table.run(accelerator, &self.columns.batch(&self.data))?;
        if outcome.output() == self.expected {
            return Ok(());
        }
        let len = self.expected.len() / self.columns.len();
        let pairs = outcome.output().chunks(len).zip(self.expected.chunks(len));
        let record = pairs.take_while(|(found, expected)| found == expected).count();
        Err(LadderError::KnownAnswer { record })
    }
}

fn append(data: &mut Vec<u8>, bytes: &[u8]) -> Result<Span, LadderError> {
    let span = Span::new(data.len(), bytes.len()).ok_or(LadderError::TooLarge)?;
    data.extend_from_slice(bytes);
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_are_known_and_wrong_ones_found() {
        let accelerator = Accelerator::builder().lazy().build().unwrap();
        for cipher in [LadderCipher::Des, LadderCipher::Tdes] {
            for count in [1, 2, 700] {
                let mut known = KnownAnswers::new(cipher, count).unwrap();
                assert_eq!(known.columns.len(), count.max(2));
                known.check(&accelerator).unwrap();
                let last = known.expected.len() - 1;
                known.expected[last] ^= 1;
                let error = known.check(&accelerator).unwrap_err();
                assert!(matches!(error, LadderError::KnownAnswer { record } if record + 1 == count.max(2)));
            }
        }
    }
}
