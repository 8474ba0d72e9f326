//! The rules by which name servers refuse to load a zone, or report a record of it. Those of BIND 9.18 as a primary
//! server with its defaults, Knot DNS 3.2 and NSD are taken together: what one of them refuses is refused here.

use std::fmt;

use super::check::is_of_signing;
use super::host_names::{is_global_catalogue, is_host_name, is_host_owner, is_mailbox};
use super::{LoadRules, RecordLocation, ZoneChange, ZoneChanges, ZoneSignError};
use crate::name::{DomainName, DomainNameBuf};
use crate::rdata::has_gateway_key;
use crate::rtype::RecordType;
use crate::sets::{RecordSet, RecordSets};
use crate::zone_cut::{NameOwnership, NameOwnerships};

/// A rule of name servers that a zone violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadRule {
    /// The zone has no NS records of its own.
    NoNameServers,
    /// The owner of an address or MX record is not a host name. RFC 952, RFC 1123 2.1.
    Owner,
    /// The data name a host that cannot have such a name. RFC 952, RFC 1123 2.1.
    HostName,
    /// The data name a mailbox whose domain is not a host name.
    Mailbox,
    /// The type is obsolete. RFC 973.
    ObsoleteType,
    /// A wildcard is delegated. RFC 4592 4.2.
    WildcardDelegation,
    /// A record stands below a DNAME. RFC 6672 2.4.
    BelowDname,
    /// A delegation has a DNAME. RFC 6672 2.3.
    DelegatedDname,
    /// The CDS or CDNSKEY records have an algorithm that no DNSKEY has, or both keys and the wish to have none. RFC
    /// 7344 4.1, RFC 8078 section 4.
    ChildKeys,
    /// An IPSECKEY record has no public key, which RFC 4025 2.4 allows.
    KeylessIpsecKey,
    /// A host of the zone is not there or is an alias.
    Target(TargetUse, TargetFault),
    /// The SPF record has no TXT record with the same purpose. RFC 7208 3.1.
    SpfWithoutTxt,
    /// A label other than the first one is `*`. RFC 4592 2.1.1.
    InnerWildcard,
    /// A type of the DNSSEC before RFC 4033.
    OldDnssec,
}

/// The use that records make of a host of the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetUse {
    /// A name server of the zone itself.
    ApexServer,
    /// A name server of a delegation.
    DelegatedServer,
    /// The host of an MX record.
    Mail,
    /// The host of an SRV record.
    Service,
}

/// The reason why a host of the zone cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetFault {
    /// It has no address.
    NoAddress,
    /// It is an alias. RFC 2181 10.3, RFC 2782.
    Alias,
    /// A DNAME stands above it.
    BelowDname,
}

impl LoadRule {
    /// Returns true if a name server refuses the zone, and false if one reports the record only.
    #[must_use]
    pub fn is_refused(self) -> bool {
        match self {
            Self::Target(target, _) => target == TargetUse::ApexServer,
            Self::SpfWithoutTxt | Self::InnerWildcard | Self::OldDnssec => false,
            _ => true,
        }
    }
}

impl fmt::Display for LoadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNameServers => "the zone has no NS records of its own",
            Self::Owner => "the owner is not a host name: letters, digits and inner hyphens are allowed",
            Self::HostName => {
                "the data name a host by other characters than letters, digits and inner hyphens"
            }
            Self::Mailbox => "the data name a mailbox whose domain is not a host name",
            Self::ObsoleteType => "an obsolete type: MX replaces it",
            Self::WildcardDelegation => "a wildcard cannot be delegated",
            Self::BelowDname => "no record is allowed below a DNAME",
            Self::DelegatedDname => "a DNAME beside NS records",
            Self::ChildKeys => {
                "an algorithm that no DNSKEY has, or a request for no DS records beside other keys"
            }
            Self::KeylessIpsecKey => "an IPSECKEY without public key, which BIND cannot read",
            Self::Target(target, fault) => return write!(f, "{target} {fault}"),
            Self::SpfWithoutTxt => "an SPF record without a TXT record that says the same",
            Self::InnerWildcard => "a label `*` that is not the first one makes no wildcard",
            Self::OldDnssec => "a type of an older DNSSEC",
        })
    }
}

