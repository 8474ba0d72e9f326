//! Engines pass the whole suite before anything is built on them.

use oarlock_scalar::Scalar;

#[test]
fn scalar_passes_the_suite() {
    let scalar = Scalar::detect().unwrap();
    oarlock_vectors::stamp(&scalar, &scalar).assert_clean();
}
