//! Routes: the choice of a backend and of the rules of TLS.
//!
//! The choice is made once, by the client's first message: its listener, its name, and the protocol that it will
//! negotiate. So the backend of a route is reached only by connections whose handshake kept the rules of the route.

use std::sync::Arc;

use oarlock_network::{HostName, HostNamePattern};
use rustls::server::ClientHello;

use crate::backend::Backend;
use crate::tls::TlsPolicy;

/// A route.
pub(crate) struct ProxyRoute {
    /// The route in logs and metrics.
    pub(crate) label: Arc<str>,
    pub(crate) names: Vec<HostNamePattern>,
    pub(crate) alpn: Vec<String>,
    /// The numbers of the listeners; empty if all count.
    pub(crate) listeners: Vec<usize>,
    pub(crate) backend: Arc<Backend>,
    pub(crate) policy: Arc<TlsPolicy>,
}

/// The routes of some settings, and what holds for all other connections.
pub(crate) struct ProxyRoutes {
    pub(crate) routes: Vec<ProxyRoute>,
    /// The label of connections without a route.
    pub(crate) default_label: Arc<str>,
    /// The backend of connections without a route, if there is one.
    pub(crate) default_backend: Option<Arc<Backend>>,
    pub(crate) default_policy: Arc<TlsPolicy>,
}

/// The route of a connection.
pub(crate) struct RouteChoice {
    pub(crate) label: Arc<str>,
    /// The backend; None if no route fits, and there is no backend for other connections.
    pub(crate) backend: Option<Arc<Backend>>,
    pub(crate) policy: Arc<TlsPolicy>,
    /// The protocol that the client is to negotiate.
    alpn: Option<Vec<u8>>,
}

impl ProxyRoutes {
    /// Returns the first route that matches a client's first message, or the default.
    pub(crate) fn choose(&self, listener: usize, hello: &ClientHello<'_>) -> RouteChoice {
        let name = hello.server_name().map(HostName::new);
        let found = self.routes.iter().find(|route| route.matches(listener, name.as_ref(), hello));
        let (label, backend, policy) = match found {
            Some(route) => (&route.label, Some(&route.backend), &route.policy),
            None => (&self.default_label, self.default_backend.as_ref(), &self.default_policy),
        };
        let alpn = policy.negotiate(hello).map(<[u8]>::to_vec);
        RouteChoice { label: Arc::clone(label), backend: backend.cloned(), policy: Arc::clone(policy), alpn }
    }

    /// Returns the labels of the routes.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(|route| &*route.label)
    }

    /// Returns all policies, each once.
    pub(crate) fn policies(&self) -> impl Iterator<Item = &Arc<TlsPolicy>> {
        let routed = self.routes.iter().map(|route| &route.policy);
        std::iter::once(&self.default_policy)
            .chain(routed.filter(|policy| !Arc::ptr_eq(policy, &self.default_policy)))
    }
}

impl RouteChoice {
    /// Returns true if the client has negotiated the protocol of its first message. A client may change its offer after
    /// a request to retry, although RFC 8446 4.1.2 forbids it, and rustls takes the last one.
    pub(crate) fn has_kept(&self, negotiated: Option<&[u8]>) -> bool {
        self.alpn.as_deref() == negotiated
    }
}

impl ProxyRoute {
    fn matches(&self, listener: usize, name: Option<&HostName<'_>>, hello: &ClientHello<'_>) -> bool {
        let has_name = |wanted: &HostNamePattern| name.is_some_and(|name| wanted.fits(name));
        (self.listeners.is_empty() || self.listeners.contains(&listener))
            && (self.names.is_empty() || self.names.iter().any(has_name))
            && (self.alpn.is_empty() || self.negotiates_one_of_its_protocols(hello))
    }

    fn negotiates_one_of_its_protocols(&self, hello: &ClientHello<'_>) -> bool {
        let negotiated = self.policy.negotiate(hello);
        negotiated.is_some_and(|negotiated| self.alpn.iter().any(|name| name.as_bytes() == negotiated))
    }
}
