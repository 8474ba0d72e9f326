use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use super::*;

/// Makes certificates by their names, all under one key: names alone decide the paths.
struct TestIssuer(KeyPair);

impl TestIssuer {
    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    fn issue(&self, subject: &str, issuer: &str) -> Vec<u8> {
        let issuer = Issuer::new(Self::params(issuer), &self.0);
        Self::params(subject).signed_by(&self.0, &issuer).unwrap().der().to_vec()
    }

    /// Returns the others of a chain of this many certificates: the peer's own one is issued by "0".
    fn line(&self, len: usize) -> Vec<Vec<u8>> {
        (0..len - 1).map(|number| self.issue(&number.to_string(), &(number + 1).to_string())).collect()
    }
}

fn issuer() -> TestIssuer {
    TestIssuer(KeyPair::generate().unwrap())
}

#[test]
fn names_are_those_of_a_parser() {
    let certificate = issuer().issue("subject", "issuer");
    let names = CertificateNames::read(&certificate).unwrap();
    assert!(names.subject.ends_with(b"subject") && names.issuer.ends_with(b"issuer"));
    for len in 0..certificate.len() {
        assert_eq!(CertificateNames::read(&certificate[..len]), None);
    }
    // Lengths of four bytes and more, and the indefinite one of BER.
    for first in [0x80, 0x84, 0x88, 0xff] {
        let changed = [&[SEQUENCE_TAG, first][..], &[0xff; 16]].concat();
        assert_eq!(CertificateNames::read(&changed), None);
    }
}

const SEQUENCE_TAG: u8 = 0x30;

#[test]
fn eight_certificates_pass_and_nine_do_not() {
    let issuer = issuer();
    let certificate = issuer.issue("client", "0");
    let limit = ChainLimit::default();
    assert_eq!(limit.check::<Vec<u8>>(&certificate, &[]), Ok(()));
    let mut line = issuer.line(8);
    line.reverse();
    assert_eq!(limit.check(&certificate, &line), Ok(()));
    let long = ChainError::TooLong { found: 9, max: 8 };
    assert_eq!(limit.check(&certificate, &issuer.line(9)), Err(long));
    assert_eq!(ChainLimit::new(9).check(&certificate, &issuer.line(9)), Ok(()));
    // The number counts before anything is read.
    assert_eq!(limit.check(b"", &[b""; 8]), Err(long));
    assert_eq!(long.to_string(), "the chain has 9 certificates, at most 8 are allowed");
}

#[test]
fn authorities_with_two_certificates_pass_and_a_mesh_does_not() {
    let issuer = issuer();
    let certificate = issuer.issue("client", "0");
    // Two authorities with two certificates each, and a root that the peer sent although nobody needs it.
    let cross = [("0", "1"), ("0", "2"), ("1", "root"), ("1", "2"), ("2", "root"), ("root", "root")];
    let cross = cross.map(|(subject, by)| issuer.issue(subject, by));
    assert_eq!(ChainLimit::default().check(&certificate, &cross), Ok(()));
    // Seven certificates of one name have 13,699 paths.
    let mesh: Vec<_> = (0..7).map(|_| issuer.issue("0", "0")).collect();
    let refused = ChainLimit::default().check(&certificate, &mesh);
    assert_eq!(refused, Err(ChainError::TooManyPaths { max: MAX_STEPS }));
}

#[test]
fn unreadable_certificates_lead_nowhere() {
    let issuer = issuer();
    let junk = vec![b"junk".to_vec(); 7];
    assert_eq!(ChainLimit::default().check(&issuer.issue("client", "0"), &junk), Ok(()));
    assert_eq!(ChainLimit::default().check(b"junk", &issuer.line(8)), Ok(()));
}
