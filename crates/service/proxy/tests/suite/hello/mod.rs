//! ClientHello messages by hand. RFC 8446 4.1.2.

/// The group X25519.
const X25519: u16 = 29;

/// The base point of X25519, which is a valid share.
const BASE_POINT: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 9;
    bytes
};

/// A ClientHello for TLS 1.3 with AES-128-GCM, one group (X25519, unless another is given) and ECDSA over P-256.
pub(crate) struct ClientHelloBytes {
    /// The message with its head.
    pub(crate) message: Vec<u8>,
}

impl ClientHelloBytes {
    /// Makes a message with these bytes as the name.
    pub(crate) fn new(name: &[u8]) -> Self {
        Self::build(Some(name), X25519, &BASE_POINT, None)
    }

    pub(crate) fn without_name() -> Self {
        Self::build(None, X25519, &BASE_POINT, None)
    }

    /// Makes a message with a share of another group.
    pub(crate) fn with_share(name: &[u8], group: u16, share: &[u8]) -> Self {
        Self::build(Some(name), group, share, None)
    }

    /// Makes a message of this length.
    pub(crate) fn padded(name: &[u8], len: usize) -> Self {
        let short = Self::new(name).message.len() + 4;
        Self::build(Some(name), X25519, &BASE_POINT, Some(len - short))
    }

    fn build(name: Option<&[u8]>, group: u16, share: &[u8], padding: Option<usize>) -> Self {
        let mut extensions = Vec::new();
        if let Some(name) = name {
            let entry = [&[0][..], &u16_vector(name)].concat();
            extend(&mut extensions, 0, &u16_vector(&entry));
        }
        // supported_groups, signature_algorithms, supported_versions, key_share.
        extend(&mut extensions, 10, &u16_vector(&group.to_be_bytes()));
        extend(&mut extensions, 13, &u16_vector(&[4, 3]));
        extend(&mut extensions, 43, &[2, 3, 4]);
        let share = [&group.to_be_bytes()[..], &u16_vector(share)].concat();
        extend(&mut extensions, 51, &u16_vector(&share));
        if let Some(len) = padding {
            extend(&mut extensions, 21, &vec![0; len]);
        }
        let mut body = vec![3, 3];
        body.extend_from_slice(&[7; 32]);
        // No session, TLS_AES_128_GCM_SHA256, no compression.
        body.extend_from_slice(&[0, 0, 2, 0x13, 0x01, 1, 0]);
        body.extend_from_slice(&u16_vector(&extensions));
        let len = u32::try_from(body.len()).unwrap().to_be_bytes();
        Self { message: [&[1], &len[1..], &body].concat() }
    }

    /// Returns the message in records with at most so many bytes.
    pub(crate) fn in_records(&self, max: usize) -> Vec<u8> {
        let records = self.message.chunks(max).map(|piece| [&[22, 3, 1][..], &u16_vector(piece)].concat());
        records.collect::<Vec<_>>().concat()
    }
}

fn u16_vector(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn extend(extensions: &mut Vec<u8>, kind: u16, body: &[u8]) {
    extensions.extend_from_slice(&kind.to_be_bytes());
    extensions.extend_from_slice(&u16_vector(body));
}
