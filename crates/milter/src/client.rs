//! An MTA's side, as Postfix plays it: for tests and load.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use crate::protocol::{
    Actions, CHUNK_BYTES, Change, Command, Connect, Decoder, EncodeError, Envelope, Family, Options, Pairs,
    ProtocolError, Reply, Steps, VERSION, code,
};
use crate::server::Stream;
use crate::socket::{Socket, resolve};

/// A connection to a filter.
pub struct Client {
    stream: Box<dyn Stream>,
    decoder: Decoder,
    out: Vec<u8>,
    agreed: Options,
    progress: u64,
}

/// A message as it is sent. Names and values of macros stand in turn, each with a NUL at its end: `b"i\04XYZ\0"`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message<'a> {
    /// In angle brackets.
    pub from: &'a [u8],
    /// In angle brackets.
    pub recipients: &'a [&'a [u8]],
    /// Names, and values from the colon on, with LF where they are folded.
    pub headers: &'a [(&'a [u8], &'a [u8])],
    /// With CRLF at line ends.
    pub body: &'a [u8],
    /// Macros at MAIL.
    pub mail_macros: &'a [u8],
    /// Macros at each recipient.
    pub recipient_macros: &'a [u8],
    /// Macros at headers and their end: Postfix sends them again before each.
    pub header_macros: &'a [u8],
    /// Macros at body chunks and the end.
    pub end_macros: &'a [u8],
}

/// What a filter made of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// In the order in which they came; a body is put together.
    pub changes: Vec<Change>,
    /// Continue, Accept, Reject, Tempfail, Discard, Shutdown, ConnectionFailure or Smtp.
    pub reply: Reply,
    /// Replies to recipients that are refused, by their place.
    pub refused_recipients: Vec<(usize, Reply)>,
}

