//! The answers of this kernel to each question.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::time::Instant;

use super::attach::{UserSpaceReason, set_receiving, set_sending, set_ulp};
use super::costs::{TransferCosts, memory_file};
use super::keys::{KernelCipher, KernelKeys, KernelTlsVersion};
use super::refusal::{KernelRefusal, KernelStep, KernelTlsError};
use super::transfer::send_whole_file;
use super::unsent_limit::{is_too_low, low_unsent_limit, unsent_limit};

/// The answer of the kernel to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelSupport {
    /// It works: it was tried.
    Works,
    /// The kernel refused it.
    Refused(KernelRefusal),
    /// It was not tried, because something that it needs does not work.
    NotTried,
}

impl KernelSupport {
    /// True if it works.
    #[must_use]
    pub fn works(self) -> bool {
        self == Self::Works
    }
}

impl From<Result<(), KernelRefusal>> for KernelSupport {
    fn from(result: Result<(), KernelRefusal>) -> Self {
        match result {
            Ok(()) => Self::Works,
            Err(refusal) => Self::Refused(refusal),
        }
    }
}

impl fmt::Display for KernelSupport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Works => f.write_str("works"),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::NotTried => f.write_str("not tried"),
        }
    }
}

/// The answers for one version and cipher.
#[derive(Clone, Copy, Debug)]
pub struct CipherReport {
    /// The version of TLS.
    pub version: KernelTlsVersion,
    /// The cipher that the report is about.
    pub cipher: KernelCipher,
    /// The answer for sending.
    pub send: KernelSupport,
    /// The answer for receiving.
    pub receive: KernelSupport,
    /// The cost of `write`, if sending works and cannot stop because of [`ProbeReport::unsent_limit`].
    pub write_costs: Option<TransferCosts>,
    /// The time of a hand-over to the kernel in nanoseconds, if sending works.
    pub attach_ns: Option<f64>,
}

/// The answers of this kernel.
#[derive(Clone, Debug)]
pub struct ProbeReport {
    /// The answer to TLS on a socket at all.
    pub ulp: KernelSupport,
    /// The answers for each version and cipher.
    pub ciphers: Vec<CipherReport>,
    /// The answer to new keys for a connection.
    pub rekey: KernelSupport,
    /// The answer to `sendfile`: a file was sent and its length has arrived. It is not tried if sending can stop.
    pub send_file: KernelSupport,
    /// The cost of `write` on a plain connection.
    pub plain_write_costs: TransferCosts,
    /// The cost of `sendfile` on a plain connection.
    pub plain_file_costs: TransferCosts,
    /// The cost of `sendfile` with AES-128-GCM, if that works.
    pub send_file_costs: Option<TransferCosts>,
    /// The default of `TCP_NOTSENT_LOWAT`, if the system shows it.
    pub unsent_limit: Option<u32>,
}

impl ProbeReport {
    /// Returns the answers for a version and a cipher.
    #[must_use]
    pub fn cipher(&self, version: KernelTlsVersion, cipher: KernelCipher) -> Option<&CipherReport> {
        self.ciphers.iter().find(|entry| (entry.version, entry.cipher) == (version, cipher))
    }

    /// Returns a warning if records can stop for ever because of the default of `TCP_NOTSENT_LOWAT`.
    #[must_use]
    pub fn unsent_limit_fault(&self) -> Option<String> {
        let low = self.unsent_limit.filter(|limit| is_too_low(*limit));
        low.map(|limit| UserSpaceReason::UnsentLimit { limit }.to_string())
    }
}

/// Tries what this kernel takes, on connections to this machine itself, and measures the costs. It takes a fraction of
/// a second.
///
/// # Errors
/// The machine cannot connect to itself. A kernel without TLS is no error but an answer.
pub fn probe() -> io::Result<ProbeReport> {
    let ulp: KernelSupport = set_ulp(&connected_pair()?.0).into();
    let mut ciphers = Vec::new();
    for version in KernelTlsVersion::ALL {
        for cipher in KernelCipher::ALL {
            ciphers.push(probe_cipher(ulp, version, cipher)?);
        }
    }
    let sample = (KernelTlsVersion::Tls13, KernelCipher::Aes128Gcm);
    let sends = ciphers.iter().any(|entry| (entry.version, entry.cipher) == sample && entry.send.works());
    let (mut send_file, mut send_file_costs) = (KernelSupport::NotTried, None);
    // A record that stops would stop the probe too.
    let may_send = low_unsent_limit().is_none();
    if sends && may_send {
        send_file = probe_send_file()?.into();
    }
    if send_file.works() {
        send_file_costs = Some(TransferCosts::of_send_file(sending_pair()?)?);
    }
    Ok(ProbeReport {
        ulp,
        ciphers,
        rekey: if sends { rekey_answer()?.into() } else { KernelSupport::NotTried },
        send_file,
        plain_write_costs: TransferCosts::of_write(connected_pair()?)?,
        plain_file_costs: TransferCosts::of_send_file(connected_pair()?)?,
        send_file_costs,
        unsent_limit: unsent_limit(),
    })
}

