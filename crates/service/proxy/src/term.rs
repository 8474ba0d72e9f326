//! The time for which a connection may last: until a certificate of its peers ends.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::time_provider::TimeProvider;
use tokio::time::sleep;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::certificate::{CertificateValidity, seconds_now};
use crate::stream::RelayStream;

/// The maximum time between two looks at the clock, which an administrator may set.
const LOOK: Duration = Duration::from_secs(60);

/// The end of a connection's certificates. It takes memory only if there is one.
#[derive(Default)]
pub(crate) struct ConnectionTerm(pub(crate) Option<Pin<Box<dyn Future<Output = ()>>>>);

impl ConnectionTerm {
    /// Reads the certificates of both peers.
    pub(crate) fn new(client: &RelayStream, backend: &RelayStream, clock: &Arc<dyn TimeProvider>) -> Self {
        let now_s = seconds_now(&**clock);
        let ends = [client, backend].into_iter().filter_map(|peer| first_end(peer.peer_chain()?, now_s));
        Self(ends.min().map(|end_s| Box::pin(passed(end_s, Arc::clone(clock))) as _))
    }

    /// Returns once a certificate has ended.
    pub(crate) async fn over(&mut self) {
        match &mut self.0 {
            Some(over) => over.await,
            None => pending().await,
        }
    }
}

/// Returns the last second of the certificate that ends first. Those of authorities that had ended before do not count:
/// the peer was accepted without them.
fn first_end(chain: &[CertificateDer<'_>], now_s: i64) -> Option<i64> {
    let end = |certificate: &CertificateDer<'_>| {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        Some(CertificateValidity::of(&certificate).not_after)
    };
    let (peer, authorities) = chain.split_first()?;
    let ends = authorities.iter().filter_map(end).filter(|end_s| *end_s >= now_s);
    end(peer).into_iter().chain(ends).min()
}

/// Returns after a second, in seconds since 1970.
async fn passed(end_s: i64, clock: Arc<dyn TimeProvider>) {
    loop {
        let left = end_s.saturating_sub(seconds_now(&*clock));
        let Ok(left) = u64::try_from(left) else { return };
        sleep(Duration::from_secs(left.saturating_add(1)).min(LOOK)).await;
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn until(day: u8) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["peer.test".to_owned()]).unwrap();
        params.not_after = date_time_ymd(2026, 1, day);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn the_first_certificate_that_ends_counts_unless_it_had_ended_before() {
        let midnight = |day| date_time_ymd(2026, 1, day).unix_timestamp();
        let chain = [until(20), until(10), until(5)];
        assert_eq!(first_end(&chain, midnight(1)), Some(midnight(5)));
        assert_eq!(first_end(&chain, midnight(7)), Some(midnight(10)));
        assert_eq!(first_end(&chain, midnight(12)), Some(midnight(20)));
        assert_eq!(first_end(&chain[..1], midnight(25)), Some(midnight(20)));
        assert_eq!(first_end(&[], midnight(1)), None);
    }
}
