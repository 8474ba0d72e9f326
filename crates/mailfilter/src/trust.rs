//! Whose `Authentication-Results` are believed. RFC 8601 5, RFC 8617 4.1.1.

use std::net::IpAddr;

use oarlock_dkim::{claims_to_be, comes_from};

use crate::network::Network;

/// Names under which results are written here, and who may write them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustSettings {
    /// Our own name.
    pub(crate) authserv_id: String,
    /// Names of others of this site, which only its own hosts may use.
    pub(crate) authserv_ids: Vec<String>,
    /// Hosts of this site that verify before us and remove what strangers write under these names.
    pub(crate) networks: Vec<Network>,
    /// Names of filters before us in the same MTA, which removes them from what comes in.
    pub(crate) filters: Vec<String>,
}

/// The settings as they hold for one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trust<'a> {
    pub(crate) settings: &'a TrustSettings,
    /// The client is a host of this site that verifies.
    pub(crate) is_of_hop: bool,
}

/// The origin of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultsOrigin {
    /// From this site: believed.
    Trusted,
    /// From a stranger under a name of this site, or nobody can tell: removed.
    Forged,
    /// From another site: none of our business.
    Elsewhere,
}

impl TrustSettings {
    /// A filter's name that is one of this site, too. Results under it would be believed, whoever writes them.
    pub(crate) fn contested_name(&self) -> Option<&str> {
        let is_of_site = |name: &str| {
            let mut site = std::iter::once(&self.authserv_id).chain(&self.authserv_ids);
            site.any(|own| own.eq_ignore_ascii_case(name))
        };
        self.filters.iter().map(String::as_str).find(|name| is_of_site(name))
    }

    pub(crate) fn of_client(&self, client: Option<IpAddr>) -> Trust<'_> {
        let is_of_hop = client.is_some_and(|ip| self.networks.iter().any(|network| network.contains(ip)));
        Trust { settings: self, is_of_hop }
    }
}

impl<'a> Trust<'a> {
    #[cfg(test)]
    pub(crate) fn of_strangers(settings: &'a TrustSettings) -> Self {
        Self { settings, is_of_hop: false }
    }

    /// Tells where the results in a field's value come from.
    pub(crate) fn origin(self, value: &[u8]) -> ResultsOrigin {
        let TrustSettings { authserv_id, authserv_ids, filters, .. } = self.settings;
        let site = || std::iter::once(authserv_id).chain(authserv_ids);
        let is_of_filter = filters.iter().any(|name| begins_with_name(value, name));
        if is_of_filter || (self.is_of_hop && site().any(|name| comes_from(value, name))) {
            ResultsOrigin::Trusted
        } else if site().any(|name| claims_to_be(value, name)) {
            ResultsOrigin::Forged
        } else {
            ResultsOrigin::Elsewhere
        }
    }
}

/// True for a value that begins with the bare name, as filters write it. What an MTA would not find with a plain pattern, such as a name
/// in quotes or behind a comment, is not believed.
fn begins_with_name(value: &[u8], name: &str) -> bool {
    let value = value.trim_ascii_start();
    let has_name = value.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
    has_name && value.get(name.len()).is_some_and(|next| *next == b';' || next.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_has_a_name_of_its_own() {
        let of = |filters: &[&str]| TrustSettings {
            authserv_id: "mx.example".into(),
            authserv_ids: vec!["border.example".into()],
            networks: Vec::new(),
            filters: filters.iter().map(|name| (*name).into()).collect(),
        };
        assert_eq!(of(&["rspamd.example", "dmarc.mx.example"]).contested_name(), None);
        assert_eq!(of(&["rspamd.example", "MX.example"]).contested_name(), Some("MX.example"));
        assert_eq!(of(&["border.Example"]).contested_name(), Some("border.Example"));
    }

    #[test]
    fn strangers_are_believed_nothing() {
        let settings = TrustSettings {
            authserv_id: "mx.example".into(),
            authserv_ids: vec!["border.example".into()],
            networks: vec!["192.0.2.0/28".parse().unwrap()],
            filters: vec!["rspamd.mx.example".into()],
        };
        let origin = |address: Option<&str>, value: &str| {
            let client = address.map(|address| address.parse().unwrap());
            settings.of_client(client).origin(value.as_bytes())
        };
        let (hop, stranger) = (Some("192.0.2.5"), Some("192.0.2.77"));
        for own in ["mx.example; spf=pass", "Border.Example 1; spf=pass", "(x) \"mx.example\"; spf=pass"] {
            assert_eq!(origin(hop, own), ResultsOrigin::Trusted, "{own}");
            assert_eq!(origin(stranger, own), ResultsOrigin::Forged, "{own}");
            assert_eq!(origin(None, own), ResultsOrigin::Forged, "{own}");
        }
        // What cannot be read is nobody's, whoever sends it.
        for broken in ["", "(mx.example", "\"mx.example"] {
            assert_eq!(origin(hop, broken), ResultsOrigin::Forged, "{broken}");
        }
        assert_eq!(origin(stranger, "rspamd.mx.example; dmarc=pass"), ResultsOrigin::Trusted);
        assert_eq!(origin(None, "\n\tRspamd.MX.example 1; dmarc=pass"), ResultsOrigin::Trusted);
        let odd = [
            "(x) rspamd.mx.example; spf=pass",
            "\"rspamd.mx.example\"; spf=pass",
            "rspamd.mx.example.evil; spf=pass",
        ];
        for odd in odd {
            assert_eq!(origin(stranger, odd), ResultsOrigin::Elsewhere, "{odd}");
        }
        assert_eq!(origin(hop, "other.example; dmarc=pass"), ResultsOrigin::Elsewhere);
    }
}
