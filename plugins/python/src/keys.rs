//! The class `Keys` and its methods.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use oarlock::FpeAlg;
use oarlock_columns::{
    AssociatedData, ColumnCipher, ColumnError, ColumnIv, ColumnKeys, ColumnResult, ColumnSignature,
    Decryption, Encryption, MacOptions, OnError, SignatureKey, TokenOptions, Translation, decrypt,
    detokenise, encrypt, hash, mac, parse_digest, parse_mac, parse_tokens, sign, tokenise, translate, verify,
    verify_mac,
};
use oarlock_keytable::{FormatError, TokenFormat};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::argument::{PassedData, parse_on_error};
use crate::column::PassedColumn;
use crate::error::{detached, exception, report};
use crate::opened::{NamedKeys, OpenedKeys, open};
use crate::reference::KeyReference;

/// A set of named keys: in a file, or at a cryptoserver.
#[pyclass(frozen, name = "Keys", module = "oarlock")]
pub(crate) struct PythonKeys {
    reference: KeyReference,
    opened: OpenedKeys,
}

/// The counts of bad rows that a caller passes.
type Counts<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

#[pymethods]
impl PythonKeys {
    /// Opens a file of symmetric keys, and PEM files of signature keys by name.
    #[staticmethod]
    #[pyo3(signature = (path, *, pem=None))]
    fn file(py: Python<'_>, path: PathBuf, pem: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut paths = Vec::new();
        for (name, path) in pem.into_iter().flatten() {
            paths.push((name.extract()?, path.extract()?));
        }
        Self::open_now(py, KeyReference::File { path, pem: paths })
    }

    /// Names the keys of a cryptoserver under mutual TLS. The server is asked when a key is used.
    #[staticmethod]
    #[pyo3(signature = (address, *, ca, certificate, key))]
    fn server(
        py: Python<'_>,
        address: String,
        ca: PathBuf,
        certificate: PathBuf,
        key: PathBuf,
    ) -> PyResult<Self> {
        Self::open_now(py, KeyReference::Server { address, ca, certificate, key })
    }

    /// Names the keys of a cryptoserver at a UNIX socket. The server is asked when a key is used.
    #[staticmethod]
    #[pyo3(signature = (path="/run/oarlock/oarlock.sock".into(), *, user="oarlock".into()))]
    fn unix(py: Python<'_>, path: PathBuf, user: String) -> PyResult<Self> {
        Self::open_now(py, KeyReference::Unix { path, user })
    }

    /// Opens the keys of a reference.
    #[staticmethod]
    fn open(py: Python<'_>, reference: &Bound<'_, PyDict>) -> PyResult<Self> {
        Self::open_now(py, KeyReference::from_dict(reference)?)
    }

    /// Returns where the keys are, without key material.
    fn reference<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.reference.to_dict(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let open = py.get_type::<Self>().getattr("open")?;
        Ok((open, PyTuple::new(py, [self.reference(py)?])?))
    }

    fn __repr__(&self) -> String {
        self.reference.describe()
    }

