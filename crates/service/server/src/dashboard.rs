//! The dashboard: one page for browsers that shows the state of the server and its last hour.
//!
//! | module | content |
//! |---|---|
//! | `dashboard` | the pages, and the task that makes their data |
//! | `dashboard/totals` | the counters of the server at one moment |
//! | `dashboard/latency` | the quantiles of the values between two moments |
//! | `dashboard/history` | the samples of the last hour |
//! | `dashboard/document` | the data of the page as JSON |
//! | `dashboard/assets` | the page, its style and its script, which are part of the program |
//!
//! The data is made once per tick, and all clients share its memory. So open windows cost almost nothing.

mod document;
mod history;
mod latency;
#[cfg(test)]
mod tests;
mod totals;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use oarlock_network::HostName;
use oarlock_service_kit::metrics::{Bytes, HttpPage, HttpPages, StatusCode};
use tokio::time::{Instant, MissedTickBehavior, interval};

use self::document::{EngineVerdict, engine_rows};
use self::history::History;
use self::totals::{ServerTotals, TotalsWindow};
use crate::service::SharedService;

/// The time between two documents.
pub(crate) const TICK: Duration = Duration::from_secs(2);

/// The dashboard of a server.
#[derive(Debug)]
pub(crate) struct Dashboard {
    service: Arc<SharedService>,
    document: RwLock<Bytes>,
    /// The engines and their self tests. They do not change.
    engines: Arc<OnceLock<Vec<EngineVerdict>>>,
}

/// The headers of all pages. Scripts and styles come from this server alone, and nothing is stored.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// The files of the page.
const FILES: [(&str, &str, &str); 4] = [
    ("/", "text/html; charset=utf-8", include_str!("dashboard/assets/index.html")),
    ("/dashboard.css", "text/css; charset=utf-8", include_str!("dashboard/assets/dashboard.css")),
    ("/dashboard.js", "text/javascript; charset=utf-8", include_str!("dashboard/assets/dashboard.js")),
    ("/icon.svg", "image/svg+xml", include_str!("dashboard/assets/icon.svg")),
];

impl Dashboard {
    pub(crate) fn new(service: Arc<SharedService>) -> Self {
        let dashboard = Self { service, document: RwLock::default(), engines: Arc::default() };
        // Published once before the first tick, so that the page has data from the start.
        let totals = ServerTotals::read(&dashboard.service, Instant::now());
        dashboard.publish(&TotalsWindow::new(totals), &History::default());
        dashboard
    }

    /// Makes a document at each tick, until the future is dropped.
    pub(crate) async fn run(self: Arc<Self>) {
        let (service, engines) = (Arc::clone(&self.service), Arc::clone(&self.engines));
        // The first call may run self tests, which must not block the event loop.
        tokio::task::spawn_blocking(move || drop(engines.set(engine_rows(&service.accelerator))));
        let mut window = TotalsWindow::new(ServerTotals::read(&self.service, Instant::now()));
        let mut history = History::default();
        let mut ticks = interval(TICK);
        // After a pause of the process the missed ticks would all measure the same moment.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is ready at once, and a window without length has no rates.
        ticks.tick().await;
        loop {
            ticks.tick().await;
            window.add(ServerTotals::read(&self.service, Instant::now()));
            history.add(&window);
            self.publish(&window, &history);
        }
    }

    fn publish(&self, window: &TotalsWindow, history: &History) {
        let document = document::render(&self.service, self.engines.get(), window, history);
        *self.document.write().unwrap_or_else(PoisonError::into_inner) = document.into();
    }
}

impl HttpPages for Dashboard {
    fn page(&self, path: &str, host: Option<&str>) -> Option<HttpPage> {
        if !host.is_some_and(is_local) {
            // A page of a stranger whose name was made to lead to this address (DNS rebinding) must not read it.
            let text =
                "expected a Host of localhost, 127.0.0.1 or [::1]: open http://localhost with this port\n";
            return Some(HttpPage {
                headers: HEADERS,
                ..HttpPage::text(StatusCode::MISDIRECTED_REQUEST, text)
            });
        }
        if path == "/data.json" {
            let body = self.document.read().unwrap_or_else(PoisonError::into_inner).clone();
            let page = HttpPage::new(StatusCode::OK, "application/json", body);
            return Some(HttpPage { headers: HEADERS, ..page });
        }
        let (_, content_type, text) = FILES.into_iter().find(|(name, ..)| *name == path)?;
        let page = HttpPage::new(StatusCode::OK, content_type, Bytes::from_static(text.as_bytes()));
        Some(HttpPage { headers: HEADERS, ..page })
    }

    fn paths(&self) -> &'static str {
        "/, /dashboard.css, /dashboard.js, /icon.svg or /data.json"
    }
}

/// Returns true if a header `Host` names this machine by a name that no other machine can have.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    // All of 127.0.0.0/8 is this machine. RFC 5735 3
    let is_loopback = |address: &std::net::Ipv4Addr| address.is_loopback();
    HostName::new(name).as_str() == "localhost"
        || name == "[::1]"
        || name.parse().as_ref().is_ok_and(is_loopback)
}
