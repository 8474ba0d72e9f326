//! The class `Keys` and its methods.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use oarlock_columns::{
    AssociatedData, ColumnCipher, ColumnError, ColumnIv, ColumnKeys, ColumnResult, ColumnSignature,
    Decryption, Encryption, MacOptions, OnError, Translation, decrypt, encrypt, hash, mac, parse_digest,
    parse_mac, sign, translate, verify, verify_mac,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::argument::{PassedData, parse_on_error};
use crate::column::PassedColumn;
use crate::error::{detached, exception, report};
use crate::opened::OpenedKeys;
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
    #[pyo3(signature = (column, *, key, cipher, iv="random", row_id=None, iv_key=None, aad=None, on_error="null", rejected=None))]
    #[allow(clippy::too_many_arguments)]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        key: &str,
        cipher: &str,
        iv: &str,
        row_id: Option<&Bound<'py, PyAny>>,
        iv_key: Option<&str>,
        aad: Option<&Bound<'py, PyAny>>,
        on_error: &str,
        rejected: Counts<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.begin(py, column, on_error)?;
        let cipher: ColumnCipher = parse(py, cipher.parse())?;
        let ids = row_id.map(PassedColumn::read).transpose()?;
        check_iv(iv, ids.is_some(), iv_key).map_err(|error| exception(py, &error))?;
        let aad = PassedData::read(aad)?;
        let compute = |call: &ColumnCall| {
            let aads = Beside::data(&aad, &call.column)?;
            let ids = ids.as_ref().map(|ids| ids.beside("row id", &call.column)).transpose()?;
            call.compute(|index, chunk| {
                let mut options = Encryption::new(key, cipher).aad(aads.of_chunk(index));
                if let (Some(ids), Some(iv_key)) = (&ids, iv_key) {
                    options = options.iv(ColumnIv::Derived { key: iv_key, row_ids: &*ids[index] });
                }
                encrypt(&*call.keys, chunk, &options, call.on_error)
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
            let aads = Beside::data(&aad, &call.column)?;
            call.compute(|index, chunk| {
                let options = Decryption::new(key, cipher).aad(aads.of_chunk(index));
                decrypt(&*call.keys, chunk, &options, call.on_error)
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
            let aads = Beside::data(&aad, &call.column)?;
            call.compute(|index, chunk| {
                let present = Decryption::new(key, from).aad(aads.of_chunk(index));
                translate(&*call.keys, chunk, &Translation::new(present, to_key, to), call.on_error)
            })
        };
        call.finish(py, rejected, compute)
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
        let compute =
            |call: &ColumnCall| call.compute(|_, chunk| mac(&*call.keys, chunk, &options, call.on_error));
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
            let codes = codes.beside("column of codes", &call.column)?;
            call.compute(|index, chunk| {
                verify_mac(&*call.keys, chunk, &*codes[index], &options, call.on_error)
            })
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
        let compute =
            |call: &ColumnCall| call.compute(|_, chunk| hash(&*call.keys, chunk, alg, call.on_error));
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
            call.compute(|_, chunk| sign(&*call.keys, chunk, key, algorithm, call.on_error))
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
            let signatures = signatures.beside("column of signatures", &call.column)?;
            call.compute(|index, chunk| {
                verify(&*call.keys, chunk, &*signatures[index], key, algorithm, call.on_error)
            })
        };
        call.finish(py, rejected, compute)
    }
}

impl PythonKeys {
    fn open_now(py: Python<'_>, reference: KeyReference) -> PyResult<Self> {
        let own = Self { reference: reference.check(py)?, opened: OpenedKeys::default() };
        // The files are read at once, so that a wrong path is an error here and not in the middle of a query.
        own.keys(py)?;
        Ok(own)
    }

    fn keys(&self, py: Python<'_>) -> PyResult<Arc<dyn ColumnKeys>> {
        self.opened.get(&self.reference, py).map_err(|error| exception(py, &error))
    }

    fn begin(&self, py: Python<'_>, column: &Bound<'_, PyAny>, on_error: &str) -> PyResult<ColumnCall> {
        let on_error = parse(py, parse_on_error(on_error))?;
        Ok(ColumnCall { keys: self.keys(py)?, column: PassedColumn::read(column)?, on_error })
    }
}

/// One call with its column.
struct ColumnCall {
    keys: Arc<dyn ColumnKeys>,
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

/// Associated data beside each chunk of a column.
enum Beside<'a> {
    None,
    Constant(&'a [u8]),
    Chunks(Vec<ArrayRef>),
}

impl<'a> Beside<'a> {
    fn data(data: &'a PassedData, column: &PassedColumn) -> Result<Self, ColumnError> {
        Ok(match data {
            PassedData::None => Self::None,
            PassedData::Constant(bytes) => Self::Constant(bytes),
            PassedData::Column(own) => Self::Chunks(own.beside("associated data", column)?),
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

/// Checks that the options of IVs belong together.
fn check_iv(iv: &str, has_row_id: bool, iv_key: Option<&str>) -> Result<(), ColumnError> {
    match (iv, has_row_id, iv_key) {
        ("random", false, None) | ("derived", true, Some(_)) => Ok(()),
        ("random", ..) => {
            Err(ColumnError::Options("row_id and iv_key belong to iv=\"derived\"".to_owned()))
        }
        ("derived", ..) => Err(ColumnError::Options(
            "iv=\"derived\" needs row_id, a column of ids that differ from row to row, and iv_key, the name of an \
             HMAC key"
                .to_owned(),
        )),
        (found, ..) => Err(ColumnError::UnknownName {
            what: "iv",
            expected: "random, derived".to_owned(),
            found: found.to_owned(),
        }),
    }
}

impl fmt::Debug for PythonKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.__repr__())
    }
}
