//! The stages of an operation under keys of the server: permitted, admitted, computed, released.

use std::borrow::Cow;
use std::future::Future;

use oarlock_wire::proto::Fault;

use super::audit_trail::AuditTrail;
use crate::audit::Reservation;
use crate::clients::KnownClient;
use crate::service::SharedService;

/// Work that the grants of its keys permit. It is made where grants are evaluated, and only [`Admitted`] takes it out.
pub(super) struct Permitted<W> {
    work: W,
    is_any: bool,
}

/// Permitted work whose audit entries have their space, and later its results.
///
/// Results leave by [`release`](Self::release) alone, after the audit log has accepted their entries. Dropping it gives
/// the space back and writes no entry.
#[must_use = "dropping it cancels the work"]
pub(super) struct Admitted<W> {
    work: W,
    trail: AuditTrail,
    /// `None` if every operation was refused.
    reservation: Option<Reservation>,
}

/// The results of operations with their codes.
pub(super) trait CodedResults {
    /// Returns the codes as the protocol writes them: none if every operation was done, one if all have the same, else
    /// one for each.
    fn codes(&self) -> Cow<'_, [u8]>;
}

impl<W> Permitted<W> {
    /// Takes work of which grants permit all, or a part that has been separated. `is_any` is false if they permit
    /// nothing.
    pub(super) fn new(work: W, is_any: bool) -> Self {
        Self { work, is_any }
    }

    /// True if grants permit any operation.
    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Adds other permitted work.
    #[inline]
    pub(super) fn add<P>(&mut self, other: Permitted<P>, add: impl FnOnce(&mut W, P)) {
        add(&mut self.work, other.work);
        self.is_any |= other.is_any;
    }
}

impl<W> Admitted<W> {
    /// Reserves the space for the audit entries, before any operation runs: an answer without its entry must not leave.
    ///
    /// # Errors
    /// The log must be kept and has no space, or the client has reserved its maximum.
    pub(super) fn new(
        permitted: Permitted<W>,
        trail: AuditTrail,
        service: &SharedService,
        client: &KnownClient,
    ) -> Result<Self, Fault> {
        let reservation = if permitted.is_any { trail.reserve(service, client)? } else { None };
        Ok(Self { work: permitted.work, trail, reservation })
    }

    /// Replaces the work by its next stage.
    pub(super) fn map<R>(self, step: impl FnOnce(W) -> R) -> Admitted<R> {
        Admitted { work: step(self.work), trail: self.trail, reservation: self.reservation }
    }

    /// Replaces the work by its next stage, which may fail as a whole.
    pub(super) fn try_map<R, E>(self, step: impl FnOnce(W) -> Result<R, E>) -> Result<Admitted<R>, E> {
        Ok(Admitted { work: step(self.work)?, trail: self.trail, reservation: self.reservation })
    }
}

impl<W: Future> Admitted<W> {
    /// Waits for the answers.
    pub(super) async fn answered(self) -> Admitted<W::Output> {
        Admitted { work: self.work.await, trail: self.trail, reservation: self.reservation }
    }
}

impl<R: CodedResults> Admitted<R> {
    /// Counts the operations, writes their entries, and returns the results.
    ///
    /// # Errors
    /// The log must be kept and accepts no entry.
    pub(super) fn release(self, service: &SharedService) -> Result<R, Fault> {
        self.trail.write(self.reservation, &self.work.codes(), service)?;
        Ok(self.work)
    }
}