    /// Encrypts a column.
    #[pyo3(signature = (column, *, key, cipher, iv=None, row_id=None, iv_key=None, aad=None, on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        cipher: &str,
        iv: Option<&str>,
        row_id: Option<&Bound<'py, PyAny>>,
        iv_key: Option<&str>,
        aad: Option<&Bound<'py, PyAny>>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let cipher: ColumnCipher = parse(py, cipher.parse())?;
        let ids = row_id.map(PassedColumn::read).transpose()?;
        let iv = parse(py, iv_without_ids(iv, ids.is_some(), iv_key))?;
        let aad = PassedData::read(aad)?;
        let compute = |call: &ColumnCall| {
            let keys = call.keys.columns(&[key, iv_key.unwrap_or(key)])?;
            let aads = AlignedColumn::data(&aad, &call.column)?;
            let ids = ids.as_ref().map(|ids| ids.beside("row id", &call.column)).transpose()?;
            call.compute(|index, chunk| {
                let mut options = Encryption::new(key, cipher).iv(iv).aad(aads.of_chunk(index));
                if let (Some(ids), Some(iv_key)) = (&ids, iv_key) {
                    options = options.iv(ColumnIv::Derived { key: iv_key, row_ids: &*ids[index] });
                }
                encrypt(keys, chunk, &options, call.on_error)
            })
        };
        call.finish(py, rejected, compute)
    }

    /// Decrypts a column.
    #[pyo3(signature = (column, *, key, cipher, aad=None, on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        cipher: &str,
        aad: Option<&Bound<'py, PyAny>>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let cipher: ColumnCipher = parse(py, cipher.parse())?;
        let aad = PassedData::read(aad)?;
        let compute = |call: &ColumnCall| {
            let keys = call.keys.columns(&[key])?;
            let aads = AlignedColumn::data(&aad, &call.column)?;
            call.compute(|index, chunk| {
                let options = Decryption::new(key, cipher).aad(aads.of_chunk(index));
                decrypt(keys, chunk, &options, call.on_error)
            })
        };
        call.finish(py, rejected, compute)
    }

    /// Decrypts a column under one key and encrypts it under another. No plaintext leaves the keys.
    #[pyo3(signature = (column, *, key, cipher, to_key, to_cipher=None, aad=None, on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn translate<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        cipher: &str,
        to_key: &str,
        to_cipher: Option<&str>,
        aad: Option<&Bound<'py, PyAny>>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let from: ColumnCipher = parse(py, cipher.parse())?;
        let to: ColumnCipher = parse(py, to_cipher.unwrap_or(cipher).parse())?;
        let aad = PassedData::read(aad)?;
        let compute = |call: &ColumnCall| {
            let keys = call.keys.columns(&[key, to_key])?;
            let aads = AlignedColumn::data(&aad, &call.column)?;
            call.compute(|index, chunk| {
                let present = Decryption::new(key, from).aad(aads.of_chunk(index));
                translate(keys, chunk, &Translation::new(present, to_key, to), call.on_error)
            })
        };
        call.finish(py, rejected, compute)
    }

    /// Replaces each text by a token of the same length and alphabet.
    #[pyo3(signature = (column, *, key, alphabet="digits", keep_first=0, keep_last=0, luhn=false, tweak=None, algorithm="aes256-ff1", on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn tokenise<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        alphabet: &str,
        keep_first: usize,
        keep_last: usize,
        luhn: bool,
        tweak: Option<&Bound<'py, PyAny>>,
        algorithm: &str,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let format = parse(py, token_format(alphabet, keep_first, keep_last, luhn))?;
        let tokens = TokenCall {
            key,
            alg: parse(py, parse_tokens(algorithm))?,
            format,
            tweak: PassedData::read(tweak)?,
        };
        call.finish(py, rejected, |call| tokens.compute(call, tokenise))
    }

    /// Replaces each token by its text.
    #[pyo3(signature = (column, *, key, alphabet="digits", keep_first=0, keep_last=0, luhn=false, tweak=None, algorithm="aes256-ff1", on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn detokenise<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        alphabet: &str,
        keep_first: usize,
        keep_last: usize,
        luhn: bool,
        tweak: Option<&Bound<'py, PyAny>>,
        algorithm: &str,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let format = parse(py, token_format(alphabet, keep_first, keep_last, luhn))?;
        let tokens = TokenCall {
            key,
            alg: parse(py, parse_tokens(algorithm))?,
            format,
            tweak: PassedData::read(tweak)?,
        };
        call.finish(py, rejected, |call| tokens.compute(call, detokenise))
    }

    /// Makes the authentication code of each value.
    #[pyo3(signature = (column, *, key, algorithm="hmac-sha256", length=None, on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn mac<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        algorithm: &str,
        length: Option<usize>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let options = mac_options(py, key, algorithm, length)?;
        let compute = |call: &ColumnCall| {
            let keys = call.keys.columns(&[key])?;
            call.compute(|_, chunk| mac(keys, chunk, &options, call.on_error))
        };
        call.finish(py, rejected, compute)
    }

    /// Compares authentication codes with those of the values.
    #[pyo3(signature = (column, codes, *, key, algorithm="hmac-sha256", length=None, on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn verify_mac<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        codes: &Bound<'py, PyAny>,
        key: &str,
        algorithm: &str,
        length: Option<usize>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let codes = PassedColumn::read(codes)?;
        let options = mac_options(py, key, algorithm, length)?;
        let compute = |call: &ColumnCall| {
            let keys = call.keys.columns(&[key])?;
            let codes = codes.beside("column of codes", &call.column)?;
            call.compute(|index, chunk| verify_mac(keys, chunk, &*codes[index], &options, call.on_error))
        };
        call.finish(py, rejected, compute)
    }

    /// Hashes each value.
    #[pyo3(signature = (column, *, algorithm="sha256", on_error="null", rejected=None))]
    fn hash<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        algorithm: &str,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let alg = parse(py, parse_digest(algorithm))?;
        let compute = |call: &ColumnCall| {
            let keys = call.keys.columns(&[])?;
            call.compute(|_, chunk| hash(keys, chunk, alg, call.on_error))
        };
        call.finish(py, rejected, compute)
    }

    /// Signs each value.
    #[pyo3(signature = (column, *, key, algorithm=None, on_error="null", rejected=None))]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        algorithm: Option<&str>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let algorithm: Option<ColumnSignature> = parse(py, algorithm.map(str::parse).transpose())?;
        let compute = |call: &ColumnCall| {
            let found = call.keys.signature_key(key)?;
            let key = SignatureKey { name: key, key: &found };
            let accelerator = call.keys.accelerator();
            call.compute(|_, chunk| sign(accelerator, chunk, key, algorithm, call.on_error))
        };
        call.finish(py, rejected, compute)
    }

    /// Verifies a signature of each value.
    #[pyo3(signature = (column, signatures, *, key, algorithm=None, on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        signatures: &Bound<'py, PyAny>,
        key: &str,
        algorithm: Option<&str>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let signatures = PassedColumn::read(signatures)?;
        let algorithm: Option<ColumnSignature> = parse(py, algorithm.map(str::parse).transpose())?;
        let compute = |call: &ColumnCall| {
            let found = call.keys.signature_key(key)?;
            let key = SignatureKey { name: key, key: &found };
            let accelerator = call.keys.accelerator();
            let signatures = signatures.beside("column of signatures", &call.column)?;
            call.compute(|index, chunk| {
                verify(accelerator, chunk, &*signatures[index], key, algorithm, call.on_error)
            })
        };
        call.finish(py, rejected, compute)
    }
}

