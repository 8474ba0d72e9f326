//! PINs from files and from the terminal.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use oarlock_files::first_line;
use oarlock_key_files::read_private;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::TokenError;

/// The longest line that is read, in bytes. It is longer than every PIN, so that a PIN that is too long is not cut.
const MAX_LINE: usize = 1024;

/// A PIN, which is zeroized on drop.
pub(super) type PinBytes = Zeroizing<Vec<u8>>;

/// A PIN that a command needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct PinQuestion {
    /// The name of the PIN in questions and errors.
    pub(super) name: &'static str,
    /// The option that names a file of the PIN.
    pub(super) option: &'static str,
}

impl PinQuestion {
    pub(super) const USER: Self = Self { name: "user PIN", option: "--pin-file" };
    pub(super) const OFFICER: Self = Self { name: "SO PIN", option: "--so-pin-file" };
    pub(super) const NEW_USER: Self = Self { name: "new user PIN", option: "--new-pin-file" };
    pub(super) const NEW_OFFICER: Self = Self { name: "new SO PIN", option: "--new-pin-file" };

    /// Reads a PIN that exists: from the file, or else from the terminal.
    pub(super) fn read(self, file: Option<&Path>) -> Result<PinBytes, TokenError> {
        match file {
            Some(path) => read_file(path),
            None => self.open_terminal()?.ask(&format!("{}: ", self.name)).map_err(TokenError::Terminal),
        }
    }

    /// Reads a new PIN: from the file, or else twice from the terminal.
    pub(super) fn read_new(self, file: Option<&Path>) -> Result<PinBytes, TokenError> {
        let Some(path) = file else {
            let mut terminal = self.open_terminal()?;
            let pin = terminal.ask(&format!("{}: ", self.name)).map_err(TokenError::Terminal)?;
            let again = terminal.ask(&format!("{} again: ", self.name)).map_err(TokenError::Terminal)?;
            return if pin == again { Ok(pin) } else { Err(TokenError::PinsDiffer) };
        };
        read_file(path)
    }

    fn open_terminal(self) -> Result<QuietTerminal, TokenError> {
        let Self { name, option } = self;
        // Not standard input, which may be a pipe with other data.
        let tty = File::options().read(true).write(true).open("/dev/tty");
        let tty = tty.map_err(|_| TokenError::NoTerminal { name, option })?;
        QuietTerminal::new(tty).map_err(TokenError::Terminal)
    }
}

/// Reads the first line of a file that nobody else can read.
fn read_file(path: &Path) -> Result<PinBytes, TokenError> {
    let fail = |error| TokenError::PinFile { path: path.to_owned(), error };
    let text = read_private(path, MAX_LINE).map_err(fail)?;
    Ok(Zeroizing::new(first_line(&text).map_err(fail)?.to_vec()))
}

/// A terminal that does not show what is typed, until it is dropped.
struct QuietTerminal {
    tty: File,
    before: Termios,
}

impl QuietTerminal {
    fn new(tty: File) -> io::Result<Self> {
        let before = tcgetattr(&tty)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        // The newline is still shown, so that the next question begins in a line of its own.
        quiet.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON);
        // Flush: what was typed before the question is not a part of the PIN.
        tcsetattr(&tty, OptionalActions::Flush, &quiet)?;
        Ok(Self { tty, before })
    }

    fn ask(&mut self, question: &str) -> io::Result<PinBytes> {
        self.tty.write_all(question.as_bytes())?;
        // A buffer that grew would leave the PIN in freed memory.
        let mut line = Zeroizing::new(Vec::with_capacity(MAX_LINE));
        // Byte by byte: a buffered reader would leave the PIN in memory that is not wiped.
        let mut byte = Zeroizing::new([0]);
        loop {
            if self.tty.read(&mut *byte)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            match byte[0] {
                b'\n' => return Ok(line),
                _ if line.len() == MAX_LINE => {
                    return Err(io::Error::new(ErrorKind::InvalidData, "the line is too long"));
                }
                other => line.push(other),
            }
        }
    }
}

impl Drop for QuietTerminal {
    fn drop(&mut self) {
        // A terminal that is gone needs no echo.
        let _ = tcsetattr(&self.tty, OptionalActions::Flush, &self.before);
    }
}
