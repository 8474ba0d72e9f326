//! The MTA's side of the protocol, as Postfix plays it. It serves tests and load measurements.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::protocol::{
    Actions, AddressFamily, CHUNK_BYTES, ConnectInfo, EncodeError, EnvelopeAddress, FilterReply, MacroPairs,
    MessageChange, MilterCommand, MilterDecoder, NegotiationOptions, ProtocolError, Steps, VERSION, code,
};
use crate::server::MilterStream;
use crate::socket::{MilterSocket, resolve};

/// A connection to a filter.
pub struct MilterClient {
    stream: Box<dyn MilterStream>,
    decoder: MilterDecoder,
    out: Vec<u8>,
    agreed: NegotiationOptions,
    progress: u64,
}

/// A message to send. Macros are names and values in turn, each with a NUL at its end: `b"i\04XYZ\0"`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentMessage<'a> {
    /// The sender in angle brackets.
    pub from: &'a [u8],
    /// The recipients in angle brackets.
    pub recipients: &'a [&'a [u8]],
    /// The names and values of the headers. A value starts after the colon and has LF at its folds.
    pub headers: &'a [(&'a [u8], &'a [u8])],
    /// The body, with CRLF at line ends.
    pub body: &'a [u8],
    /// The macros for MAIL.
    pub mail_macros: &'a [u8],
    /// The macros for each recipient.
    pub recipient_macros: &'a [u8],
    /// The macros for headers and their end. Postfix sends them again before each header.
    pub header_macros: &'a [u8],
    /// The macros for body chunks and the end of the message.
    pub end_macros: &'a [u8],
}

/// The answer of a filter to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterAnswer {
    /// The changes in the order in which they arrived. The pieces of a new body are joined.
    pub changes: Vec<MessageChange>,
    /// The reply: Continue, Accept, Reject, Tempfail, Discard, Shutdown, ConnectionFailure or Smtp.
    pub reply: FilterReply,
    /// The replies that reject recipients, with the index of each recipient.
    pub refused_recipients: Vec<(usize, FilterReply)>,
}

