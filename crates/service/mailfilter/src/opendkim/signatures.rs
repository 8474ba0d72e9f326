//! The signing table: `PATTERN KEY-NAME[:SIGNER]`, and the lines that it becomes. opendkim.conf(5), SigningTable.

use std::collections::HashSet;
use std::fmt;

use oarlock_dkim::ascii_form;

use super::conf::ConfLines;
use super::dataset::{DataEntry, DataSet, DataSetForm};
use super::keys::{OpendkimKey, OpendkimKeyTable};
use super::pattern::AuthorPattern;
use super::{EntryPosition, ImportError, ImportWarning, ReadFile};

/// The character that stands for the domain of the author.
const ANY: char = '%';

/// An entry of the signing table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SigningRule {
    source: EntryPosition,
    /// The pattern as it is written.
    text: String,
    pattern: AuthorPattern,
    key: String,
    signer: Option<String>,
}

/// The entries of a signing table and the keys that they name.
#[derive(Clone, Debug)]
pub(super) struct SigningRules {
    rules: Vec<SigningRule>,
    keys: OpendkimKeyTable,
    form: DataSetForm,
    matching: RuleMatching,
}

/// The entries that sign if several match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleMatching {
    /// The first one.
    First,
    /// All of them, but only the first of several equal keys of a flat file.
    Multiple,
    /// All of them. Tables without settings do not say it, and several entries of one pattern would be pointless.
    Every,
}

/// A line of this filter's signing table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableLine {
    pattern: AuthorPattern,
    selector: String,
    path: String,
    /// The value of `domain=`.
    domain: Option<String>,
    identity: Option<String>,
}

impl fmt::Display for TableLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.pattern, self.selector, self.path)?;
        self.domain.as_ref().map_or(Ok(()), |domain| write!(f, " domain={domain}"))?;
        self.identity.as_ref().map_or(Ok(()), |identity| write!(f, " identity={identity}"))
    }
}

impl SigningRules {
    pub(super) fn parse(
        table: &DataSet,
        keys: OpendkimKeyTable,
        matching: RuleMatching,
        warnings: &mut Vec<ImportWarning>,
    ) -> Self {
        let mut rules = Self { rules: Vec::new(), keys, form: table.form, matching };
        for entry in &table.entries {
            if let Err(reason) = rules.add(entry) {
                warnings.push(entry.source.warning(&entry.key, reason));
            }
        }
        rules
    }

    fn add(&mut self, entry: &DataEntry) -> Result<(), String> {
        let value = entry.value.as_deref().unwrap_or_default();
        let (key, signer) =
            value.split_once(':').map_or((value, None), |(key, signer)| (key, Some(signer.trim())));
        let key = key.trim();
        if key.is_empty() {
            return Err("expected PATTERN KEY-NAME, or PATTERN KEY-NAME:SIGNER".to_owned());
        }
        let pattern = AuthorPattern::parse(&entry.key, self.form).map_err(|fault| fault.to_string())?;
        let rule = SigningRule {
            source: entry.source.clone(),
            text: entry.key.clone(),
            pattern,
            key: key.to_owned(),
            signer: signer.filter(|signer| !signer.is_empty()).map(str::to_owned),
        };
        // `%` names the key after the author's domain, so a pattern for many domains is one for each key.
        if key == "%" && rule.pattern.domain().is_none() {
            return self.add_for_each_key(&rule);
        }
        let key = match rule.pattern.domain() {
            Some(domain) if key == "%" => domain.to_owned(),
            _ => rule.key.clone(),
        };
        self.add_if_known(SigningRule { key, ..rule })
    }

    fn add_for_each_key(&mut self, rule: &SigningRule) -> Result<(), String> {
        let domains = self.keys.domains().map(AuthorPattern::Domain);
        let patterns: Vec<AuthorPattern> = domains.filter(|domain| rule.pattern.covers(domain)).collect();
        if patterns.is_empty() {
            return Err("KeyTable has no key with the name of a domain that this pattern matches".to_owned());
        }
        for pattern in patterns {
            let key = pattern.domain().unwrap_or_default().to_owned();
            self.add_if_known(SigningRule { pattern, key, ..rule.clone() })?;
        }
        Ok(())
    }

