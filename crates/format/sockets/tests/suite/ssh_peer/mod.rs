//! A transport of SSH for tests only: curve25519-sha256, ssh-ed25519, one session channel. RFC 4252 to 4254, RFC 8731.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use aws_lc_rs::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{self, Ed25519KeyPair, KeyPair};
use oarlock::DigestAlg;
use oarlock_sockets::{
    ConnectionSide, Content, Keys, Opened, Opener, Sealer, SshAlgorithms, SshExchange, Suite, encode_mpint,
};

use crate::common::accelerator;

pub const DISCONNECT: u8 = 1;
pub const IGNORE: u8 = 2;
pub const DEBUG: u8 = 4;
pub const SERVICE_REQUEST: u8 = 5;
pub const SERVICE_ACCEPT: u8 = 6;
pub const EXT_INFO: u8 = 7;
pub const KEXINIT: u8 = 20;
pub const NEWKEYS: u8 = 21;
pub const KEX_ECDH_INIT: u8 = 30;
pub const KEX_ECDH_REPLY: u8 = 31;
pub const USERAUTH_REQUEST: u8 = 50;
pub const USERAUTH_FAILURE: u8 = 51;
pub const USERAUTH_SUCCESS: u8 = 52;
pub const USERAUTH_PK_OK: u8 = 60;
pub const GLOBAL_REQUEST: u8 = 80;
pub const CHANNEL_OPEN: u8 = 90;
pub const CHANNEL_CONFIRMATION: u8 = 91;
pub const WINDOW_ADJUST: u8 = 93;
pub const CHANNEL_DATA: u8 = 94;
pub const CHANNEL_EOF: u8 = 96;
pub const CHANNEL_CLOSE: u8 = 97;
pub const CHANNEL_REQUEST: u8 = 98;
pub const CHANNEL_SUCCESS: u8 = 99;

const VERSION: &str = "SSH-2.0-OarlockTest";
const ED25519: &[u8] = b"ssh-ed25519";

/// One end of a connection.
pub struct SshPeer {
    stream: TcpStream,
    side: ConnectionSide,
    /// The names of the cipher and the MAC.
    names: [&'static str; 2],
    suite: Suite,
    is_strict: bool,
    /// The host's key, on the server's side.
    host_key: Option<Ed25519KeyPair>,
    peer_version: String,
    wire: Vec<u8>,
    sealer: Option<Sealer>,
    opener: Option<Opener>,
    /// The packets of each direction so far, while nothing is encrypted.
    clear_packets: [u64; 2],
    pub session_id: Vec<u8>,
    pub exchanges: usize,
}

impl SshPeer {
    /// Exchanges versions and keys.
    pub fn connect(
        stream: TcpStream,
        side: ConnectionSide,
        names: [&'static str; 2],
        is_strict: bool,
        host_key: Option<Ed25519KeyPair>,
    ) -> Self {
        // A peer that hangs fails the test instead of stopping it.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A small packet in front of a long one would wait for its acknowledgement.
        stream.set_nodelay(true).unwrap();
        let mut peer = Self {
            stream,
            side,
            names,
            suite: Suite::from_ssh(names[0], names[1]).unwrap(),
            is_strict,
            host_key,
            peer_version: String::new(),
            wire: Vec::new(),
            sealer: None,
            opener: None,
            clear_packets: [0; 2],
            session_id: Vec::new(),
            exchanges: 0,
        };
        peer.stream.write_all(format!("{VERSION}\r\n").as_bytes()).unwrap();
        peer.peer_version = peer.read_version();
        peer.rekey();
        peer
    }

    fn read_version(&mut self) -> String {
        loop {
            if let Some(end) = self.wire.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8(self.wire.drain(..=end).collect()).unwrap();
                if line.starts_with("SSH-") {
                    return line.trim_end().to_owned();
                }
                continue;
            }
            self.read_more();
        }
    }

    fn read_more(&mut self) {
        let mut buffer = [0; 40_000];
        let len = self.stream.read(&mut buffer).unwrap();
        assert!(len > 0, "the peer closed the connection after {} key exchanges", self.exchanges);
        self.wire.extend_from_slice(&buffer[..len]);
    }

    /// Sends a payload as one packet.
    pub fn send(&mut self, payload: &[u8]) {
        let mut wire = Vec::new();
        if let Some(sealer) = &mut self.sealer {
            // Two parts, as a caller has them that sends a header and data.
            let (front, rest) = payload.split_at(payload.len().min(9));
            sealer.seal(Content::Packet, &[front, rest], &mut wire).unwrap();
        } else {
            let mut padding = 8 - (5 + payload.len()) % 8;
            padding += if padding < 4 { 8 } else { 0 };
            wire.extend(((1 + payload.len() + padding) as u32).to_be_bytes());
            wire.push(padding as u8);
            wire.extend(payload);
            wire.resize(wire.len() + padding, 0);
            self.clear_packets[0] += 1;
        }
        self.stream.write_all(&wire).unwrap();
    }