impl PythonKeys {
    fn open_now(py: Python<'_>, reference: KeyReference) -> PyResult<Self> {
        let keys = Self { reference: reference.check(py)?, opened: OpenedKeys::new() };
        // The files are read at once, so that a wrong path is an error here and not in the middle of a query.
        keys.keys(py)?;
        Ok(keys)
    }

    fn keys(&self, py: Python<'_>) -> PyResult<Arc<NamedKeys>> {
        parse(py, self.opened.try_get(|_| open(&self.reference).map(Arc::new)).cloned())
    }

    fn begin(&self, py: Python<'_>, column: &Bound<'_, PyAny>, on_error: &str) -> PyResult<ColumnCall> {
        let on_error = parse(py, parse_on_error(on_error))?;
        Ok(ColumnCall { keys: self.keys(py)?, column: PassedColumn::read(column)?, on_error })
    }
}

/// One call with its column.
struct ColumnCall {
    keys: Arc<NamedKeys>,
    column: PassedColumn,
    on_error: OnError,
}

type ChunkResults = (Vec<ArrayRef>, oarlock_columns::RejectedRows);

impl ColumnCall {
    fn compute(
        &self,
        compute: impl Fn(usize, &dyn Array) -> Result<ColumnResult, ColumnError>,
    ) -> Result<ChunkResults, ColumnError> {
        self.column.compute(compute)
    }

    /// Computes without the lock of the interpreter, and returns the result as an object.
    fn finish<'py>(
        self,
        py: Python<'py>,
        rejected: Counts<'_, 'py>,
        compute: impl FnOnce(&Self) -> Result<ChunkResults, ColumnError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (results, counts) = detached(py, || compute(&self))?;
        report(py, &counts, rejected)?;
        self.column.results(py, results)
    }
}