impl fmt::Display for TargetUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ApexServer => "a name server of the zone",
            Self::DelegatedServer => "a name server of a delegation",
            Self::Mail => "a mail server",
            Self::Service => "the host of a service",
        })
    }
}

impl fmt::Display for TargetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAddress => "has no address in the zone",
            Self::Alias => "is an alias",
            Self::BelowDname => "lies below a DNAME",
        })
    }
}

/// Checks every name of the zone. `algorithms` are those of the keys that sign it.
pub(super) fn check(
    sets: &RecordSets<'_>,
    ownerships: &NameOwnerships,
    algorithms: &[u8],
    rules: LoadRules,
    changes: &mut ZoneChanges,
) -> Result<(), ZoneSignError> {
    let apex = ownerships.apex();
    let mut algorithms = algorithms.to_vec();
    let published = sets.of_type(apex, RecordType::DNSKEY).into_iter().flat_map(|set| set.data());
    algorithms.extend(published.filter_map(|data| data.get(3)));
    let mut check = LoadCheck { sets, ownerships, algorithms, rules, changes };
    if sets.of_type(apex, RecordType::NS).is_none() {
        let owner = sets.name(apex).to_buf();
        let location = RecordLocation { file: None, line: 0, owner, rtype: RecordType::NS };
        check.report(LoadRule::NoNameServers, location)?;
    }
    for (name, ownership) in ownerships.iter().enumerate() {
        if matches!(ownership, NameOwnership::Outside | NameOwnership::Hashed) {
            continue;
        }
        for set in sets.of_name(name).filter(|set| !set.records.is_empty() && !is_of_signing(set.rtype)) {
            check.set(name, ownership, &set)?;
        }
    }
    Ok(())
}

struct LoadCheck<'c> {
    sets: &'c RecordSets<'c>,
    ownerships: &'c NameOwnerships,
    /// The algorithms of the zone's keys.
    algorithms: Vec<u8>,
    rules: LoadRules,
    changes: &'c mut ZoneChanges,
}

