//! The rules that decide which `Authentication-Results` are trusted. RFC 8601 5, RFC 8617 4.1.1.

use std::net::IpAddr;

use oarlock_dkim::{claims_authserv_id, is_from_authserv_id};
use oarlock_network::IpNetwork;

/// The names under which results are written at this site, and the hosts that may write them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustSettings {
    /// The name of this filter.
    pub(crate) authserv_id: String,
    /// The other names of this site. Only its own hosts may use them.
    pub(crate) authserv_ids: Vec<String>,
    /// The hosts of this site that verify before this filter and remove forged fields under these names.
    pub(crate) networks: Vec<IpNetwork>,
    /// The names of filters that run earlier in the same MTA. The MTA removes these names from incoming messages.
    pub(crate) filters: Vec<String>,
}

/// The settings as they apply to one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientTrust<'a> {
    pub(crate) settings: &'a TrustSettings,
    /// True if the client is a host of this site that verifies.
    pub(crate) is_of_hop: bool,
}

/// The origin of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultsOrigin {
    /// The results are from this site and are trusted.
    Trusted,
    /// The results come from outside but have a name of this site, or they cannot be read. They are removed.
    Forged,
    /// The results are from another site and are not changed.
    Elsewhere,
}

impl TrustSettings {
    /// Returns the name of a filter that is also a name of this site. Results under such a name would be trusted from
    /// any sender.
    pub(crate) fn contested_name(&self) -> Option<&str> {
        let is_of_site = |name: &str| {
            let mut site = std::iter::once(&self.authserv_id).chain(&self.authserv_ids);
            site.any(|host| host.eq_ignore_ascii_case(name))
        };
        self.filters.iter().map(String::as_str).find(|name| is_of_site(name))
    }

    pub(crate) fn for_client(&self, client: Option<IpAddr>) -> ClientTrust<'_> {
        let is_of_hop = client.is_some_and(|ip| self.networks.iter().any(|network| network.contains(ip)));
        ClientTrust { settings: self, is_of_hop }
    }
}

impl<'a> ClientTrust<'a> {
    #[cfg(test)]
    pub(crate) fn for_strangers(settings: &'a TrustSettings) -> Self {
        Self { settings, is_of_hop: false }
    }

    /// Returns the origin of the results in a field's value.
    pub(crate) fn origin(self, value: &[u8]) -> ResultsOrigin {
        let TrustSettings { authserv_id, authserv_ids, filters, .. } = self.settings;
        let site = || std::iter::once(authserv_id).chain(authserv_ids);
        let is_of_filter = filters.iter().any(|name| begins_with_name(value, name));
        if is_of_filter || (self.is_of_hop && site().any(|name| is_from_authserv_id(value, name))) {
            ResultsOrigin::Trusted
        } else if site().any(|name| claims_authserv_id(value, name)) {
            ResultsOrigin::Forged
        } else {
            ResultsOrigin::Elsewhere
        }
    }
}

/// Returns true if a value begins with the bare name, as filters write it. A name in quotes or after a comment is not
/// trusted, because an MTA's simple pattern would not remove it.
fn begins_with_name(value: &[u8], name: &str) -> bool {
    let value = value.trim_ascii_start();
    let has_name = value.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
    has_name && value.get(name.len()).is_some_and(|next| *next == b';' || next.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_filters_that_share_a_name_with_the_site() {
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
    fn does_not_trust_results_from_outside() {
        let settings = TrustSettings {
            authserv_id: "mx.example".into(),
            authserv_ids: vec!["border.example".into()],
            networks: vec!["192.0.2.0/28".parse().unwrap()],
            filters: vec!["rspamd.mx.example".into()],
        };
        let origin = |address: Option<&str>, value: &str| {
            let client = address.map(|address| address.parse().unwrap());
            settings.for_client(client).origin(value.as_bytes())
        };
        let (hop, stranger) = (Some("192.0.2.5"), Some("192.0.2.77"));
        for results in ["mx.example; spf=pass", "Border.Example 1; spf=pass", "(x) \"mx.example\"; spf=pass"]
        {
            assert_eq!(origin(hop, results), ResultsOrigin::Trusted, "{results}");
            assert_eq!(origin(stranger, results), ResultsOrigin::Forged, "{results}");
            assert_eq!(origin(None, results), ResultsOrigin::Forged, "{results}");
        }
        // A field that cannot be read is not trusted from any client.
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