    /// Receives the payload of one packet.
    fn receive_raw(&mut self) -> Vec<u8> {
        loop {
            let found = match &mut self.opener {
                Some(opener) => match opener.next(&mut self.wire).unwrap() {
                    Opened::Record(record) => Some((record.data.to_vec(), record.used)),
                    Opened::NeedMore(_) => None,
                },
                None => clear_packet(&self.wire),
            };
            if let Some((payload, used)) = found {
                self.wire.drain(..used);
                self.clear_packets[1] += u64::from(self.opener.is_none());
                return payload;
            }
            self.read_more();
        }
    }

    /// Receives the next message that is not about the transport. A key exchange of the peer is answered.
    pub fn receive(&mut self) -> Vec<u8> {
        loop {
            let message = self.receive_raw();
            match message[0] {
                IGNORE | DEBUG | EXT_INFO | GLOBAL_REQUEST => {}
                KEXINIT => self.exchange_keys(Some(message)),
                DISCONNECT => panic!("disconnected: {}", String::from_utf8_lossy(&message[9..])),
                _ => return message,
            }
        }
    }

    /// Starts a key exchange.
    pub fn rekey(&mut self) {
        self.exchange_keys(None);
    }

    fn exchange_keys(&mut self, peer_init: Option<Vec<u8>>) {
        let own_init = self.kexinit();
        self.send(&own_init);
        let peer_init = peer_init.unwrap_or_else(|| self.receive_kind(KEXINIT));
        if self.exchanges == 0 {
            // Only the first exchange agrees on it.
            self.is_strict &= has_name(&peer_init, "kex-strict-");
        }
        let is_strict = self.is_strict;
        let (own_key, own_public) = ephemeral();
        let (host_blob, secret, peer_public, hash) = match self.side {
            ConnectionSide::Client => {
                self.send(&message(KEX_ECDH_INIT, &[&string(&own_public)]));
                let reply = self.receive_kind(KEX_ECDH_REPLY);
                let mut fields = Fields(&reply[1..]);
                let [host_blob, public, signature] = [(); 3].map(|()| fields.string().to_vec());
                let secret = agree(own_key, &public);
                let inits = [&own_init[..], &peer_init];
                let hash = self.hash(inits, &host_blob, [&own_public[..], &public], &secret);
                verify(&host_blob, &hash, &signature);
                (host_blob, secret, public, hash)
            }
            ConnectionSide::Server => {
                let init = self.receive_kind(KEX_ECDH_INIT);
                let public = Fields(&init[1..]).string().to_vec();
                let host_blob = key_blob(self.host_key.as_ref().unwrap());
                let secret = agree(own_key, &public);
                let hash = self.hash([&peer_init, &own_init], &host_blob, [&public, &own_public], &secret);
                let signature = sign(self.host_key.as_ref().unwrap(), &hash);
                self.send(&message(
                    KEX_ECDH_REPLY,
                    &[&string(&host_blob), &string(&own_public), &string(&signature)],
                ));
                (host_blob, secret, public, hash)
            }
        };
        assert!(!host_blob.is_empty() && peer_public.len() == 32);
        if self.session_id.is_empty() {
            self.session_id.clone_from(&hash);
        }
        self.send(&[NEWKEYS]);
        self.take_keys(&secret, &hash, is_strict);
        self.exchanges += 1;
    }

    /// Takes the new keys: for sending at once, and for receiving behind the peer's NEWKEYS.
    fn take_keys(&mut self, secret: &[u8], hash: &[u8], is_strict: bool) {
        let algorithms = SshAlgorithms { to_server: self.suite, to_client: self.suite };
        let exchange = SshExchange {
            digest: DigestAlg::Sha256,
            shared_secret: secret,
            exchange_hash: hash,
            session_id: &self.session_id,
        };
        let [mut write, mut read] = Keys::ssh(&algorithms, &exchange, self.side).unwrap();
        if is_strict {
            (write, read) = (write.with_sequence(0), read.with_sequence(0));
        }
        match &mut self.sealer {
            Some(sealer) => sealer.rekey(write).unwrap(),
            None if is_strict => self.sealer = Some(Sealer::new(accelerator(), write).unwrap()),
            None => {
                let write = write.with_sequence(self.clear_packets[0]);
                self.sealer = Some(Sealer::new(accelerator(), write).unwrap());
            }
        }
        self.receive_kind(NEWKEYS);
        match &mut self.opener {
            Some(opener) => opener.rekey(read).unwrap(),
            None if is_strict => self.opener = Some(Opener::new(accelerator(), read).unwrap()),
            None => {
                let read = read.with_sequence(self.clear_packets[1]);
                self.opener = Some(Opener::new(accelerator(), read).unwrap());
            }
        }
    }

