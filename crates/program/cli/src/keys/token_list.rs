//! `oarlock keys list` with the URI of a token.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::{
    Accelerator, DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, KeyKind, MlDsaVariant, NonceRule,
    Scheme,
};
use oarlock_hsm::{Hsm, HsmError, HsmReport, HsmSettings, Pkcs11Uri, TokenKey};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{TableCell, TextTable};
use serde::Serialize;

use super::KeysError;
use super::summary::kind;

/// A token and its private keys, as `--json` prints them.
#[derive(Debug, Serialize)]
struct TokenListing {
    /// The path of the module.
    module: String,
    /// The label of the token, or `slot-N`.
    token: String,
    /// The state and the mechanisms.
    #[serde(flatten)]
    report: HsmReport,
    keys: Vec<TokenKeySummary>,
}

/// A private key of a token.
#[derive(Debug, Serialize)]
struct TokenKeySummary {
    /// The URI by which settings name it.
    uri: String,
    /// The kind; null if the key cannot be used.
    kind: Option<String>,
    fingerprint: Option<String>,
    /// The reason why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// The measured rate and latency, if they were asked for and the key can sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<KeySpeed>,
}

/// The measured signatures of a key.
#[derive(Clone, Copy, Debug, Serialize)]
struct KeySpeed {
    /// Signatures per second with as many in flight as sessions can have.
    rate_per_s: f64,
    /// The mean time of one signature at a time in microseconds.
    latency_us: f64,
}

/// The number of signatures in flight for each session: one that it computes, and one that waits.
const PER_SESSION: usize = 2;

pub(super) fn run(global: &GlobalOptions, uri: &str, measure: Option<Duration>) -> Result<(), KeysError> {
    if !uri.starts_with("pkcs11:") {
        return Err(KeysError::Usage("expected a URI, pkcs11:...; a key directory is named by --directory"));
    }
    let settings = HsmSettings::from_uri(&uri.parse().map_err(KeysError::Uri)?).map_err(HsmError::from)?;
    let hsm = Hsm::open("hsm", settings.clone(), global.builder().lazy().build()?)?;
    let keys = hsm.keys()?;
    let engines = global.builder().lazy().holder(Arc::new(hsm.clone())).build()?;
    let keys: Vec<TokenKeySummary> = keys
        .into_iter()
        .map(|TokenKey { uri, key }| {
            let in_flight = PER_SESSION * hsm.report().sessions.max(1);
            let measured = key.as_ref().ok().zip(measure);
            let measured = measured.map(|(key, time)| KeySpeed::measure(&engines, key, time, in_flight));
            TokenKeySummary::new(&uri, key, measured)
        })
        .collect();
    let broken = keys.iter().filter(|key| key.fault.is_some()).count();
    for (uri, fault) in keys.iter().filter_map(|key| Some((&key.uri, key.fault.as_ref()?))) {
        eprintln!("oarlock: {uri}: {fault}");
    }
    let listing = TokenListing {
        module: settings.module.display().to_string(),
        token: settings.device_name(),
        report: hsm.report(),
        keys,
    };
    print_report(global.json, &listing, |in_colour| listing.to_text(in_colour))?;
    if broken == 0 { Ok(()) } else { Err(KeysError::BrokenObjects { count: broken }) }
}

impl TokenKeySummary {
    fn new(
        uri: &Pkcs11Uri,
        found: Result<Key, HsmError>,
        measured: Option<Result<Option<KeySpeed>, JobError>>,
    ) -> Self {
        let (kind, fingerprint, fault) = match found {
            Ok(key) => (Some(kind(key.kind())), Some(key.fingerprint().to_string()), None),
            Err(fault) => (None, None, Some(fault.to_string())),
        };
        let (measured, unmeasured) = match measured {
            Some(Err(error)) => (None, Some(error.to_string())),
            measured => (measured.and_then(Result::ok).flatten(), None),
        };
        Self { uri: uri.to_string(), kind, fingerprint, fault: fault.or(unmeasured), measured }
    }
}

impl TokenListing {
    fn to_text(&self, in_colour: bool) -> String {
        let mut table = TextTable::with_columns(["key", "kind", "fingerprint"], ["signatures/s", "latency"])
            .with_max_columns(160);
        for key in &self.keys {
            let fingerprint =
                key.fingerprint.as_ref().map_or_else(TableCell::none, |whole| (&whole[..16]).into());
            let kind = key.kind.as_deref().map_or_else(TableCell::none, TableCell::from);
            let speed = |text: fn(KeySpeed) -> String| {
                key.measured.map_or_else(TableCell::none, |speed| text(speed).into())
            };
            let (rate, latency) = (
                speed(|speed| format!("{:.0}", speed.rate_per_s)),
                speed(|speed| format!("{:.0} µs", speed.latency_us)),
            );
            table.row([TableCell::from(key.uri.as_str()), kind, fingerprint, rate, latency]);
        }
        let Self { module, token, report, .. } = self;
        let sessions = report.sessions;
        format!(
            "token {token}, {module}, {sessions} sessions\nmechanisms: {}\n{}",
            report.mechanisms.join(" "),
            table.without_empty_columns().render(in_colour)
        )
    }
}

impl KeySpeed {
    /// Measures a key. `None` if it is of a kind that cannot sign.
    fn measure(
        engines: &Accelerator,
        key: &Key,
        time: Duration,
        in_flight: usize,
    ) -> Result<Option<Self>, JobError> {
        let Some(scheme) = signing_scheme(key.kind()) else { return Ok(None) };
        let job = Job::with_scheme(scheme, key, Input::Message(b"oarlock keys list"), &[]);
        let sign = |count: usize| -> Result<(f64, usize), JobError> {
            let (began, mut signatures) = (Instant::now(), 0);
            while began.elapsed() < time {
                let answers = engines.run_all(&vec![job; count]);
                (0..count).try_for_each(|index| answers.get(index).map(|_| ()))?;
                signatures += count;
            }
            Ok((began.elapsed().as_secs_f64(), signatures))
        };
        let (alone, single) = sign(1)?;
        let (beside, many) = sign(in_flight)?;
        let latency_us = 1e6 * alone / single.max(1) as f64;
        Ok(Some(Self { rate_per_s: many as f64 / beside, latency_us }))
    }
}

fn signing_scheme(kind: KeyKind) -> Option<Scheme> {
    let digest = DigestAlg::Sha256;
    let (encoding, nonce) = (EcdsaEncoding::Der, NonceRule::Hedged);
    match kind {
        KeyKind::RsaPrivate(_) => Some(Scheme::RsaPkcs1Sign { digest }),
        KeyKind::EcPrivate(curve) => Some(Scheme::EcdsaSign { curve, digest, encoding, nonce }),
        KeyKind::Ed25519Private => Some(Scheme::Ed25519Sign),
        KeyKind::MlDsaPrivate(set) => Some(Scheme::MlDsaSign { set, variant: MlDsaVariant::Pure, nonce }),
        _ => None,
    }
}
