//! Messages to measure with.

use oarlock_measure::random::SplitMix64;

/// The lengths of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailSizes {
    /// All of 8.9 KB.
    Uniform,
    /// As in the paper: median 7 KB, average 8.8 KB, none over 180 KB. Logarithms of sizes are normal.
    Paper,
}

impl MailSizes {
    pub(super) const ALL: [Self; 2] = [Self::Uniform, Self::Paper];
    const UNIFORM: f64 = 8_900.0;
    const MEDIAN: f64 = 7_000.0;
    const MEAN: f64 = 8_800.0;
    const MOST: f64 = 180_000.0;
    const LEAST: f64 = 1_100.0;

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Paper => "paper",
        }
    }

    fn draw(self, random: &mut SplitMix64) -> usize {
        match self {
            Self::Uniform => Self::UNIFORM as usize,
            Self::Paper => {
                // Box and Muller 1958. The mean of such sizes is the median times exp(sigma^2 / 2).
                let normal =
                    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos();
                let sigma = (2.0 * (Self::MEAN / Self::MEDIAN).ln()).sqrt();
                (Self::MEDIAN * (sigma * normal).exp()).clamp(Self::LEAST, Self::MOST) as usize
            }
        }
    }
}

/// Messages with header fields like those of mail that has passed some servers, and text in lines.
pub(crate) struct MailCorpus {
    pub(crate) messages: Vec<Vec<u8>>,
}

impl MailCorpus {
    pub(crate) fn new(sizes: MailSizes, count: usize) -> Self {
        let mut random = SplitMix64::new(0x6f61_726c_6f63_6b21);
        let messages = (0..count).map(|number| {
            let len = sizes.draw(&mut random);
            message(&mut random, number, len)
        });
        Self { messages: messages.collect() }
    }
}

fn message(random: &mut SplitMix64, number: usize, len: usize) -> Vec<u8> {
    let mut text = format!(
        "Return-Path: <sender@example.com>\r\n\
         Delivered-To: receiver@example.net\r\n\
         Received: from mx.example.net (mx.example.net [192.0.2.1])\r\n\tby mail.example.net (Postfix) with ESMTPS id {number:010X}\r\n\
         \tfor <receiver@example.net>; Mon,  2 Nov 2026 10:00:00 +0000 (UTC)\r\n\
         Received: from out.example.com (out.example.com [198.51.100.7])\r\n\tby mx.example.net (Postfix) with ESMTPS id {number:010X}\r\n\
         \tfor <receiver@example.net>; Mon,  2 Nov 2026 09:59:58 +0000 (UTC)\r\n\
         Date: Mon, 2 Nov 2026 10:59:57 +0100\r\n\
         From: \"A. Sender\" <sender@example.com>\r\n\
         To: A Receiver <receiver@example.net>,\r\n Another One <another@example.net>\r\n\
         Cc: list@example.org\r\n\
         Message-ID: <20261102095957.{number}@example.com>\r\n\
         In-Reply-To: <20261101080000.17@example.net>\r\n\
         References: <20261031070000.5@example.net>\r\n <20261101080000.17@example.net>\r\n\
         Subject: Re: [list] the figures of {number} and what they say\r\n\
         MIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\
         Content-Transfer-Encoding: 7bit\r\n\
         User-Agent: Mutt/2.2.13\r\n\
         X-Spam-Status: No, score=-1.9 required=5.0 tests=BAYES_00\r\n\r\n"
    )
    .into_bytes();
    let mut column = 0;
    while text.len() < len {
        let word = 2 + random.next_u64() % 9;
        let letters = random.next_u64();
        text.extend((0..word).map(|at| b'a' + (letters >> (5 * at) & 15) as u8));
        column += word + 1;
        match random.next_u64() % 64 {
            // A paragraph ends, an indented line begins, somebody typed two spaces or left one at the end.
            0 => text.extend_from_slice(b"\r\n\r\n"),
            1 => text.extend_from_slice(b"\r\n    "),
            2 => text.extend_from_slice(b"  "),
            3 => text.extend_from_slice(b" \r\n"),
            _ if column > 66 => text.extend_from_slice(b"\r\n"),
            _ => {
                text.push(b' ');
                continue;
            }
        }
        column = 0;
    }
    // Not a line of white space alone, which mail-auth before 0.15.1 hashes otherwise than RFC 6376 3.4.4 has it.
    text.extend_from_slice(b"end\r\n");
    text
}
