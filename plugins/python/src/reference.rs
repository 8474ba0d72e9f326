//! Keys named by files and addresses. A pickle, a plan of a query or a log may hold such a reference.

use std::path::{Path, PathBuf};

use oarlock_key_files::check_key_path;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::option;

/// The place of a set of keys. It contains no key material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyReference {
    /// A file of symmetric keys, and PEM files of signature keys by name.
    File { path: PathBuf, pem: Vec<(String, PathBuf)> },
    /// A server under mutual TLS.
    Server { address: String, ca: PathBuf, certificate: PathBuf, key: PathBuf },
    /// A UNIX socket, and the user that may serve it beside root and the user of this process.
    Unix { path: PathBuf, user: String },
}

impl KeyReference {
    /// Checks that no path is a key by mistake. A key in a reference would travel with it.
    pub(crate) fn check(self, py: Python<'_>) -> PyResult<Self> {
        let paths: Vec<&Path> = match &self {
            Self::File { path, pem } => {
                std::iter::once(path).chain(pem.iter().map(|(_, path)| path)).map(PathBuf::as_path).collect()
            }
            Self::Server { ca, certificate, key, .. } => vec![ca, certificate, key],
            Self::Unix { path, .. } => vec![path],
        };
        for path in paths {
            let is_json = path.as_os_str().as_encoded_bytes().trim_ascii_start().starts_with(b"{");
            if is_json || check_key_path(path).is_err() {
                let text = "expected the path of a file, found what may be a key itself: a reference holds no secrets";
                return Err(option(py, text));
            }
        }
        match &self {
            Self::Server { address, .. } if !address.starts_with("https://") => {
                Err(option(py, "expected an address that starts with https://"))
            }
            _ => Ok(self),
        }
    }

    /// Reads a reference that [`to_dict`](Self::to_dict) wrote.
    pub(crate) fn from_dict(reference: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = reference.py();
        let field = |name: &str| -> PyResult<Bound<'_, PyAny>> {
            let missing = || option(py, &format!("expected a reference with the field {name:?}"));
            reference.get_item(name)?.ok_or_else(missing)
        };
        let kind: String = field("kind")?.extract()?;
        let expected: &[&str] = match kind.as_str() {
            "file" => &["kind", "path", "pem"],
            "server" => &["kind", "address", "ca", "certificate", "key"],
            "unix" => &["kind", "path", "user"],
            _ => return Err(option(py, "expected a reference of the kind file, server or unix")),
        };
        // An unknown field may be a secret that somebody believes to be needed.
        for name in reference.keys() {
            if !expected.contains(&name.extract::<String>()?.as_str()) {
                return Err(option(
                    py,
                    &format!("expected a reference with the fields {expected:?} and no others"),
                ));
            }
        }
        let path = |name: &str| field(name)?.extract::<PathBuf>();
        let reference = match kind.as_str() {
            "file" => {
                let pem: Vec<(String, PathBuf)> = field("pem")?
                    .cast_into::<PyDict>()?
                    .iter()
                    .map(|pair| pair_of(&pair))
                    .collect::<PyResult<_>>()?;
                Self::File { path: path("path")?, pem }
            }
            "server" => Self::Server {
                address: field("address")?.extract()?,
                ca: path("ca")?,
                certificate: path("certificate")?,
                key: path("key")?,
            },
            _ => Self::Unix { path: path("path")?, user: field("user")?.extract()? },
        };
        reference.check(py)
    }

    /// Returns the reference as a dictionary of texts.
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let text = |path: &Path| path.as_os_str().to_owned();
        match self {
            Self::File { path, pem } => {
                dict.set_item("kind", "file")?;
                dict.set_item("path", text(path))?;
                let paths = PyDict::new(py);
                for (name, path) in pem {
                    paths.set_item(name, text(path))?;
                }
                dict.set_item("pem", paths)?;
            }
            Self::Server { address, ca, certificate, key } => {
                dict.set_item("kind", "server")?;
                dict.set_item("address", address)?;
                dict.set_item("ca", text(ca))?;
                dict.set_item("certificate", text(certificate))?;
                dict.set_item("key", text(key))?;
            }
            Self::Unix { path, user } => {
                dict.set_item("kind", "unix")?;
                dict.set_item("path", text(path))?;
                dict.set_item("user", user)?;
            }
        }
        Ok(dict)
    }

    /// Returns the text of `repr`.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::File { path, .. } => format!("oarlock.Keys.file({:?})", path.display().to_string()),
            Self::Server { address, .. } => format!("oarlock.Keys.server({address:?})"),
            Self::Unix { path, .. } => format!("oarlock.Keys.unix({:?})", path.display().to_string()),
        }
    }
}

fn pair_of((name, path): &(Bound<'_, PyAny>, Bound<'_, PyAny>)) -> PyResult<(String, PathBuf)> {
    Ok((name.extract()?, path.extract()?))
}
