//! An authority that certifies clients.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use oarlock_wire::{Credentials, Endpoint};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};

use super::TestServer;

static NUMBER: AtomicU32 = AtomicU32::new(0);

pub struct ClientAuthority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// The special properties of a client's certificate.
#[derive(Clone, Default)]
pub struct SpecialProperties {
    pub is_expired: bool,
    pub is_nameless: bool,
    pub is_for_servers: bool,
    /// The time until the end of the certificate.
    pub lasts: Option<Duration>,
}

impl ClientAuthority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        // Verifiers find an authority by its name, so each authority needs a name of its own.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        params.distinguished_name.push(DnType::CommonName, format!("the clients' authority {number}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// Returns the endpoint of a client that is certified as `client.test`.
    pub fn client(&self, server: &TestServer, special: &SpecialProperties) -> Endpoint {
        let names = if special.is_nameless { vec![] } else { vec!["client.test".to_owned()] };
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![match special.is_for_servers {
            true => ExtendedKeyUsagePurpose::ServerAuth,
            false => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        if special.is_expired {
            params.not_after = date_time_ymd(2020, 1, 1);
        }
        if let Some(lasts) = special.lasts {
            params.not_after = (std::time::SystemTime::now() + lasts).into();
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Endpoint::Grpc {
            url: format!("https://{}", server.addresses.tcp.unwrap()),
            credentials: Some(Credentials {
                server_ca: std::fs::read(server.development.ca()).unwrap(),
                certificate: certificate.pem().into_bytes(),
                private_key: key.serialize_pem().into_bytes().into(),
            }),
        }
    }
}