    fn add_if_known(&mut self, rule: SigningRule) -> Result<(), String> {
        if self.keys.get(&rule.key).is_none() {
            return Err(format!("KeyTable has no usable key {:?}", rule.key));
        }
        self.rules.push(rule);
        Ok(())
    }

    /// Returns the lines of the signing table. Of several patterns that match an author, this filter applies the most
    /// precise one and no other.
    pub(super) fn lines(&self, warnings: &mut Vec<ImportWarning>) -> Vec<TableLine> {
        let reachable = self.reachable(warnings);
        let mut seen = HashSet::new();
        let patterns: Vec<&AuthorPattern> =
            reachable.iter().map(|rule| &rule.pattern).filter(|pattern| seen.insert(*pattern)).collect();
        let mut lines: Vec<TableLine> = Vec::new();
        for pattern in patterns {
            let rules = reachable.iter().filter(|rule| match self.matching {
                RuleMatching::First => rule.pattern == *pattern,
                RuleMatching::Multiple | RuleMatching::Every => rule.pattern.covers(pattern),
            });
            for rule in rules {
                match self.line(rule, pattern, warnings) {
                    Ok(line) if lines.iter().any(|other| other.is_same_signature(&line)) => {
                        if rule.pattern == *pattern {
                            warnings.push(
                                rule.warning("an earlier entry signs with the same domain and selector"),
                            );
                        }
                    }
                    Ok(line) => lines.push(line),
                    Err(reason) => warnings.push(rule.warning(reason)),
                }
            }
        }
        lines
    }

    /// Returns the entries that OpenDKIM can reach. Reports the others.
    fn reachable(&self, warnings: &mut Vec<ImportWarning>) -> Vec<&SigningRule> {
        let mut reachable: Vec<&SigningRule> = Vec::new();
        for rule in &self.rules {
            let earlier = reachable.iter().find(|earlier| match (self.matching, self.form) {
                (RuleMatching::First, DataSetForm::Patterns) => earlier.pattern.covers(&rule.pattern),
                (RuleMatching::First | RuleMatching::Multiple, DataSetForm::Keys) => {
                    earlier.pattern == rule.pattern
                }
                (RuleMatching::Multiple, DataSetForm::Patterns) | (RuleMatching::Every, _) => false,
            });
            let Some(earlier) = earlier else {
                reachable.push(rule);
                continue;
            };
            let advice = match self.matching {
                RuleMatching::First => "set MultipleSignatures to sign with both",
                RuleMatching::Multiple | RuleMatching::Every => {
                    "write the table as a refile to sign with both"
                }
            };
            let first = earlier.source.line;
            warnings.push(
                rule.warning(format!(
                    "OpenDKIM applies only the first match, which is line {first}: {advice}"
                )),
            );
        }
        reachable
    }

    /// Returns the line for a pattern that an entry covers.
    fn line(
        &self,
        rule: &SigningRule,
        pattern: &AuthorPattern,
        warnings: &mut Vec<ImportWarning>,
    ) -> Result<TableLine, String> {
        // unreachable because rules without a known key are not added
        let key = self.keys.get(&rule.key).ok_or("KeyTable has no such key")?;
        let domain = signing_domain(key, pattern)?;
        let path = match key.is_in_device() {
            true => Some(key.path.clone()),
            false => filled(&key.path, pattern),
        };
        let path = path.ok_or_else(|| {
            format!("key {:?}: % in its path differs by domain: expected an entry for each domain", rule.key)
        })?;
        let identity = rule.signer.as_deref().and_then(|signer| {
            let identity = identity(signer, pattern, domain.or(pattern.signing_domain()));
            let drop_reason = |reason| warnings.push(rule.warning(format!("i= is left out: {reason}")));
            identity.map_err(drop_reason).ok()
        });
        let domain = domain.filter(|domain| Some(*domain) != pattern.signing_domain()).map(str::to_owned);
        Ok(TableLine { pattern: pattern.clone(), selector: key.selector.clone(), path, domain, identity })
    }
}

