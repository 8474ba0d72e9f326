//! The handover of an operation to the fallback: from the call on that asks for something that is not offered here.

use std::ffi::c_int;
use std::sync::Arc;

use oarlock::Key;

use crate::error::ProviderError;
use crate::ffi::libcrypto::fallback::{FallbackContext, FallbackKey};
use crate::ffi::libcrypto::params::{ParamReader, ParamWriter};
use crate::key::{KeyFamily, ProviderKey};
use crate::provider::{LoadedProvider, held_name};

/// The context of an operation: this provider's, and the fallback's from the handover on.
pub(crate) struct OperationContext<C> {
    native: C,
    fallback: Option<FallbackContext>,
}

/// A context of this provider.
pub(crate) trait OwnContext: Clone {
    fn provider(&self) -> &LoadedProvider;

    fn family(&self) -> KeyFamily;

    /// Returns the key of the operation.
    fn key(&self) -> Option<&Key>;

    /// True if the operation needs the private half of its key.
    fn needs_private(&self) -> bool;

    /// Sets all parameters or, after an error, none. Unknown parameters are ignored.
    fn set(&mut self, params: ParamReader<'_>) -> Result<(), ProviderError>;

    /// Writes the parameters that are asked for. False if a buffer is too small.
    fn get(&self, wanted: &mut ParamWriter<'_>) -> Result<bool, ProviderError>;

    /// Makes the fallback's context for the same algorithm.
    fn new_fallback(&self, key: Arc<FallbackKey>) -> Option<FallbackContext>;

    /// Initialises the fallback's context with the settings of this one. False if that is not possible any more.
    fn replay(&self, fallback: &mut FallbackContext) -> bool;
}

impl<C: OwnContext> OperationContext<C> {
    pub(crate) fn new(native: C) -> Self {
        Self { native, fallback: None }
    }

    /// Begins an operation: `begin_native` begins it here, `fallback` at the fallback, with the same arguments.
    pub(crate) fn begin(
        &mut self,
        key: Option<&ProviderKey>,
        begin_native: impl FnOnce(&mut C) -> Result<(), ProviderError>,
        fallback: impl FnOnce(&mut FallbackContext) -> c_int,
    ) -> c_int {
        // Without a key, the operation begins again where it was.
        if let Some(key) = key {
            self.fallback = None;
            if let Some(key) = key.foreign() {
                self.fallback = self.native.new_fallback(key);
                return self.fallback.as_mut().map_or(0, fallback);
            }
        }
        if self.fallback.is_none() {
            let result = begin_native(&mut self.native);
            if result.as_ref().is_err_and(ProviderError::is_not_offered) {
                self.fallback = self.fallback_key().and_then(|key| self.native.new_fallback(key));
            }
            if self.fallback.is_none() {
                return self.report(result.map(|()| true));
            }
        }
        self.fallback.as_mut().map_or(0, fallback)
    }

    /// Calls a function of the operation: `call_native` computes it here, `fallback` at the fallback.
    pub(crate) fn call(
        &mut self,
        call_native: impl FnOnce(&mut C) -> Result<bool, ProviderError>,
        fallback: impl FnOnce(&mut FallbackContext) -> c_int,
    ) -> c_int {
        if self.fallback.is_none() {
            let result = call_native(&mut self.native);
            if result.as_ref().is_err_and(ProviderError::is_not_offered) {
                self.fallback = self.hand_over();
            }
            if self.fallback.is_none() {
                return self.report(result);
            }
        }
        self.fallback.as_mut().map_or(0, fallback)
    }

    /// Writes the parameters that are asked for.
    pub(crate) fn get(&self, mut wanted: ParamWriter<'_>) -> c_int {
        match &self.fallback {
            Some(fallback) => fallback.get(&mut wanted),
            None => self.report(self.native.get(&mut wanted)),
        }
    }

    /// Sets parameters.
    pub(crate) fn set(&mut self, params: ParamReader<'_>) -> c_int {
        self.call(|native| native.set(params).map(|()| true), |fallback| fallback.set(params))
    }

    /// Copies the context. None if the fallback cannot.
    pub(crate) fn duplicate(&self) -> Option<Self> {
        let fallback = match &self.fallback {
            Some(context) => Some(context.duplicate()?),
            None => None,
        };
        Some(Self { native: self.native.clone(), fallback })
    }

    /// Returns the fallback's context in the state of this one.
    fn hand_over(&self) -> Option<FallbackContext> {
        let mut fallback = self.native.new_fallback(self.fallback_key()?)?;
        self.native.replay(&mut fallback).then_some(fallback)
    }

    fn fallback_key(&self) -> Option<Arc<FallbackKey>> {
        let key = self.native.key()?;
        // The private half of a held key is in a cryptoserver alone.
        if self.native.needs_private() && held_name(key).is_some() {
            return None;
        }
        ProviderKey::new(self.native.provider(), self.native.family(), Some(key.clone())).to_fallback()
    }

    fn report(&self, result: Result<bool, ProviderError>) -> c_int {
        self.native.provider().report(result)
    }
}
