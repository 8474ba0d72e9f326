//! Health checks of endpoints.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::error::{CheckError, EndpointError};
use super::group::Backend;
use super::members::BackendMember;
use crate::config::{CheckSettings, HealthCheckKind};
use crate::header::ProxyHeader;
use crate::stream::RelayStream;

/// The maximum length of the line that a check reads, in bytes.
const MAX_LINE_LEN: usize = 4 << 10;

/// The maximum length of a line's beginning in the log, in bytes.
const MAX_SHOWN_LEN: usize = 80;

impl Backend {
    /// Checks an endpoint once.
    pub(super) async fn check_member(
        &self,
        member: &BackendMember,
        check: &CheckSettings,
    ) -> Result<(), CheckError> {
        let checking = async {
            if check.kind == HealthCheckKind::Connect {
                member.endpoint.connect_socket().await.map_err(EndpointError::Connect)?;
                return Ok(());
            }
            // The proxy speaks for itself here: LOCAL or UNKNOWN in the header.
            let stream = self.connect_member(member, &ProxyHeader::default(), None).await?;
            match check.kind {
                HealthCheckKind::Line => check_line(stream, check).await,
                HealthCheckKind::Connect | HealthCheckKind::Tls => Ok(()),
            }
        };
        timeout(check.timeout(), checking).await.unwrap_or(Err(CheckError::Timeout))
    }
}

async fn check_line(mut stream: RelayStream, check: &CheckSettings) -> Result<(), CheckError> {
    let expected = check.expect.as_deref().unwrap_or_default();
    if let Some(text) = &check.send {
        stream.write_all(text.as_bytes()).await?;
        stream.flush().await?;
    }
    let line = read_line(&mut stream).await?;
    if !line.starts_with(expected.as_bytes()) {
        let found = String::from_utf8_lossy(&line[..line.len().min(MAX_SHOWN_LEN)]).into_owned();
        return Err(CheckError::Line { expected: expected.to_owned(), found });
    }
    // The peer learns that this connection is at its end. It may have left already.
    let _ = stream.shutdown().await;
    Ok(())
}

/// Reads until the end of a line, the end of the stream, or the maximum length.
async fn read_line(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = vec![0; MAX_LINE_LEN];
    let mut len = 0;
    while len < line.len() {
        let read = stream.read(&mut line[len..]).await?;
        let start = len;
        len += read;
        if let Some(end) = line[start..len].iter().position(|byte| *byte == b'\n') {
            len = start + end;
            break;
        }
        if read == 0 {
            break;
        }
    }
    line.truncate(len);
    Ok(line)
}
