//! The program `oarlock`, which stands beside this one and is started for measurements.

use std::io;
use std::path::PathBuf;

/// The reason why there is no program to start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProductAbsence {
    #[error("this program's own path: {0}")]
    Own(io::Error),
    #[error("oarlock is not beside {}: build it with \"make build\" in a checkout of Oarlock", lab.display())]
    NotBeside { lab: PathBuf },
}

/// Returns the path of `oarlock` in the directory of this program.
///
/// # Errors
/// It is not there.
pub(crate) fn oarlock_path() -> Result<PathBuf, ProductAbsence> {
    let lab = std::env::current_exe().map_err(ProductAbsence::Own)?;
    let path = lab.with_file_name("oarlock");
    if path.is_file() { Ok(path) } else { Err(ProductAbsence::NotBeside { lab }) }
}
