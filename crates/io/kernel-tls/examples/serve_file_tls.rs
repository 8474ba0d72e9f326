//! Serves one file over HTTPS. The kernel seals the file if it can; else user space does, and a line on stderr says
//! why.
//!
//! ```text
//! cargo run -p oarlock-kernel-tls --example serve_file_tls -- FILE [ADDRESS [CONNECTIONS]]
//! curl -k https://127.0.0.1:8443/
//! ```
#![allow(clippy::print_stderr, reason = "this is a program")]

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use oarlock_kernel_tls::{
    KernelCipher, KernelKeys, KernelTlsVersion, ProbeReport, RecordOwner, attach, missing_bytes, probe,
    send_close_notify, send_whole_file,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ConnectionTrafficSecrets, ProtocolVersion, ServerConfig, ServerConnection};

/// The longest request that is read.
const MAX_REQUEST: usize = 16 << 10;
/// The longest record with its header (RFC 8446 5.2).
const MAX_RECORD: usize = 5 + (16 << 10) + 256;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: serve_file_tls FILE [ADDRESS [CONNECTIONS]]")?;
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8443".to_owned());
    let connections = arguments.next().map_or(Ok(usize::MAX), |text| text.parse())?;
    let config = Arc::new(server_config()?);
    // Asked once, before any connection gives its keys away.
    let kernel = probe()?;
    let listener = TcpListener::bind(address)?;
    eprintln!("serving {path} at https://{}/", listener.local_addr()?);
    for stream in listener.incoming().take(connections) {
        if let Err(error) =
            stream.map_err(Into::into).and_then(|stream| serve(&stream, &config, &kernel, &path))
        {
            eprintln!("a connection failed: {error}");
        }
    }
    Ok(())
}

fn server_config() -> Result<ServerConfig, Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let builder = ServerConfig::builder().with_no_client_auth();
    let mut config = builder.with_single_cert(vec![made.cert.der().clone()], key)?;
    config.enable_secret_extraction = true;
    Ok(config)
}

fn serve(
    stream: &TcpStream,
    config: &Arc<ServerConfig>,
    kernel: &ProbeReport,
    path: &str,
) -> Result<(), Box<dyn Error>> {
    let mut tls = ServerConnection::new(Arc::clone(config))?;
    read_request(stream, &mut tls)?;
    let mut file = File::open(path)?;
    let len = file.seek(io::SeekFrom::End(0))?;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n");
    match unsupported(&tls, kernel) {
        None => serve_by_kernel(stream, tls, &head, &file, len),
        Some(reason) => {
            eprintln!("user space seals: {reason}");
            file.rewind()?;
            serve_by_user_space(stream, tls, &head, &file)
        }
    }
}

/// Returns the reason that the kernel cannot send for a connection, if there is one.
fn unsupported(tls: &ServerConnection, kernel: &ProbeReport) -> Option<String> {
    let version = version(tls);
    let suite = tls.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite())).unwrap_or_default();
    let cipher = match suite.as_str() {
        name if name.contains("AES_128_GCM") => KernelCipher::Aes128Gcm,
        name if name.contains("AES_256_GCM") => KernelCipher::Aes256Gcm,
        _ => KernelCipher::ChaCha20Poly1305,
    };
    if !kernel.ulp.works() {
        return Some(kernel.ulp.to_string());
    }
    let sends = kernel.cipher(version, cipher).map(|report| report.send);
    match sends {
        Some(support) if !support.works() => Some(format!("{version} {cipher}: {support}")),
        Some(_) => kernel.unsent_limit_fault(),
        None => Some(format!("{version} {cipher} was not probed")),
    }
}

fn version(tls: &ServerConnection) -> KernelTlsVersion {
    match tls.protocol_version() {
        Some(ProtocolVersion::TLSv1_2) => KernelTlsVersion::Tls12,
        _ => KernelTlsVersion::Tls13,
    }
}

fn serve_by_kernel(
    stream: &TcpStream,
    tls: ServerConnection,
    head: &str,
    file: &File,
    len: u64,
) -> Result<(), Box<dyn Error>> {
    let version = version(&tls);
    let secrets = tls.dangerous_extract_secrets()?;
    let (sending, receiving) = (kernel_keys(version, secrets.tx)?, kernel_keys(version, secrets.rx)?);
    // Records were read one by one, so nothing is left over.
    let attached = attach(stream, &sending, &receiving, &[]);
    for reason in &attached.why_not {
        eprintln!("{reason}");
    }
    if attached.sent_by == RecordOwner::UserSpace {
        return Err("the kernel refused keys of a kind that it took at the start".into());
    }
    (&*stream).write_all(head.as_bytes())?;
    send_whole_file(stream, file, 0, len)?;
    Ok(send_close_notify(stream)?)
}

fn kernel_keys(
    version: KernelTlsVersion,
    (sequence, secrets): (u64, ConnectionTrafficSecrets),
) -> Result<KernelKeys, Box<dyn Error>> {
    let (cipher, key, iv) = match &secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv } => (KernelCipher::Aes128Gcm, key, iv),
        ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (KernelCipher::Aes256Gcm, key, iv),
        ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (KernelCipher::ChaCha20Poly1305, key, iv),
        _ => return Err("the kernel does not know this cipher".into()),
    };
    let iv = <&[u8; 12]>::try_from(iv.as_ref())?;
    Ok(KernelKeys::new(version, cipher, key.as_ref(), iv, sequence)?)
}

fn serve_by_user_space(
    mut stream: &TcpStream,
    mut tls: ServerConnection,
    head: &str,
    file: &File,
) -> Result<(), Box<dyn Error>> {
    let mut connection = rustls::Stream::new(&mut tls, &mut stream);
    connection.write_all(head.as_bytes())?;
    io::copy(&mut &*file, &mut connection)?;
    tls.send_close_notify();
    while tls.wants_write() {
        tls.write_tls(&mut stream)?;
    }
    Ok(())
}

/// Makes the handshake, and reads a request up to its empty line.
fn read_request(mut stream: &TcpStream, tls: &mut ServerConnection) -> Result<(), Box<dyn Error>> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let record = read_record(stream)?;
        let mut rest = &record[..];
        while !rest.is_empty() {
            tls.read_tls(&mut rest)?;
            let state = tls.process_new_packets()?;
            let mut text = vec![0; state.plaintext_bytes_to_read()];
            tls.reader().read_exact(&mut text)?;
            request.extend(text);
        }
        while tls.wants_write() {
            tls.write_tls(&mut stream)?;
        }
        if request.len() > MAX_REQUEST {
            return Err("the request is too long".into());
        }
    }
    Ok(())
}

/// Reads exactly one record, so that no byte behind it is in user space at the hand-over.
fn read_record(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut record = Vec::new();
    loop {
        let missing = missing_bytes(&record);
        match missing {
            0 => return Ok(record),
            _ if record.len() + missing > MAX_RECORD => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a record is too long"));
            }
            _ => {
                let had = record.len();
                record.resize(had + missing, 0);
                stream.read_exact(&mut record[had..])?;
            }
        }
    }
}