/// The options of tokens, as they were passed.
struct TokenCall<'k> {
    key: &'k str,
    alg: FpeAlg,
    format: TokenFormat,
    tweak: PassedData,
}

/// [`tokenise`] or [`detokenise`].
type TokenFunction =
    fn(&ColumnKeys, &dyn Array, &TokenOptions<'_>, OnError) -> Result<ColumnResult, ColumnError>;

impl TokenCall<'_> {
    fn compute(&self, call: &ColumnCall, function: TokenFunction) -> Result<ChunkResults, ColumnError> {
        let keys = call.keys.columns(&[self.key])?;
        let tweaks = AlignedColumn::read("tweak", &self.tweak, &call.column)?;
        call.compute(|index, chunk| {
            let options = TokenOptions::new(self.key, self.alg, &self.format).tweak(tweaks.of_chunk(index));
            function(keys, chunk, &options, call.on_error)
        })
    }
}

fn token_format(
    alphabet: &str,
    keep_first: usize,
    keep_last: usize,
    luhn: bool,
) -> Result<TokenFormat, ColumnError> {
    let refused = |error: FormatError| ColumnError::Options(error.to_string());
    let format =
        TokenFormat::new(alphabet.parse().map_err(refused)?).keep_first(keep_first).keep_last(keep_last);
    if luhn { format.with_luhn().map_err(refused) } else { Ok(format) }
}

/// Associated data or tweaks beside each chunk of a column.
enum AlignedColumn<'a> {
    None,
    Constant(&'a [u8]),
    Chunks(Vec<ArrayRef>),
}

impl<'a> AlignedColumn<'a> {
    fn data(data: &'a PassedData, column: &PassedColumn) -> Result<Self, ColumnError> {
        Self::read("associated data", data, column)
    }

    fn read(what: &'static str, data: &'a PassedData, column: &PassedColumn) -> Result<Self, ColumnError> {
        Ok(match data {
            PassedData::None => Self::None,
            PassedData::Constant(bytes) => Self::Constant(bytes),
            PassedData::Column(values) => Self::Chunks(values.beside(what, column)?),
        })
    }

    fn of_chunk(&self, index: usize) -> AssociatedData<'_> {
        match self {
            Self::None => AssociatedData::None,
            Self::Constant(bytes) => AssociatedData::Constant(bytes),
            Self::Chunks(chunks) => {
                chunks.get(index).map_or(AssociatedData::None, |chunk| AssociatedData::Column(&**chunk))
            }
        }
    }
}

fn parse<T>(py: Python<'_>, parsed: Result<T, ColumnError>) -> PyResult<T> {
    parsed.map_err(|error| exception(py, &error))
}

fn mac_options<'a>(
    py: Python<'_>,
    key: &'a str,
    algorithm: &str,
    length: Option<usize>,
) -> PyResult<MacOptions<'a>> {
    let options = MacOptions::new(key, parse(py, parse_mac(algorithm))?);
    Ok(length.map_or(options, |length| options.len(length)))
}

/// Returns the source of IVs, as far as it has no row ids. Checks that the options of IVs belong together.
fn iv_without_ids(
    iv: Option<&str>,
    has_row_id: bool,
    iv_key: Option<&str>,
) -> Result<ColumnIv<'static>, ColumnError> {
    let usual = match iv {
        None => ColumnIv::Usual,
        Some("random") => ColumnIv::Random,
        Some("zero") => ColumnIv::Zero,
        // The call has the row ids of each chunk.
        Some("derived") if has_row_id && iv_key.is_some() => return Ok(ColumnIv::Usual),
        Some("derived") => {
            return Err(ColumnError::Options(
                "iv=\"derived\" needs row_id, a column of ids that differ from row to row, and iv_key, the name of an \
                 HMAC key"
                    .to_owned(),
            ));
        }
        Some(found) => {
            return Err(ColumnError::UnknownName {
                what: "iv",
                expected: "random, derived, zero".to_owned(),
                found: found.to_owned(),
            });
        }
    };
    if has_row_id || iv_key.is_some() {
        return Err(ColumnError::Options("row_id and iv_key belong to iv=\"derived\"".to_owned()));
    }
    Ok(usual)
}

impl fmt::Debug for PythonKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.__repr__())
    }
}