impl SigningRule {
    fn warning(&self, reason: impl Into<String>) -> ImportWarning {
        self.source.warning(&self.text, reason)
    }
}

impl TableLine {
    fn is_same_signature(&self, other: &Self) -> bool {
        (&self.pattern, &self.selector, &self.domain) == (&other.pattern, &other.selector, &other.domain)
    }
}

/// Returns the value of `d=`. None stands for the author's own domain.
fn signing_domain<'k>(key: &'k OpendkimKey, pattern: &'k AuthorPattern) -> Result<Option<&'k str>, String> {
    match (&key.domain, pattern) {
        (Some(domain), _) => Ok(Some(domain)),
        (None, AuthorPattern::Below(_)) => Err(
            "its key signs as the author's own domain (%), which a pattern for all domains below cannot: \
             expected an entry for each domain"
                .to_owned(),
        ),
        (None, pattern) => Ok(pattern.domain()),
    }
}

/// Returns a text with the author's domain instead of `%`. None if a pattern has many domains.
fn filled(text: &str, pattern: &AuthorPattern) -> Option<String> {
    if !text.contains(ANY) {
        return Some(text.to_owned());
    }
    pattern.domain().map(|domain| text.replace(ANY, domain))
}

/// Returns the value of `i=`, which must be in the signing domain or in a subdomain. RFC 6376 3.5.
fn identity(signer: &str, pattern: &AuthorPattern, domain: Option<&str>) -> Result<String, &'static str> {
    let signer = filled(signer, pattern).ok_or("% in it differs by domain")?;
    let Some(domain) = domain else { return Err("the line has no domain of its own") };
    if signer.contains(|char: char| char.is_whitespace() || char.is_control() || char == ';') {
        return Err("it has white space or a semicolon");
    }
    let host =
        signer.rsplit_once('@').and_then(|(_, host)| ascii_form(host)).ok_or("expected LOCAL@DOMAIN")?;
    let rest = host.strip_suffix(domain);
    let is_inside = rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if is_inside { Ok(signer) } else { Err("it is neither in the signing domain nor below") }
}

/// Returns the rules of Domain, Selector and KeyFile, which sign with one key. None if they are not set.
pub(super) fn of_single_key(
    conf: &ConfLines,
    read: ReadFile<'_>,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<SigningRules>, ImportError> {
    let [Some(domain), Some(selector), Some(path)] =
        ["Domain", "Selector", "KeyFile"].map(|name| conf.get(name))
    else {
        return Ok(None);
    };
    let mut table = DataSet { form: DataSetForm::Keys, entries: Vec::new() };
    let mut keys = DataSet { form: DataSetForm::Keys, entries: Vec::new() };
    for DataEntry { key: name, source, .. } in DataSet::open(domain, conf.base(), read)?.entries {
        // KeyFile is a path in any form.
        let file = conf.base().join(&path.value);
        let file = if file.is_absolute() { file } else { std::path::Path::new(".").join(file) };
        let value = format!("{name}:{}:{}", selector.value, file.display());
        keys.entries.push(DataEntry { key: name.clone(), value: Some(value), source: source.clone() });
        let patterns = [Some(name.clone()), conf.is_true("SubDomains").then(|| format!(".{name}"))];
        let entry = |key| DataEntry { key, value: Some(name.clone()), source: source.clone() };
        table.entries.extend(patterns.into_iter().flatten().map(entry));
    }
    let keys = OpendkimKeyTable::parse(&keys, std::path::Path::new(""), warnings);
    Ok(Some(SigningRules::parse(&table, keys, RuleMatching::First, warnings)))
}