/// Returns whether this kernel takes new keys for a connection. The answer is kept.
///
/// # Errors
/// The kernel's reason, or that the machine cannot connect to itself.
pub fn rekey_support() -> Result<(), KernelTlsError> {
    rekey_answer()?.map_err(KernelTlsError::NoRekey)
}

fn rekey_answer() -> io::Result<Result<(), KernelRefusal>> {
    static ANSWER: OnceLock<Result<(), KernelRefusal>> = OnceLock::new();
    if let Some(answer) = ANSWER.get() {
        return Ok(*answer);
    }
    let (stream, _peer) = connected_pair()?;
    let keys = sample_keys(KernelTlsVersion::Tls13, KernelCipher::Aes128Gcm)?;
    let first = set_ulp(&stream).and_then(|()| set_sending(&stream, &keys));
    let answer = first.and_then(|()| set_sending(&stream, &keys));
    let answer = answer.map_err(|refusal| KernelRefusal { step: KernelStep::Rekey, ..refusal });
    Ok(*ANSWER.get_or_init(|| answer))
}

/// Returns two ends of a connection of this machine to itself.
///
/// # Errors
/// There is no network at all.
pub fn connected_pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    let address = stream.local_addr()?;
    loop {
        // Another program may have connected first.
        let (peer, from) = listener.accept()?;
        if from == address {
            return Ok((stream, peer));
        }
    }
}

fn probe_cipher(
    ulp: KernelSupport,
    version: KernelTlsVersion,
    cipher: KernelCipher,
) -> io::Result<CipherReport> {
    let (mut send, mut receive) = (KernelSupport::NotTried, KernelSupport::NotTried);
    let (mut write_costs, mut attach_ns) = (None, None);
    if ulp.works() {
        let keys = sample_keys(version, cipher)?;
        let (stream, peer) = connected_pair()?;
        let began = Instant::now();
        send = set_ulp(&stream).and_then(|()| set_sending(&stream, &keys)).into();
        attach_ns = Some(began.elapsed().as_secs_f64() * 1e9).filter(|_| send.works());
        receive = set_ulp(&peer).and_then(|()| set_receiving(&peer, &keys)).into();
        if send.works() && low_unsent_limit().is_none() {
            let pair = connected_pair()?;
            set_ulp(&pair.0).and_then(|()| set_sending(&pair.0, &keys)).map_err(as_io)?;
            write_costs = Some(TransferCosts::of_write(pair)?);
        }
    }
    Ok(CipherReport { version, cipher, send, receive, write_costs, attach_ns })
}

/// Sends a short file, and reads its record.
fn probe_send_file() -> io::Result<Result<(), KernelRefusal>> {
    const LEN: usize = 1000;
    let (stream, mut peer) = sending_pair()?;
    let mut file = memory_file()?;
    file.write_all(&[0x5a; LEN])?;
    match send_whole_file(&stream, &file, 0, LEN as u64) {
        Ok(_) => {}
        Err(error) => return Ok(Err(KernelRefusal::new(KernelStep::SendFile, &error))),
    }
    // Header, content, its type, tag.
    let mut record = [0; 5 + LEN + 1 + 16];
    peer.read_exact(&mut record)?;
    Ok(Ok(()))
}

/// Returns a connection whose first end sends with AES-128-GCM.
fn sending_pair() -> io::Result<(TcpStream, TcpStream)> {
    let (pair, keys) = (connected_pair()?, sample_keys(KernelTlsVersion::Tls13, KernelCipher::Aes128Gcm)?);
    set_ulp(&pair.0).and_then(|()| set_sending(&pair.0, &keys)).map_err(as_io)?;
    Ok(pair)
}

/// Makes keys that protect nothing: they are for connections of the probe to itself.
fn sample_keys(version: KernelTlsVersion, cipher: KernelCipher) -> io::Result<KernelKeys> {
    KernelKeys::new(version, cipher, &vec![0x42; cipher.key_len()], &[7; 12], 0).map_err(io::Error::other)
}

fn as_io(refusal: KernelRefusal) -> io::Error {
    io::Error::from_raw_os_error(refusal.errno)
}