/// The reason why a conversation ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The filter closed the connection, or the system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The filter broke the protocol.
    #[error("the filter: {0}")]
    Protocol(#[from] ProtocolError),
    /// The command cannot be encoded.
    #[error("{0}")]
    Encode(#[from] EncodeError),
}

impl MilterClient {
    /// Connects to a filter and sends nothing yet.
    ///
    /// # Errors
    /// Nothing listens at the address.
    pub async fn connect(socket: &MilterSocket) -> io::Result<Self> {
        Ok(match socket {
            MilterSocket::Unix(path) => Self::from_stream(UnixStream::connect(path).await?),
            MilterSocket::Inet { host, port, is_v6 } => {
                let local = if *is_v6 { "::1" } else { "127.0.0.1" };
                let address = resolve(Some(host.as_deref().unwrap_or(local)), *port, *is_v6).await?;
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Self::from_stream(stream)
            }
        })
    }

    /// Makes a client over an open connection.
    fn from_stream(
        stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            stream: Box::new(stream),
            decoder: MilterDecoder::default(),
            out: Vec::new(),
            agreed: NegotiationOptions::default(),
            progress: 0,
        }
    }

    /// Offers everything that Postfix offers. Returns the filter's choice.
    ///
    /// # Errors
    /// The filter closes the connection or chooses something that was not offered.
    pub async fn negotiate(&mut self) -> Result<&NegotiationOptions, ClientError> {
        self.offer(VERSION, Actions::ALL, Steps::ALL).await
    }

    /// Offers these options. Returns the filter's choice.
    ///
    /// # Errors
    /// The filter closes the connection or chooses something that was not offered.
    pub async fn offer(
        &mut self,
        version: u32,
        actions: Actions,
        steps: Steps,
    ) -> Result<&NegotiationOptions, ClientError> {
        let options = NegotiationOptions { version, actions, steps, macros: Vec::new() };
        MilterCommand::Negotiate(options).encode(&mut self.out)?;
        self.flush().await?;
        let FilterReply::Negotiate(chosen) = self.reply().await? else {
            let after = "instead of the negotiation";
            return Err(ProtocolError::OutOfOrder { code: code::OPTNEG, after }.into());
        };
        for (found, offered) in [(chosen.actions.bits(), actions.bits()), (chosen.steps.bits(), steps.bits())]
        {
            if found & !offered != 0 {
                return Err(ProtocolError::NotOffered { found, offered }.into());
            }
        }
        if chosen.version > version {
            return Err(ProtocolError::NotOffered { found: chosen.version, offered: version }.into());
        }
        self.agreed = chosen;
        Ok(&self.agreed)
    }

    /// Reports a client at 192.0.2.1 and its EHLO.
    ///
    /// # Errors
    /// The filter closes the connection or breaks the protocol.
    pub async fn greet(&mut self, macros: &[u8]) -> Result<FilterReply, ClientError> {
        let connect = ConnectInfo {
            host: b"client.example",
            family: AddressFamily::Inet,
            port: 25_000,
            address: b"192.0.2.1",
        };
        let reply = self.send_command(&MilterCommand::Connect(connect), macros).await?;
        match reply {
            FilterReply::Continue => self.send_command(&MilterCommand::Helo(b"client.example"), b"").await,
            refusal => Ok(refusal),
        }
    }

    /// Sends a message and returns the filter's answer. If the filter decides early, the rest of the message is not
    /// sent.
    ///
    /// # Errors
    /// The filter closes the connection or breaks the protocol.
    pub async fn send(&mut self, message: &SentMessage<'_>) -> Result<FilterAnswer, ClientError> {
        let mut refused_recipients = Vec::new();
        let ended = match self.envelope(message, &mut refused_recipients).await? {
            FilterReply::Continue => self.content(message).await?,
            decided => decided,
        };
        if ended != FilterReply::Continue {
            return Ok(FilterAnswer { changes: Vec::new(), reply: ended, refused_recipients });
        }
        self.queue_command(&MilterCommand::EndOfMessage(b""), message.end_macros)?;
        self.flush().await?;
        let (changes, reply) = self.verdict().await?;
        Ok(FilterAnswer { changes, reply, refused_recipients })
    }

    async fn envelope(
        &mut self,
        message: &SentMessage<'_>,
        refused: &mut Vec<(usize, FilterReply)>,
    ) -> Result<FilterReply, ClientError> {
        let from = [message.from, b"\0"].concat();
        // unreachable because the address ends with a NUL
        let Some(from) = EnvelopeAddress::new(&from) else { return Ok(FilterReply::Continue) };
        let reply = self.send_command(&MilterCommand::Mail(from), message.mail_macros).await?;
        if reply != FilterReply::Continue {
            return Ok(reply);
        }
        for (index, recipient) in message.recipients.iter().enumerate() {
            let recipient = [recipient, b"\0".as_slice()].concat();
            let Some(recipient) = EnvelopeAddress::new(&recipient) else { continue };
            match self.send_command(&MilterCommand::Recipient(recipient), message.recipient_macros).await? {
                FilterReply::Continue => {}
                decided @ (FilterReply::Accept | FilterReply::Discard | FilterReply::Shutdown) => {
                    return Ok(decided);
                }
                refusal => refused.push((index, refusal)),
            }
        }
        self.send_command(&MilterCommand::Data, b"").await
    }

    async fn content(&mut self, message: &SentMessage<'_>) -> Result<FilterReply, ClientError> {
        let has_leading_space = self.agreed.steps.contains(Steps::LEADING_SPACE);
        for &(name, value) in message.headers {
            let bare = value.strip_prefix(b" ").filter(|_| !has_leading_space);
            let header = MilterCommand::Header { name, value: bare.unwrap_or(value) };
            let reply = self.send_command(&header, message.header_macros).await?;
            if reply != FilterReply::Continue {
                return Ok(reply);
            }
        }
        let reply = self.send_command(&MilterCommand::EndOfHeaders, message.header_macros).await?;
        if reply != FilterReply::Continue {
            return Ok(reply);
        }
        for chunk in message.body.chunks(CHUNK_BYTES) {
            match self.send_command(&MilterCommand::Body(chunk), message.end_macros).await? {
                FilterReply::Continue => {}
                FilterReply::Skip => break,
                decided => return Ok(decided),
            }
        }
        Ok(FilterReply::Continue)
    }

    /// Sends a command, after its macros if there are any. A command that the filter has opted out of is skipped.
    /// Returns the reply, or Continue if the command has none.
    ///
    /// # Errors
    /// The filter closes the connection or breaks the protocol.
    pub async fn send_command(
        &mut self,
        command: &MilterCommand<'_>,
        macros: &[u8],
    ) -> Result<FilterReply, ClientError> {
        let (without, unanswered) = opt_out_flags(command);
        if without != Steps::NONE && self.agreed.steps.contains(without) {
            return Ok(FilterReply::Continue);
        }
        self.queue_command(command, macros)?;
        if unanswered == Steps::ALL || unanswered != Steps::NONE && self.agreed.steps.contains(unanswered) {
            if self.out.len() > CHUNK_BYTES {
                self.flush().await?;
            }
            return Ok(FilterReply::Continue);
        }
        self.flush().await?;
        self.decision().await
    }

    /// Aborts the message.
    ///
    /// # Errors
    /// The filter has closed the connection.
    pub async fn abort(&mut self) -> Result<(), ClientError> {
        self.queue_command(&MilterCommand::Abort, b"")?;
        self.flush().await
    }

    /// Announces another client on this connection.
    ///
    /// # Errors
    /// The filter has closed the connection.
    pub async fn renew(&mut self) -> Result<(), ClientError> {
        self.queue_command(&MilterCommand::QuitNewConnection, b"")?;
        self.flush().await
    }

    /// Ends the connection.
    ///
    /// # Errors
    /// The filter has closed the connection.
    pub async fn quit(mut self) -> Result<(), ClientError> {
        self.queue_command(&MilterCommand::Quit, b"")?;
        self.flush().await
    }

    /// Returns the number of progress replies so far.
    #[must_use]
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// Appends a command and its macros to the unsent bytes.
    fn queue_command(&mut self, command: &MilterCommand<'_>, macros: &[u8]) -> Result<(), ClientError> {
        if !macros.is_empty() {
            let pairs = MacroPairs::new(macros).ok_or(ProtocolError::OddMacros)?;
            MilterCommand::Macros { of: command.code(), pairs }.encode(&mut self.out)?;
        }
        Ok(command.encode(&mut self.out)?)
    }

    async fn flush(&mut self) -> Result<(), ClientError> {
        self.stream.write_all(&self.out).await?;
        self.out.clear();
        Ok(())
    }

    /// Waits for a reply that decides. Progress replies are counted.
    async fn decision(&mut self) -> Result<FilterReply, ClientError> {
        loop {
            match self.reply().await? {
                FilterReply::Progress => self.progress += 1,
                reply => return Ok(reply),
            }
        }
    }

    /// Reads the changes and the reply after them.
    async fn verdict(&mut self) -> Result<(Vec<MessageChange>, FilterReply), ClientError> {
        let mut changes = Vec::new();
        loop {
            match (self.decision().await?, changes.last_mut()) {
                (
                    FilterReply::Change(MessageChange::ReplaceBody(piece)),
                    Some(MessageChange::ReplaceBody(body)),
                ) => {
                    body.extend(piece);
                }
                (FilterReply::Change(change), _) => changes.push(change),
                (reply, _) => return Ok((changes, reply)),
            }
        }
    }

    /// Reads the next reply of any kind.
    ///
    /// # Errors
    /// The filter closes the connection or breaks the protocol.
    pub async fn reply(&mut self) -> Result<FilterReply, ClientError> {
        loop {
            if let Some(frame) = self.decoder.next_frame()? {
                return Ok(FilterReply::read(frame)?);
            }
            match self.stream.read(self.decoder.space()).await? {
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                read => self.decoder.filled(read),
            }
        }
    }
}

