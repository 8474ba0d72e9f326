//! Name hashes of NSEC3, computed in batches: SHA-1 over a name and the salt, then over the digest and the salt for
//! each additional iteration. RFC 5155 section 5.

use oarlock::{Accelerator, DigestAlg, JobError, Records, Shape};
use oarlock::{Column, InputSource, Outcomes, OutputSink, Span};

use crate::name::DomainName;

/// The length of a hashed name in bytes.
pub const NSEC3_HASH_LEN: usize = 20;

/// A hashed name.
pub type Nsec3Hash = [u8; NSEC3_HASH_LEN];

/// SHA-1, the only hash algorithm that exists. RFC 5155 section 11.
pub const NSEC3_SHA1: u8 = 1;

/// The number of names in a batch. Names and digests of a batch fit into the cache of a core.
const NAMES: usize = 2048;

/// Hashes names on this thread. The names must be in lower case, and the salt has at most 255 bytes.
///
/// # Errors
/// An engine failed.
pub fn hash_names<'n>(
    accelerator: &Accelerator,
    names: impl IntoIterator<Item = DomainName<'n>>,
    salt: &[u8],
    iterations: u16,
) -> Result<Vec<Nsec3Hash>, JobError> {
    let mut hasher = NameHasher::new(accelerator, salt);
    let mut names = names.into_iter();
    let mut hashes = Vec::with_capacity(names.size_hint().0);
    while hasher.take(&mut names) > 0 {
        hasher.hash()?;
        // Each iteration depends on the one before, so the lanes work on different names.
        for _ in 0..iterations {
            hasher.take_digests();
            hasher.hash()?;
        }
        hashes.extend_from_slice(hasher.outcomes.bytes().as_chunks::<NSEC3_HASH_LEN>().0);
    }
    Ok(hashes)
}

/// The inputs of a batch, each followed by the salt, and their digests.
struct NameHasher<'a> {
    accelerator: &'a Accelerator,
    salt: &'a [u8],
    data: Vec<u8>,
    inputs: Vec<InputSource>,
    outcomes: Outcomes,
}

impl<'a> NameHasher<'a> {
    fn new(accelerator: &'a Accelerator, salt: &'a [u8]) -> Self {
        Self { accelerator, salt, data: Vec::new(), inputs: Vec::new(), outcomes: Outcomes::default() }
    }

    /// Takes the names of the next batch and returns their number.
    fn take<'n>(&mut self, names: &mut impl Iterator<Item = DomainName<'n>>) -> usize {
        // Wire format in lower case is the canonical form that RFC 5155 5 hashes.
        let names = names.take(NAMES).map(DomainName::as_bytes);
        gather(names, self.salt, &mut self.data, &mut self.inputs);
        self.inputs.len()
    }

    /// Takes the digests of the last iteration as the next inputs.
    fn take_digests(&mut self) {
        // RFC 5155 section 5 appends the salt in every iteration, so the digests are copied between salts.
        let digests = self.outcomes.bytes().chunks(NSEC3_HASH_LEN);
        gather(digests, self.salt, &mut self.data, &mut self.inputs);
    }

    fn hash(&mut self) -> Result<(), JobError> {
        let shape = Shape::Digest { alg: DigestAlg::Sha1 };
        let (len, stride) = (self.inputs.len(), NSEC3_HASH_LEN as u32);
        let records = Records {
            len,
            data: self.data.as_slice().into(),
            output_len: len * NSEC3_HASH_LEN,
            input: Column::Each(self.inputs.as_slice().into()),
            output: Column::Stride { first: OutputSink::Output(Span { start: 0, len: stride }), stride },
            ..Records::default()
        };
        self.accelerator.records().run_into(shape, &records, &mut self.outcomes)?;
        let failed = self.outcomes.statuses().iter().find_map(|status| status.error(shape));
        failed.map_or(Ok(()), Err)
    }
}

/// Appends each value and the salt, and records their spans.
fn gather<'v>(
    values: impl Iterator<Item = &'v [u8]>,
    salt: &[u8],
    data: &mut Vec<u8>,
    inputs: &mut Vec<InputSource>,
) {
    data.clear();
    inputs.clear();
    for value in values {
        let start = data.len();
        data.extend_from_slice(value);
        data.extend_from_slice(salt);
        // unreachable because the inputs of a batch have at most 510 bytes each
        inputs.push(InputSource::Data(Span::new(start, data.len() - start).unwrap_or_default()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base32hex::write_base32hex;
    use crate::name::{DomainNameBuf, LetterCase};

    fn name(text: &str) -> DomainNameBuf {
        DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap()
    }

    fn engines() -> [Accelerator; 2] {
        ["scalar", "lanes"].map(|name| Accelerator::builder().engines([name]).lazy().build().unwrap())
    }

    /// RFC 5155 appendix A.
    #[test]
    fn hashes_the_names_of_rfc_5155() {
        let examples = [
            ("example.", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"),
            ("a.example.", "35mthgpgcu1qg68fab165klnsnk3dpvl"),
            ("ai.example.", "gjeqe526plbf1g8mklp59enfd789njgi"),
            ("ns1.example.", "2t7b4g4vsa5smi47k61mv5bv1a22bojr"),
            ("ns2.example.", "q04jkcevqvmu85r014c7dkba38o0ji5r"),
            ("w.example.", "k8udemvp1j2f7eg6jebps17vp3n8i58h"),
            ("*.w.example.", "r53bq7cc2uvmubfu5ocmm6pers9tk9en"),
            ("x.w.example.", "b4um86eghhds6nea196smvmlo4ors995"),
            ("y.w.example.", "ji6neoaepv8b5o6k4ev33abha8ht9fgc"),
            ("x.y.w.example.", "2vptu5timamqttgl4luu9kg21e0aor3s"),
            ("xx.example.", "t644ebqk9bibcna874givr6joj62mlhv"),
        ];
        let names = examples.map(|(text, _)| name(text));
        for accelerator in engines() {
            let salt = [0xaa, 0xbb, 0xcc, 0xdd];
            let hashes = hash_names(&accelerator, names.iter().map(DomainNameBuf::name), &salt, 12).unwrap();
            assert_eq!(hashes.len(), examples.len());
            for (hash, (_, text)) in hashes.iter().zip(examples) {
                let mut shown = Vec::new();
                write_base32hex(hash, &mut shown);
                assert_eq!(shown, text.as_bytes());
            }
        }
    }

    /// Batches meet at `NAMES`: a name must have the same hash on either side and alone.
    #[test]
    fn the_hash_of_a_name_does_not_depend_on_its_batch() {
        let names: Vec<DomainNameBuf> =
            (0..NAMES + 1).map(|at| name(&format!("{}{at}.", "x".repeat(at % 60)))).collect();
        for accelerator in engines() {
            for count in [0, 1, NAMES - 1, NAMES, NAMES + 1] {
                for (salt, iterations) in [(&b""[..], 0), (&[7; 255], 2)] {
                    let all = hash_names(
                        &accelerator,
                        names[..count].iter().map(DomainNameBuf::name),
                        salt,
                        iterations,
                    );
                    let all = all.unwrap();
                    assert_eq!(all.len(), count);
                    for at in [0, count / 2, count.saturating_sub(1)].into_iter().filter(|at| *at < count) {
                        let alone = hash_names(&accelerator, [names[at].name()], salt, iterations).unwrap();
                        assert_eq!(alone, [all[at]]);
                    }
                }
            }
        }
    }
}