impl LoadCheck<'_> {
    fn report(&mut self, rule: LoadRule, location: RecordLocation) -> Result<(), ZoneSignError> {
        if rule.is_refused() && self.rules == LoadRules::Fail {
            return Err(ZoneSignError::Unloadable { location, rule });
        }
        self.changes.add(ZoneChange::Load(rule), || location);
        Ok(())
    }

    fn set(
        &mut self,
        name: usize,
        ownership: NameOwnership,
        set: &RecordSet<'_>,
    ) -> Result<(), ZoneSignError> {
        let sets = self.sets;
        let location = |row: u32| RecordLocation::at_row(sets.records(), row as usize);
        if let Some(rule) = self.owner_rule(name, ownership, set) {
            self.report(rule, location(set.records[0]))?;
        }
        for (row, data) in set.records.iter().zip(set.data()) {
            if let Some(rule) = self.data_rule(ownership, set, data) {
                self.report(rule, location(*row))?;
            }
        }
        Ok(())
    }

    /// Finds a rule about the owner and the type of a set.
    fn owner_rule(&self, name: usize, ownership: NameOwnership, set: &RecordSet<'_>) -> Option<LoadRule> {
        let RecordSet { owner, rtype, .. } = *set;
        let is_address = matches!(rtype, RecordType::A | RecordType::AAAA);
        let has_host = is_address || matches!(rtype, RecordType::MX | RecordType::WKS | RecordType::A6);
        let has_host_owner = || is_host_owner(owner) || is_address && is_global_catalogue(owner);
        let is_apex = ownership == NameOwnership::Apex;
        match rtype {
            _ if ownership == NameOwnership::Below && self.is_below_dname(owner) => {
                Some(LoadRule::BelowDname)
            }
            _ if has_host && !has_host_owner() => Some(LoadRule::Owner),
            RecordType::MD | RecordType::MF => Some(LoadRule::ObsoleteType),
            RecordType::NS if owner.is_wildcard() => Some(LoadRule::WildcardDelegation),
            RecordType::DNAME if ownership == NameOwnership::Cut => Some(LoadRule::DelegatedDname),
            RecordType::CDS | RecordType::CDNSKEY if is_apex && !self.has_keys_of(set) => {
                Some(LoadRule::ChildKeys)
            }
            RecordType::SPF if !self.has_spf_text(name) => Some(LoadRule::SpfWithoutTxt),
            RecordType::SIG | RecordType::NXT => Some(LoadRule::OldDnssec),
            _ if owner.labels().skip(1).any(|label| label == b"*") => Some(LoadRule::InnerWildcard),
            _ => None,
        }
    }

    /// Returns true if a DNAME, and no delegation, stands above the name.
    fn is_below_dname(&self, name: DomainName<'_>) -> bool {
        let mut above = name.parent();
        while let Some(name) = above {
            if let Ok(index) = self.sets.find(name)
                && matches!(self.ownerships.get(index), NameOwnership::Inside | NameOwnership::Apex)
            {
                return self.has(index, RecordType::DNAME);
            }
            above = name.parent();
        }
        false
    }

    fn has(&self, name: usize, rtype: RecordType) -> bool {
        self.sets.of_type(name, rtype).is_some()
    }

    /// Returns true if the zone has a key of each algorithm, or if the only record asks for no DS records.
    fn has_keys_of(&self, set: &RecordSet<'_>) -> bool {
        let offset = if set.rtype == RecordType::CDS { 2 } else { 3 };
        let algorithms = || set.data().filter_map(|data| data.get(offset));
        // RFC 8078 section 4: algorithm 0 asks the parent to delete the DS records.
        if algorithms().any(|algorithm| *algorithm == 0) {
            return algorithms().all(|algorithm| *algorithm == 0);
        }
        algorithms().all(|algorithm| self.algorithms.contains(algorithm))
    }

    fn has_spf_text(&self, name: usize) -> bool {
        let is_spf = |data: &[u8]| {
            let text = data.split_first().and_then(|(len, text)| text.get(..usize::from(*len)));
            text.is_some_and(|text| text == b"v=spf1" || text.starts_with(b"v=spf1 "))
        };
        self.sets.of_type(name, RecordType::TXT).is_some_and(|set| set.data().any(is_spf))
    }

    /// Finds a rule about the data of a record.
    fn data_rule(&self, ownership: NameOwnership, set: &RecordSet<'_>, data: &[u8]) -> Option<LoadRule> {
        let host = |skipped: usize| name_at(data, skipped);
        let target = |target, host: DomainName<'_>| {
            self.target_fault(target, host).map(|fault| LoadRule::Target(target, fault))
        };
        let checked = |host: Option<DomainName<'_>>| {
            host.filter(|host| !is_host_name(*host)).map(|_| LoadRule::HostName)
        };
        let mailbox =
            |skipped: usize| host(skipped).filter(|host| !is_mailbox(*host)).map(|_| LoadRule::Mailbox);
        match set.rtype {
            RecordType::NS if ownership == NameOwnership::Below => checked(host(0)),
            RecordType::NS => {
                let server = match ownership {
                    NameOwnership::Apex => TargetUse::ApexServer,
                    _ => TargetUse::DelegatedServer,
                };
                checked(host(0)).or_else(|| target(server, host(0)?))
            }
            RecordType::MX => checked(host(2)).or_else(|| target(TargetUse::Mail, host(2)?)),
            RecordType::SRV => checked(host(6)).or_else(|| target(TargetUse::Service, host(6)?)),
            RecordType::AFSDB | RecordType::RT => checked(host(2)),
            // An alias, of priority 0, may have any target. RFC 9460 2.4.2.
            RecordType::SVCB | RecordType::HTTPS if !data.starts_with(&[0, 0]) => checked(host(2)),
            RecordType::DSYNC => checked(host(5)),
            RecordType::PTR if is_reverse(set.owner) => checked(host(0)),
            RecordType::SOA => checked(host(0)).or_else(|| mailbox(host(0)?.as_bytes().len())),
            RecordType::RP => mailbox(0),
            RecordType::IPSECKEY if !has_gateway_key(data) => Some(LoadRule::KeylessIpsecKey),
            RecordType::MINFO => mailbox(0).or_else(|| mailbox(host(0)?.as_bytes().len())),
            _ => None,
        }
    }

    /// Returns why a host of the zone cannot be reached. Hosts of other zones are not looked up.
    fn target_fault(&self, target: TargetUse, host: DomainName<'_>) -> Option<TargetFault> {
        let host = host.to_lower();
        let apex = self.sets.name(self.ownerships.apex());
        if !host.name().is_at_or_below(apex) {
            return None;
        }
        // The zone has the addresses of name servers in delegated zones only.
        let is_server = matches!(target, TargetUse::ApexServer | TargetUse::DelegatedServer);
        let delegated = || is_server.then_some(TargetFault::NoAddress);
        if let Ok(index) = self.sets.find(host.name()) {
            return match self.ownerships.get(index) {
                NameOwnership::Below if self.is_below_dname(host.name()) => Some(TargetFault::BelowDname),
                NameOwnership::Below | NameOwnership::Cut => self.fault_of(index).and_then(|_| delegated()),
                _ => self.fault_of(index),
            };
        }
        let mut above = host.name().parent();
        while let Some(name) = above.filter(|name| name.is_at_or_below(apex)) {
            if let Some(index) = wildcard_at(name).and_then(|wildcard| self.sets.find(wildcard.name()).ok()) {
                return self.fault_of(index);
            }
            if let Ok(index) = self.sets.find(name) {
                return match self.ownerships.get(index) {
                    NameOwnership::Cut => delegated(),
                    NameOwnership::Below if !self.is_below_dname(name) => delegated(),
                    NameOwnership::Below => Some(TargetFault::BelowDname),
                    _ if self.has(index, RecordType::DNAME) => Some(TargetFault::BelowDname),
                    _ => Some(TargetFault::NoAddress),
                };
            }
            above = name.parent();
        }
        Some(TargetFault::NoAddress)
    }

    /// Returns why the name at `index` is not a host.
    fn fault_of(&self, index: usize) -> Option<TargetFault> {
        let has_address = [RecordType::A, RecordType::AAAA].into_iter().any(|rtype| self.has(index, rtype));
        match has_address {
            true => None,
            false if self.has(index, RecordType::CNAME) => Some(TargetFault::Alias),
            false => Some(TargetFault::NoAddress),
        }
    }
}

/// Returns the name in the data after the fields of `skipped` bytes.
fn name_at(data: &[u8], skipped: usize) -> Option<DomainName<'_>> {
    DomainName::at_front(data.get(skipped..)?).ok().map(|(name, _)| name)
}

fn wildcard_at(name: DomainName<'_>) -> Option<DomainNameBuf> {
    let wire = [&b"\x01*"[..], name.as_bytes()].concat();
    DomainName::new(&wire).ok().map(DomainName::to_buf)
}

/// Returns true for the names of addresses. RFC 1035 3.5, RFC 3596 2.5.
fn is_reverse(name: DomainName<'_>) -> bool {
    [&b"\x07in-addr\x04arpa\x00"[..], b"\x03ip6\x04arpa\x00"]
        .into_iter()
        .any(|zone| name.is_at_or_below(DomainName::trusted(zone)))
}