impl std::fmt::Debug for MilterClient {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Client").field("agreed", &self.agreed).finish_non_exhaustive()
    }
}

/// Returns the steps that leave out a command and its reply. `ALL` stands for a command that never has a reply.
fn opt_out_flags(command: &MilterCommand<'_>) -> (Steps, Steps) {
    match command {
        MilterCommand::Connect(_) => (Steps::NO_CONNECT, Steps::NO_REPLY_CONNECT),
        MilterCommand::Helo(_) => (Steps::NO_HELO, Steps::NO_REPLY_HELO),
        MilterCommand::Mail(_) => (Steps::NO_MAIL, Steps::NO_REPLY_MAIL),
        MilterCommand::Recipient(_) => (Steps::NO_RECIPIENT, Steps::NO_REPLY_RECIPIENT),
        MilterCommand::Data => (Steps::NO_DATA, Steps::NO_REPLY_DATA),
        MilterCommand::Header { .. } => (Steps::NO_HEADERS, Steps::NO_REPLY_HEADER),
        MilterCommand::EndOfHeaders => (Steps::NO_END_OF_HEADERS, Steps::NO_REPLY_END_OF_HEADERS),
        MilterCommand::Body(_) => (Steps::NO_BODY, Steps::NO_REPLY_BODY),
        MilterCommand::Unknown(_) => (Steps::NO_UNKNOWN, Steps::NO_REPLY_UNKNOWN),
        MilterCommand::Negotiate(_) | MilterCommand::EndOfMessage(_) => (Steps::NONE, Steps::NONE),
        MilterCommand::Macros { .. }
        | MilterCommand::Abort
        | MilterCommand::Quit
        | MilterCommand::QuitNewConnection => (Steps::NONE, Steps::ALL),
    }
}
