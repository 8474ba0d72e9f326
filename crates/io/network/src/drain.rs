//! The switch with which a service begins to drain.

use std::future::Future;

use tokio::sync::watch;

/// A switch that is thrown once, when a service stops. Dropping it throws it too.
#[derive(Debug)]
pub struct DrainSwitch(watch::Sender<bool>);

/// A view of a [`DrainSwitch`], for a task of the service.
#[derive(Clone, Debug)]
pub struct DrainWatch(watch::Receiver<bool>);

impl Default for DrainSwitch {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl DrainSwitch {
    /// Throws the switch: nothing new is accepted from now on.
    pub fn throw(&self) {
        self.0.send_replace(true);
    }

    /// Returns true if the switch was thrown.
    #[must_use]
    pub fn is_thrown(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns a view of this switch.
    #[must_use]
    pub fn watch(&self) -> DrainWatch {
        DrainWatch(self.0.subscribe())
    }

    /// Waits until the switch is thrown. The future may be dropped at any time.
    pub fn thrown(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut watch = self.watch();
        async move { watch.thrown().await }
    }
}

impl DrainWatch {
    /// Waits until the switch is thrown. The future may be dropped at any time.
    pub async fn thrown(&mut self) {
        // An error means that the switch was dropped.
        let _ = self.0.wait_for(|is_thrown| *is_thrown).await;
    }
}
