use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa,
    KeyIdMethod, KeyPair, RevokedCertParams, SerialNumber, date_time_ymd,
};
use tempfile::TempDir;

use super::*;

type TestIssuer = CertifiedIssuer<'static, KeyPair>;

/// The times of the lists: the first and the second day of January 2026, unless a test says otherwise.
const DAY_1_S: i64 = 1_767_225_600;
const DAY_S: i64 = 86_400;

fn issuer(name: &str) -> TestIssuer {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Issues a list between two days of January 2026 that revokes a number.
fn list(issuer: &TestIssuer, days: (u8, u8), serial: u64) -> rcgen::CertificateRevocationList {
    let revoked = RevokedCertParams {
        serial_number: SerialNumber::from(serial),
        revocation_time: date_time_ymd(2026, 1, 1),
        reason_code: None,
        invalidity_date: None,
    };
    let params = CertificateRevocationListParams {
        this_update: date_time_ymd(2026, 1, days.0),
        next_update: date_time_ymd(2026, 1, days.1),
        crl_number: SerialNumber::from(1_u64),
        issuing_distribution_point: None,
        revoked_certs: vec![revoked],
        key_identifier_method: KeyIdMethod::Sha256,
    };
    params.signed_by(issuer).unwrap()
}

struct ListFiles {
    directory: TempDir,
    authority: CertificateDer<'static>,
}

impl ListFiles {
    fn of(authority: &TestIssuer) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), authority: authority.der().to_vec().into() }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, files: &[PathBuf]) -> Result<RevocationLists, CrlError> {
        let authorities = (Path::new("ca.pem"), std::slice::from_ref(&self.authority));
        RevocationLists::read(files, ExpiredCrlRule::Refuse, authorities)
    }
}

fn warnings(lists: &RevocationLists, now_s: i64) -> Vec<String> {
    lists.warnings(now_s).map(|warning| warning.to_string()).collect()
}

#[test]
fn lists_are_read_from_pem_and_der() {
    let authority = issuer("authority");
    let files = ListFiles::of(&authority);
    let (first, other) = (list(&authority, (1, 2), 1), list(&issuer("other"), (1, 3), 2));
    let der = files.write("a.crl", first.der());
    let pem = files.write("b.crl", format!("# a comment\n{}{}", first.pem().unwrap(), other.pem().unwrap()));
    let lists = files.read(&[der, pem]).unwrap();
    // The list of the authority is there twice, and counts once.
    assert_eq!(lists.ders().count(), 2);
    let said = warnings(&lists, DAY_1_S);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("b.crl: the CRL is of CN=other, which is not one of the authorities"),
        "{said:?}"
    );
}

#[test]
fn the_newest_list_of_an_issuer_counts() {
    let authority = issuer("authority");
    let files = ListFiles::of(&authority);
    let (old, new) = (list(&authority, (1, 9), 1), list(&authority, (2, 9), 2));
    for order in [[&old, &new], [&new, &old]] {
        let text = order.map(|list| list.pem().unwrap()).concat();
        let lists = files.read(&[files.write("all.pem", text)]).unwrap();
        assert_eq!(lists.ders().collect::<Vec<_>>(), [new.der()]);
    }
}

#[test]
fn faulty_files_are_rejected() {
    let authority = issuer("authority");
    let files = ListFiles::of(&authority);
    let good = list(&authority, (1, 2), 1);
    let pem = good.pem().unwrap();
    let cut = pem.lines().take(3).collect::<Vec<_>>().join("\n");
    let bad_base64 = pem.replacen("MI", "M!", 1);
    for (bytes, expected) in [
        (&b""[..], "expected CRLs in PEM (X509 CRL), or one in DER: found none"),
        (&b"no list"[..], "found none"),
        (authority.pem().as_bytes(), "found none"),
        (cut.as_bytes(), "expected CRLs in PEM"),
        (bad_base64.as_bytes(), "expected CRLs in PEM"),
        (&good.der()[..50], "expected CRLs in PEM"),
        (&authority.der()[..], "expected CRLs in PEM"),
        (&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff][..], "expected CRLs in PEM"),
    ] {
        let error = files.read(&[files.write("bad.crl", bytes)]).unwrap_err().to_string();
        assert!(error.contains("bad.crl") && error.contains(expected), "{error}");
    }
    let missing = files.read(&[files.directory.path().join("missing")]).unwrap_err();
    assert!(matches!(missing, CrlError::Read { .. }));
    // A file with a hole takes no space.
    let huge = files.write("huge.crl", b"0");
    File::options().write(true).open(&huge).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    assert!(matches!(files.read(&[huge]).unwrap_err(), CrlError::TooLong { .. }));
}

#[test]
fn lists_that_refuse_clients_are_named() {
    let (authority, namesake) = (issuer("authority"), issuer("authority"));
    let files = ListFiles::of(&authority);
    let good = files.read(&[files.write("good.crl", list(&authority, (1, 2), 1).der())]).unwrap();
    assert!(warnings(&good, DAY_1_S).is_empty());
    let (before, at_end) = (warnings(&good, DAY_1_S - 1), warnings(&good, DAY_1_S + DAY_S));
    assert!(before[0].contains("which is in the future"), "{before:?}");
    assert!(at_end[0].contains("has expired at Jan  2") && at_end[0].contains("are refused"), "{at_end:?}");
    let at =
        |seconds: i64| UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds.unsigned_abs()));
    assert!(good.are_good_at(at(DAY_1_S + DAY_S - 1)) && !good.are_good_at(at(DAY_1_S + DAY_S)));
    // A list with the name of the authority and the signature of another key.
    let forged = files.read(&[files.write("forged.crl", list(&namesake, (1, 2), 1).der())]).unwrap();
    let said = warnings(&forged, DAY_1_S);
    assert!(said[0].contains("forged.crl: the CRL of CN=authority is not signed by its key"), "{said:?}");
    assert!(said[1].contains("ca.pem: no CRL of crl_files is of the authority CN=authority"), "{said:?}");
    assert!(warnings(&files.read(&[]).unwrap(), DAY_1_S).is_empty());
}