/// Why a conversation has ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The filter hung up, or the system failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The filter broke the protocol.
    #[error("the filter: {0}")]
    Protocol(#[from] ProtocolError),
    /// What was to be sent cannot be.
    #[error("{0}")]
    Encode(#[from] EncodeError),
}

impl Client {
    /// Connects, and says nothing yet.
    ///
    /// # Errors
    /// Nobody listens there.
    pub async fn connect(socket: &Socket) -> io::Result<Self> {
        Ok(match socket {
            Socket::Unix(path) => Self::over(UnixStream::connect(path).await?),
            Socket::Inet { host, port, is_v6 } => {
                let local = if *is_v6 { "::1" } else { "127.0.0.1" };
                let address = resolve(Some(host.as_deref().unwrap_or(local)), *port, *is_v6).await?;
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Self::over(stream)
            }
        })
    }

    /// Over a connection that is there already.
    pub fn over(stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            decoder: Decoder::default(),
            out: Vec::new(),
            agreed: Options::default(),
            progress: 0,
        }
    }

    /// Offers all that Postfix does, and gives what the filter chose.
    ///
    /// # Errors
    /// The filter hangs up, or chooses what is not on offer.
    pub async fn negotiate(&mut self) -> Result<&Options, ClientError> {
        self.offer(VERSION, Actions::ALL, Steps::ALL).await
    }

    /// Offers this, and gives what the filter chose.
    ///
    /// # Errors
    /// The filter hangs up, or chooses what is not on offer.
    pub async fn offer(
        &mut self,
        version: u32,
        actions: Actions,
        steps: Steps,
    ) -> Result<&Options, ClientError> {
        let options = Options { version, actions, steps, macros: Vec::new() };
        Command::Negotiate(options).encode(&mut self.out)?;
        self.flush().await?;
        let Reply::Negotiate(chosen) = self.reply().await? else {
            let after = "where the negotiation should be";
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

    /// A client at 192.0.2.1 connects and says EHLO.
    ///
    /// # Errors
    /// The filter hangs up or breaks the protocol.
    pub async fn greet(&mut self, macros: &[u8]) -> Result<Reply, ClientError> {
        let connect =
            Connect { host: b"client.example", family: Family::Inet, port: 25_000, address: b"192.0.2.1" };
        let reply = self.say(&Command::Connect(connect), macros).await?;
        match reply {
            Reply::Continue => self.say(&Command::Helo(b"client.example"), b"").await,
            refusal => Ok(refusal),
        }
    }

    /// Sends a message and gives what the filter makes of it. Where it decides before the end the rest is not sent.
    ///
    /// # Errors
    /// The filter hangs up or breaks the protocol.
    pub async fn send(&mut self, message: &Message<'_>) -> Result<Answer, ClientError> {
        let mut refused_recipients = Vec::new();
        let ended = match self.envelope(message, &mut refused_recipients).await? {
            Reply::Continue => self.content(message).await?,
            decided => decided,
        };
        if ended != Reply::Continue {
            return Ok(Answer { changes: Vec::new(), reply: ended, refused_recipients });
        }
        self.put(&Command::EndOfMessage(b""), message.end_macros)?;
        self.flush().await?;
        let (changes, reply) = self.verdict().await?;
        Ok(Answer { changes, reply, refused_recipients })
    }

    async fn envelope(
        &mut self,
        message: &Message<'_>,
        refused: &mut Vec<(usize, Reply)>,
    ) -> Result<Reply, ClientError> {
        let from = [message.from, b"\0"].concat();
        // unreachable because each of them ends with a NUL
        let Some(from) = Envelope::new(&from) else { return Ok(Reply::Continue) };
        let reply = self.say(&Command::Mail(from), message.mail_macros).await?;
        if reply != Reply::Continue {
            return Ok(reply);
        }
        for (index, recipient) in message.recipients.iter().enumerate() {
            let recipient = [recipient, b"\0".as_slice()].concat();
            let Some(recipient) = Envelope::new(&recipient) else { continue };
            match self.say(&Command::Recipient(recipient), message.recipient_macros).await? {
                Reply::Continue => {}
                decided @ (Reply::Accept | Reply::Discard | Reply::Shutdown) => return Ok(decided),
                refusal => refused.push((index, refusal)),
            }
        }
        self.say(&Command::Data, b"").await
    }

    async fn content(&mut self, message: &Message<'_>) -> Result<Reply, ClientError> {
        let has_leading_space = self.agreed.steps.contains(Steps::LEADING_SPACE);
        for &(name, value) in message.headers {
            let bare = value.strip_prefix(b" ").filter(|_| !has_leading_space);
            let header = Command::Header { name, value: bare.unwrap_or(value) };
            let reply = self.say(&header, message.header_macros).await?;
            if reply != Reply::Continue {
                return Ok(reply);
            }
        }
        let reply = self.say(&Command::EndOfHeaders, message.header_macros).await?;
        if reply != Reply::Continue {
            return Ok(reply);
        }
        for chunk in message.body.chunks(CHUNK_BYTES) {
            match self.say(&Command::Body(chunk), message.end_macros).await? {
                Reply::Continue => {}
                Reply::Skip => break,
                decided => return Ok(decided),
            }
        }
        Ok(Reply::Continue)
    }

    /// Says one thing, with macros before it where there are any, unless the filter said that it does not want it; gives the reply, or
    /// Continue where there is none.
    ///
    /// # Errors
    /// The filter hangs up or breaks the protocol.
    pub async fn say(&mut self, command: &Command<'_>, macros: &[u8]) -> Result<Reply, ClientError> {
        let (without, unanswered) = left_out(command);
        if without != Steps::NONE && self.agreed.steps.contains(without) {
            return Ok(Reply::Continue);
        }
        self.put(command, macros)?;
        if unanswered == Steps::ALL || unanswered != Steps::NONE && self.agreed.steps.contains(unanswered) {
            if self.out.len() > CHUNK_BYTES {
                self.flush().await?;
            }
            return Ok(Reply::Continue);
        }
        self.flush().await?;
        self.decision().await
    }

    /// This message is over.
    ///
    /// # Errors
    /// The filter has hung up.
    pub async fn abort(&mut self) -> Result<(), ClientError> {
        self.put(&Command::Abort, b"")?;
        self.flush().await
    }

    /// Another client follows on this connection.
    ///
    /// # Errors
    /// The filter has hung up.
    pub async fn renew(&mut self) -> Result<(), ClientError> {
        self.put(&Command::QuitNewConnection, b"")?;
        self.flush().await
    }

    /// Takes leave.
    ///
    /// # Errors
    /// The filter has hung up.
    pub async fn quit(mut self) -> Result<(), ClientError> {
        self.put(&Command::Quit, b"")?;
        self.flush().await
    }

    /// What was agreed on.
    #[must_use]
    pub fn agreed(&self) -> &Options {
        &self.agreed
    }

    /// How often the filter asked for patience.
    #[must_use]
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// Puts a command behind what has not been written yet, with macros before it where there are any.
    fn put(&mut self, command: &Command<'_>, macros: &[u8]) -> Result<(), ClientError> {
        if !macros.is_empty() {
            let pairs = Pairs::new(macros).ok_or(ProtocolError::OddMacros)?;
            Command::Macros { of: command.code(), pairs }.encode(&mut self.out)?;
        }
        Ok(command.encode(&mut self.out)?)
    }

    async fn flush(&mut self) -> Result<(), ClientError> {
        self.stream.write_all(&self.out).await?;
        self.out.clear();
        Ok(())
    }

    /// A reply that decides something: requests for patience are counted.
    async fn decision(&mut self) -> Result<Reply, ClientError> {
        loop {
            match self.reply().await? {
                Reply::Progress => self.progress += 1,
                reply => return Ok(reply),
            }
        }
    }

    /// Changes and the reply behind them.
    async fn verdict(&mut self) -> Result<(Vec<Change>, Reply), ClientError> {
        let mut changes = Vec::new();
        loop {
            match (self.decision().await?, changes.last_mut()) {
                (Reply::Change(Change::ReplaceBody(piece)), Some(Change::ReplaceBody(body))) => {
                    body.extend(piece);
                }
                (Reply::Change(change), _) => changes.push(change),
                (reply, _) => return Ok((changes, reply)),
            }
        }
    }

    /// The next reply, whatever it is.
    ///
    /// # Errors
    /// The filter hangs up or breaks the protocol.
    pub async fn reply(&mut self) -> Result<Reply, ClientError> {
        loop {
            if let Some(frame) = self.decoder.next_frame()? {
                return Ok(Reply::read(frame)?);
            }
            match self.stream.read(self.decoder.space()).await? {
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                read => self.decoder.filled(read),
            }
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Client").field("agreed", &self.agreed).finish_non_exhaustive()
    }
}

/// Which agreement leaves a command out, and which its reply; `ALL` where there is never one.
fn left_out(command: &Command<'_>) -> (Steps, Steps) {
    match command {
        Command::Connect(_) => (Steps::NO_CONNECT, Steps::NO_REPLY_CONNECT),
        Command::Helo(_) => (Steps::NO_HELO, Steps::NO_REPLY_HELO),
        Command::Mail(_) => (Steps::NO_MAIL, Steps::NO_REPLY_MAIL),
        Command::Recipient(_) => (Steps::NO_RECIPIENT, Steps::NO_REPLY_RECIPIENT),
        Command::Data => (Steps::NO_DATA, Steps::NO_REPLY_DATA),
        Command::Header { .. } => (Steps::NO_HEADERS, Steps::NO_REPLY_HEADER),
        Command::EndOfHeaders => (Steps::NO_END_OF_HEADERS, Steps::NO_REPLY_END_OF_HEADERS),
        Command::Body(_) => (Steps::NO_BODY, Steps::NO_REPLY_BODY),
        Command::Unknown(_) => (Steps::NO_UNKNOWN, Steps::NO_REPLY_UNKNOWN),
        Command::Negotiate(_) | Command::EndOfMessage(_) => (Steps::NONE, Steps::NONE),
        Command::Macros { .. } | Command::Abort | Command::Quit | Command::QuitNewConnection => {
            (Steps::NONE, Steps::ALL)
        }
    }
}
