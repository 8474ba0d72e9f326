//! The traffic secrets of a connection.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use rustls::KeyLog;
use zeroize::Zeroizing;

/// The first secrets of a connection's application data. A KeyUpdate makes the next keys from them (RFC 8446 7.2), and
/// rustls gives them to nobody but a log of keys.
#[derive(Default)]
pub(crate) struct TrafficSecrets(Mutex<[Option<Zeroizing<Vec<u8>>>; 2]>);

/// The side of a connection that seals records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SealingSide {
    Client,
    Server,
}

impl SealingSide {
    /// Returns the side whose first secret of application data has this label in a log of keys.
    fn of_label(label: &str) -> Option<Self> {
        match label {
            "CLIENT_TRAFFIC_SECRET_0" => Some(Self::Client),
            "SERVER_TRAFFIC_SECRET_0" => Some(Self::Server),
            _ => None,
        }
    }
}

impl TrafficSecrets {
    /// Takes the secret of a side out. There is none before the end of the handshake, and none in TLS 1.2.
    pub(crate) fn take(&self, side: SealingSide) -> Option<Zeroizing<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[side as usize].take()
    }
}

impl KeyLog for TrafficSecrets {
    fn log(&self, label: &str, _client_random: &[u8], secret: &[u8]) {
        if let Some(side) = SealingSide::of_label(label) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)[side as usize] =
                Some(Zeroizing::new(secret.to_vec()));
        }
    }

    fn will_log(&self, label: &str) -> bool {
        SealingSide::of_label(label).is_some()
    }
}

impl fmt::Debug for TrafficSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrafficSecrets").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_secrets_of_application_data_and_no_others() {
        let secrets = TrafficSecrets::default();
        for label in ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "EXPORTER_SECRET", "CLIENT_RANDOM"] {
            assert!(!secrets.will_log(label));
            secrets.log(label, &[1; 32], &[2; 32]);
        }
        assert_eq!(secrets.take(SealingSide::Client), None);
        secrets.log("CLIENT_TRAFFIC_SECRET_0", &[1; 32], &[3; 32]);
        secrets.log("SERVER_TRAFFIC_SECRET_0", &[1; 32], &[4; 32]);
        assert_eq!(format!("{secrets:?}"), "TrafficSecrets { .. }");
        assert_eq!(secrets.take(SealingSide::Server).unwrap().as_slice(), [4; 32]);
        assert_eq!(secrets.take(SealingSide::Client).unwrap().as_slice(), [3; 32]);
        assert_eq!(secrets.take(SealingSide::Client), None);
    }
}
