//! The full name of this host.

/// Returns the name of the host with its domain. If the name has no domain, returns the first name with a domain from
/// the host's line in `/etc/hosts`.
pub(crate) fn full_name(node: &str, hosts: &str) -> Option<String> {
    if is_full(node) {
        return Some(node.to_owned());
    }
    hosts.lines().find_map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let names: Vec<&str> = line.split_whitespace().skip(1).collect();
        let full = names.iter().find(|name| is_full(name))?;
        names.contains(&node).then(|| (*full).to_owned())
    })
}

/// Returns true for a name with a domain. `localhost.localdomain` names every host and does not count.
fn is_full(name: &str) -> bool {
    let has_domain =
        name.split_once('.').is_some_and(|(host, domain)| !host.is_empty() && !domain.is_empty());
    has_domain && !name.starts_with("localhost.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_domain_of_the_host_in_the_hosts_file() {
        let hosts = "127.0.0.1 localhost\n# 192.0.2.9 no.example vm\n127.0.1.1\tmail.example.com  mail # vm.example vm\n\
                     ::1 localhost.localdomain other\n";
        assert_eq!(full_name("mx.example.net", hosts).as_deref(), Some("mx.example.net"));
        assert_eq!(full_name("mail", hosts).as_deref(), Some("mail.example.com"));
        for short in ["vm", "other", "localhost", "", "mail."] {
            assert_eq!(full_name(short, hosts), None, "{short}");
        }
    }
}
