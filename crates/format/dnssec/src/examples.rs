//! Keys and digests printed in RFCs, for tests.

/// A DNSKEY with its DS.
pub(crate) struct KeyExample {
    pub(crate) source: &'static str,
    pub(crate) owner: &'static str,
    pub(crate) flags: u16,
    pub(crate) algorithm: u8,
    /// The key in base64.
    pub(crate) public: &'static str,
    pub(crate) key_tag: u16,
    pub(crate) digest_type: u8,
    /// The digest in hexadecimal.
    pub(crate) digest: &'static str,
}

pub(crate) const KEYS: [KeyExample; 8] = [
    KeyExample {
        source: "RFC 4034 5.4",
        owner: "dskey.example.com.",
        flags: 256,
        algorithm: 5,
        public: "AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAph\
                 XdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==",
        key_tag: 60485,
        digest_type: 1,
        digest: "2BB183AF5F22588179A53B0A98631FAD1A292118",
    },
    KeyExample {
        source: "RFC 4509 2.3",
        owner: "dskey.example.com.",
        flags: 256,
        algorithm: 5,
        public: "AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAph\
                 XdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==",
        key_tag: 60485,
        digest_type: 2,
        digest: "D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A",
    },
    KeyExample {
        source: "RFC 6605 6.1",
        owner: "example.net.",
        flags: 257,
        algorithm: 13,
        public: "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==",
        key_tag: 55648,
        digest_type: 2,
        digest: "b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17",
    },
    KeyExample {
        source: "RFC 6605 6.2",
        owner: "example.net.",
        flags: 257,
        algorithm: 14,
        public: "xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX4\
                 5NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40",
        key_tag: 10771,
        digest_type: 4,
        digest: "72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df983d6",
    },
    KeyExample {
        source: "RFC 8080 6.1, first",
        owner: "example.com.",
        flags: 257,
        algorithm: 15,
        public: "l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=",
        key_tag: 3613,
        digest_type: 2,
        digest: "3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964ab55c78e79a304b",
    },
    KeyExample {
        source: "RFC 8080 6.1, second",
        owner: "example.com.",
        flags: 257,
        algorithm: 15,
        public: "zPnZ/QwEe7S8C5SPz2OfS5RR40ATk2/rYnE9xHIEijs=",
        key_tag: 35217,
        digest_type: 2,
        digest: "401781b934e392de492ec77ae2e15d70f6575a1c0bc59c5275c04ebe80c6614c",
    },
    KeyExample {
        source: "RFC 8080 6.2, first",
        owner: "example.com.",
        flags: 257,
        algorithm: 16,
        public: "3kgROaDjrh0H2iuixWBrc8g2EpBBLCdGzHmn+G2MpTPhpj/OiBVHHSfPodx1FYYUcJKm1MDpJtIA",
        key_tag: 9713,
        digest_type: 2,
        digest: "6ccf18d5bc5d7fc2fceb1d59d17321402f2aa8d368048db93dd811f5cb2b19c7",
    },
    KeyExample {
        source: "RFC 8080 6.2, second",
        owner: "example.com.",
        flags: 257,
        algorithm: 16,
        public: "kkreGWoccSDmUBGAe7+zsbG6ZAFQp+syPmYUurBRQc3tDjeMCJcVMRDmgcNLp5HlHAMy12VoISsA",
        key_tag: 38353,
        digest_type: 2,
        digest: "645ff078b3568f5852b70cb60e8e696cc77b75bfaaffc118cf79cbda1ba28af4",
    },
];

impl KeyExample {
    /// Returns the data of the DNSKEY.
    pub(crate) fn dnskey(&self) -> Vec<u8> {
        let [high, low] = self.flags.to_be_bytes();
        [&[high, low, 3, self.algorithm], base64(self.public).as_slice()].concat()
    }

    /// Returns the data of the DS.
    pub(crate) fn ds(&self) -> Vec<u8> {
        let [high, low] = self.key_tag.to_be_bytes();
        [&[high, low, self.algorithm, self.digest_type], hex(self.digest).as_slice()].concat()
    }
}

pub(crate) fn base64(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
