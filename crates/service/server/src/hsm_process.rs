//! The process of a device: a private cryptoserver that another service starts, and talks to in lines
//! ([`oarlock_hsm::isolated`]). It ends when its input ends, so it never outlives that service.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::Accelerator;
use oarlock_hsm::isolated::{DeviceFault, FromDevice, ToDevice};
use oarlock_hsm::{HsmError, HsmKey, HsmKeyDescription, HsmReport, HsmSet, HsmSettings, Pkcs11Uri};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

use crate::config::{CryptoserverConfig, EnginesConfig, GrantConfig, KeysConfig, ListenConfig, ServerLimits};
use crate::pattern::Pattern;
use crate::reload::ReloadHandle;
use crate::server::BoundServer;

/// The time between two looks at the state of the device.
const LOOK: Duration = Duration::from_millis(250);

/// Serves the device that the first line of `input` describes, until `input` ends. Answers and states go to `output`.
///
/// # Errors
/// The first line is none of this protocol, the device cannot be opened, or `output` is closed. The service that
/// reads `output` has been told the reason.
pub async fn run(input: impl BufRead + Send + 'static, mut output: impl Write) -> io::Result<()> {
    let mut lines = lines_of(input)?;
    let Some(ToDevice::Open { settings, socket, keys }) = lines.recv().await else {
        let reason = "expected the settings of a device on stdin: only services start this command";
        return fail(&mut output, reason.to_owned());
    };
    let config = config(settings, &socket, keys);
    let engines = Accelerator::builder().lazy().threads(1);
    let server = match BoundServer::bind(config, engines).await {
        Ok(server) => server,
        Err(error) => return fail(&mut output, error.to_string()),
    };
    let (Some(devices), reloads) = (server.devices().cloned(), server.reload_handle()) else {
        return fail(&mut output, "the settings name no device".to_owned());
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { drop(stopped.await) }));
    say(&mut output, &FromDevice::Ready)?;
    let served = serve(&devices, &reloads, &mut lines, &mut output).await;
    drop(stop);
    // The service has gone or wants no more answers. An error of the server changes nothing about that.
    drop(running.await);
    if let Some(directory) = socket.parent() {
        // The service may have removed it.
        let _ = fs::remove_dir_all(directory);
    }
    served
}

async fn serve(
    devices: &HsmSet,
    reloads: &ReloadHandle,
    lines: &mut mpsc::UnboundedReceiver<ToDevice>,
    output: &mut impl Write,
) -> io::Result<()> {
    let (found, mut answers) = mpsc::unbounded_channel();
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = HsmReport::default();
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                None | Some(ToDevice::Open { .. }) => return Ok(()),
                Some(ToDevice::Key { uri }) => look_up(devices, uri, &found),
            },
            Some((uri, answer)) = answers.recv() => {
                let answer = match answer {
                    Ok((parsed, key, description)) => {
                        // Known to the server before the service uses it. An error means that the server has ended.
                        reloads.add_device_key(uri.clone(), parsed, key).await.map_err(io::Error::other)?;
                        Ok(description)
                    }
                    Err(fault) => Err(DeviceFault::from(&fault)),
                };
                say(output, &FromDevice::Key { uri, answer })?;
            }
            _ = ticks.tick() => {
                let now = devices.report().into_iter().next().map(|report| report.sessions).unwrap_or_default();
                if now != last {
                    say(output, &FromDevice::Report(now.clone()))?;
                    last = now;
                }
            }
        }
    }
}

type FoundKey = Result<(Pkcs11Uri, HsmKey, HsmKeyDescription), HsmError>;

fn look_up(devices: &HsmSet, uri: String, found: &mpsc::UnboundedSender<(String, FoundKey)>) {
    let found = found.clone();
    // An error of the channel means that the process ends.
    match uri.parse::<Pkcs11Uri>() {
        Err(_) => drop(found.send((uri.clone(), Err(HsmError::KeyName { found: uri })))),
        Ok(parsed) => devices.look_up(&parsed.clone(), move |answer| {
            let answer = answer.and_then(|key| {
                let description = key.describe()?;
                Ok((parsed, key, description))
            });
            drop(found.send((uri, answer)));
        }),
    }
}

/// Returns the configuration of a server for this user alone, with one device.
fn config(settings: HsmSettings, socket: &Path, keys: BTreeSet<String>) -> CryptoserverConfig {
    let user = rustix::process::geteuid().as_raw();
    CryptoserverConfig {
        listen: ListenConfig { unix: Some(PathBuf::from(socket)), ..ListenConfig::default() },
        tls: None,
        keys: KeysConfig {
            hsm: keys.into_iter().map(|uri| (uri.clone(), uri)).collect::<BTreeMap<_, _>>(),
            ..KeysConfig::default()
        },
        grants: vec![GrantConfig {
            keys: vec![Pattern::from("*")],
            clients: vec![Pattern::from(format!("uid:{user}").as_str())],
            schemes: vec![Pattern::from("*")],
            rate: None,
        }],
        devices: vec![HsmSettings { isolate: false, ..settings }],
        audit: None,
        limits: ServerLimits { max_drain_seconds: 1, ..ServerLimits::default() },
        engines: EnginesConfig { threads: Some(1), ..EnginesConfig::default() },
    }
}

/// Reads lines on a thread of its own, because reading stdin blocks.
fn lines_of(input: impl BufRead + Send + 'static) -> io::Result<mpsc::UnboundedReceiver<ToDevice>> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::Builder::new().name("hsm-lines".to_owned()).spawn(move || {
        for line in input.lines() {
            let line = line.ok().and_then(|line| serde_json::from_str(&line).ok());
            // Something that is not of this protocol ends the process, like the end of the input.
            let Some(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    })?;
    Ok(lines)
}

fn say(output: &mut impl Write, line: &FromDevice) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    output.write_all(&text)?;
    output.flush()
}

fn fail(output: &mut impl Write, reason: String) -> io::Result<()> {
    say(output, &FromDevice::Failed { reason: reason.clone() })?;
    Err(io::Error::other(reason))
}