    /// Receives a message of the key exchange. The peer may have sent window adjustments before it.
    fn receive_kind(&mut self, kind: u8) -> Vec<u8> {
        loop {
            let message = self.receive_raw();
            if message[0] == kind {
                return message;
            }
            let is_harmless =
                matches!(message[0], IGNORE | DEBUG | EXT_INFO | GLOBAL_REQUEST | WINDOW_ADJUST);
            assert!(is_harmless, "expected message {kind}, received {}", message[0]);
        }
    }

    fn kexinit(&self) -> Vec<u8> {
        let strict = match (self.is_strict, self.side) {
            (false, _) => "",
            (true, ConnectionSide::Client) => ",kex-strict-c-v00@openssh.com",
            (true, ConnectionSide::Server) => ",kex-strict-s-v00@openssh.com",
        };
        let [cipher, mac] = self.names;
        let kex = format!("curve25519-sha256{strict}");
        let lists = [&kex, "ssh-ed25519", cipher, cipher, mac, mac, "none", "none", "", ""];
        let mut init = vec![KEXINIT];
        init.extend([7; 16]);
        for list in lists {
            init.extend(string(list.as_bytes()));
        }
        init.extend([0; 5]);
        init
    }

    /// Computes the exchange hash. RFC 8731 3.1 and RFC 5656 section 4. The client's parts come first.
    fn hash(&self, inits: [&[u8]; 2], host_blob: &[u8], publics: [&[u8]; 2], secret: &[u8]) -> Vec<u8> {
        let versions = match self.side {
            ConnectionSide::Client => [VERSION, &self.peer_version],
            ConnectionSide::Server => [&self.peer_version, VERSION],
        };
        let mut context = Context::new(&SHA256);
        for part in [
            versions[0].as_bytes(),
            versions[1].as_bytes(),
            inits[0],
            inits[1],
            host_blob,
            publics[0],
            publics[1],
        ] {
            context.update(&string(part));
        }
        context.update(secret);
        context.finish().as_ref().to_vec()
    }
}

fn clear_packet(wire: &[u8]) -> Option<(Vec<u8>, usize)> {
    let length = u32::from_be_bytes(wire.get(..4)?.try_into().unwrap()) as usize;
    let packet = wire.get(4..4 + length)?;
    Some((packet[1..length - usize::from(packet[0])].to_vec(), 4 + length))
}

fn has_name(init: &[u8], name: &str) -> bool {
    init.windows(name.len()).any(|window| window == name.as_bytes())
}

fn ephemeral() -> (EphemeralPrivateKey, Vec<u8>) {
    let key = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).unwrap();
    let public = key.compute_public_key().unwrap().as_ref().to_vec();
    (key, public)
}

/// Returns the shared secret as an mpint.
fn agree(key: EphemeralPrivateKey, public: &[u8]) -> Vec<u8> {
    let public = UnparsedPublicKey::new(&X25519, public);
    agree_ephemeral(key, public, (), |secret| Ok(encode_mpint(secret).expose().to_vec())).unwrap()
}

/// Returns a string with its length. RFC 4251 section 5.
pub fn string(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}

/// Returns a message of fields that are encoded already.
pub fn message(kind: u8, fields: &[&[u8]]) -> Vec<u8> {
    [&[kind][..], &fields.concat()].concat()
}

pub fn key_blob(key: &Ed25519KeyPair) -> Vec<u8> {
    [string(ED25519), string(key.public_key().as_ref())].concat()
}

pub fn sign(key: &Ed25519KeyPair, message: &[u8]) -> Vec<u8> {
    [string(ED25519), string(key.sign(message).as_ref())].concat()
}

pub fn verify(blob: &[u8], message: &[u8], signature: &[u8]) {
    let (mut key, mut signature) = (Fields(blob), Fields(signature));
    assert_eq!((key.string(), signature.string()), (ED25519, ED25519));
    let key = signature::UnparsedPublicKey::new(&signature::ED25519, key.string());
    key.verify(message, signature.string()).expect("the signature verifies");
}

/// Reads fields of a message.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (front, rest) = self.0.split_at(len);
        self.0 = rest;
        front
    }

    pub fn number(&mut self) -> u32 {
        u32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    pub fn string(&mut self) -> &'a [u8] {
        let len = self.number() as usize;
        self.take(len)
    }
}
