//! Constructed captures, complete and damaged.

use super::*;

/// The shortest query: a header and a question.
const QUERY: [u8; 17] = [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1];
const OTHER: [u8; 12] = [0, 8, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const AT_S: u64 = 1_475_755_200;

fn udp(port: u16, message: &[u8]) -> Vec<u8> {
    let mut out = [40_000_u16.to_be_bytes(), port.to_be_bytes()].concat();
    out.extend((message.len() as u16 + 8).to_be_bytes());
    out.extend([0, 0]);
    out.extend(message);
    out
}

fn tcp(segment: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 24];
    out[2..4].copy_from_slice(&53_u16.to_be_bytes());
    out[12] = 6 << 4;
    out.extend(segment);
    out
}

fn prefixed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes(), message].concat()
}

fn ipv4(protocol: u8, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 20];
    out[0] = 0x45;
    out[2..4].copy_from_slice(&(data.len() as u16 + 20).to_be_bytes());
    out[9] = protocol;
    out.extend(data);
    out
}

fn ipv6(next: u8, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 40];
    out[0] = 0x60;
    out[4..6].copy_from_slice(&(data.len() as u16).to_be_bytes());
    out[6] = next;
    out.extend(data);
    out
}

fn ethernet(tags: &[u16], ip: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 12];
    for tag in tags {
        out.extend(tag.to_be_bytes());
        out.extend([0, 5]);
    }
    out.extend(if ip[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] });
    // The first protocol number stands at 12, and each further one after the two bytes of a tag.
    out.extend(ip);
    out
}

/// Writes numbers in one byte order.
#[derive(Clone, Copy)]
struct Writer(ByteOrder);

use super::bytes::ByteOrder;

impl Writer {
    fn u16(self, number: u16) -> [u8; 2] {
        if self.0 == ByteOrder::Little { number.to_le_bytes() } else { number.to_be_bytes() }
    }

    fn u32(self, number: u32) -> [u8; 4] {
        if self.0 == ByteOrder::Little { number.to_le_bytes() } else { number.to_be_bytes() }
    }

    fn pcap(self, magic: u32, link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
        let mut out = self.u32(magic).to_vec();
        out.extend(self.u16(2));
        out.extend(self.u16(4));
        out.extend([0; 12]);
        out.extend(self.u32(link));
        for packet in packets {
            out.extend(self.u32(AT_S as u32));
            out.extend(self.u32(999_999));
            out.extend(self.u32(packet.len() as u32));
            out.extend(self.u32(packet.len() as u32));
            out.extend(packet);
        }
        out
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let len = self.u32(body.len() as u32 + 12);
        [&self.u32(kind)[..], &len, &body, &len].concat()
    }

    fn section(self) -> Vec<u8> {
        let body = [&self.u32(0x1a2b_3c4d)[..], &self.u16(1), &self.u16(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    fn interface(self, link: u16, max_bytes: u32, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = [&self.u16(link)[..], &self.u16(0), &self.u32(max_bytes)].concat();
        for (code, value) in options {
            body.extend(self.u16(*code));
            body.extend(self.u16(value.len() as u16));
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    fn enhanced(self, interface: u32, stamp: u64, packet: &[u8]) -> Vec<u8> {
        let len = self.u32(packet.len() as u32);
        let (high, low) = (self.u32((stamp >> 32) as u32), self.u32(stamp as u32));
        self.block(6, &[&self.u32(interface)[..], &high, &low, &len, &len, packet].concat())
    }

    fn obsolete(self, interface: u16, stamp: u64, packet: &[u8]) -> Vec<u8> {
        let len = self.u32(packet.len() as u32);
        let (high, low) = (self.u32((stamp >> 32) as u32), self.u32(stamp as u32));
        self.block(2, &[&self.u16(interface)[..], &self.u16(0), &high, &low, &len, &len, packet].concat())
    }

    fn simple(self, packet: &[u8]) -> Vec<u8> {
        self.block(3, &[&self.u32(packet.len() as u32)[..], packet].concat())
    }
}

const ORDERS: [Writer; 2] = [Writer(ByteOrder::Little), Writer(ByteOrder::Big)];

/// The events as times and messages.
type Seen = Vec<(Option<u64>, Vec<u8>)>;

fn events(bytes: &[u8]) -> (Seen, CaptureReport) {
    let mut seen = Vec::new();
    let report = read(bytes, &mut |event| match event {
        CaptureEvent::Message { at_s, bytes, .. } => seen.push((at_s, bytes.to_vec())),
        CaptureEvent::Query { at_s } => seen.push((Some(at_s), Vec::new())),
    });
    assert_eq!(report.events, seen.len() as u64);
    (seen, report)
}

fn query_packet() -> Vec<u8> {
    ethernet(&[], &ipv4(17, &udp(53, &QUERY)))
}

#[test]
fn pcap_is_read_in_both_orders_and_resolutions() {
    for writer in ORDERS {
        for magic in [0xa1b2_c3d4, 0xa1b2_3c4d] {
            let (seen, report) = events(&writer.pcap(magic, 1, &[query_packet(), query_packet()]));
            assert_eq!(seen, vec![(Some(AT_S), QUERY.to_vec()); 2]);
            assert!(report.fault.is_none() && report.format == Some(CaptureFormat::Pcap));
        }
    }
}

#[test]
fn pcapng_is_read_in_both_orders_with_every_kind_of_packet() {
    for writer in ORDERS {
        let offset =
            if writer.0 == ByteOrder::Little { 100_i64.to_le_bytes() } else { 100_i64.to_be_bytes() };
        let capture = [
            writer.section(),
            writer.interface(1, 0, &[]),
            writer.interface(101, 0, &[(2, b"eth1"), (9, &[9]), (14, &offset), (0, &[])]),
            writer.interface(1, 0, &[(9, &[0x80 | 10])]),
            writer.block(5, b"statistics, which nobody needs"),
            writer.enhanced(0, AT_S * 1_000_000 + 5, &query_packet()),
            writer.enhanced(1, (AT_S - 100) * 1_000_000_000, &ipv6(17, &udp(53, &OTHER))),
            writer.obsolete(2, AT_S << 10, &query_packet()),
            writer.simple(&query_packet()),
            writer.section(),
            writer.interface(113, 0, &[]),
            writer.enhanced(
                0,
                AT_S * 1_000_000,
                &[vec![0; 14], vec![8, 0], ipv4(17, &udp(53, &OTHER))].concat(),
            ),
        ];
        let (seen, report) = events(&capture.concat());
        let expected = [
            (Some(AT_S), &QUERY[..]),
            (Some(AT_S), &OTHER),
            (Some(AT_S), &QUERY),
            (None, &QUERY),
            (Some(AT_S), &OTHER),
        ];
        assert_eq!(seen, expected.map(|(at_s, message)| (at_s, message.to_vec())));
        assert!(report.fault.is_none() && report.skipped == SkipCounts::default(), "{report:?}");
    }
}

#[test]
fn an_unknown_link_is_named_in_pcap_and_skipped_in_pcapng() {
    let (_, report) = events(&ORDERS[0].pcap(0xa1b2_c3d4, 147, &[query_packet()]));
    assert!(matches!(report.fault, Some(CaptureError::LinkType(147))));
    let writer = ORDERS[0];
    let capture = [
        writer.section(),
        writer.interface(147, 0, &[]),
        writer.interface(1, 0, &[]),
        writer.enhanced(0, 0, &query_packet()),
        writer.enhanced(1, 0, &query_packet()),
        writer.enhanced(7, 0, &query_packet()),
    ];
    let (seen, report) = events(&capture.concat());
    assert_eq!(seen.len(), 1);
    assert_eq!((report.skipped.unknown_links, report.skipped.malformed), (1, 1));
}

#[test]
fn records_before_a_truncation_count() {
    let writer = ORDERS[0];
    let pcap = writer.pcap(0xa1b2_c3d4, 1, &[query_packet(), query_packet()]);
    let pcapng = [
        writer.section(),
        writer.interface(1, 0, &[]),
        writer.enhanced(0, 0, &query_packet()),
        writer.enhanced(0, 0, &query_packet()),
    ];
    for whole in [pcap, pcapng.concat()] {
        for cut in [1, 5, 40] {
            let (seen, report) = events(&whole[..whole.len() - cut]);
            assert_eq!(seen.len(), 1, "{cut}");
            assert!(matches!(report.fault, Some(CaptureError::Truncated { .. })), "{:?}", report.fault);
        }
        let (_, report) = events(&whole[..12]);
        assert!(matches!(report.fault, Some(CaptureError::Truncated { .. })), "{:?}", report.fault);
    }
}

#[test]
fn an_invalid_length_ends_the_reading() {
    let writer = ORDERS[0];
    let mut capture = writer.pcap(0xa1b2_c3d4, 1, &[query_packet(), query_packet()]);
    let second = 24 + 16 + query_packet().len();
    capture[second + 8..second + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let (seen, report) = events(&capture);
    assert_eq!(seen.len(), 1);
    assert!(matches!(report.fault, Some(CaptureError::Length { found: 0xffff_ffff, .. })));

    let good = [writer.section(), writer.interface(1, 0, &[])].concat();
    for (len, end) in [(0, 0), (11, 11), (14, 14), (u32::MAX - 3, 0), (16, 20)] {
        let block = [writer.u32(6), writer.u32(len), [0; 4], writer.u32(end)].concat();
        let (_, report) = events(&[&good[..], &block].concat());
        assert!(matches!(report.fault, Some(CaptureError::Length { .. })), "{len}: {:?}", report.fault);
    }
    let mut section = writer.section();
    section[8] = 0;
    let (_, report) = events(&section);
    assert!(matches!(report.fault, Some(CaptureError::ByteOrder { at_byte: 0 })));
}

fn raw(packet: &[u8]) -> (usize, SkipCounts) {
    let (seen, report) = events(&ORDERS[0].pcap(0xa1b2_c3d4, 101, &[packet.to_vec()]));
    assert!(report.fault.is_none(), "{:?}", report.fault);
    (seen.len(), report.skipped)
}

#[test]
fn links_lead_to_ip() {
    let ip = ipv4(17, &udp(53, &QUERY));
    let tagged = ethernet(&[0x88a8, 0x8100], &ip);
    let cooked2 = [vec![0x08, 0], vec![0; 18], ip.clone()].concat();
    for (link, packet) in
        [(1, tagged), (0, [vec![2, 0, 0, 0], ip.clone()].concat()), (276, cooked2), (228, ip)]
    {
        let (seen, report) = events(&ORDERS[1].pcap(0xa1b2_c3d4, link, &[packet]));
        assert_eq!(seen.len(), 1, "{link}: {report:?}");
    }
    let arp = [vec![0; 12], vec![8, 6], vec![0; 40]].concat();
    let (seen, report) = events(&ORDERS[0].pcap(0xa1b2_c3d4, 1, &[arp, vec![1, 2, 3]]));
    assert_eq!((seen.len(), report.skipped.not_ip), (0, 2));
}

#[test]
fn extension_headers_are_passed_and_fragments_are_not() {
    let message = udp(53, &QUERY);
    let options = |next: u8| [next, 0, 0, 0, 0, 0, 0, 0];
    let chain = [&options(43)[..], &options(44), &[17, 0, 0, 0, 0, 0, 0, 9], &message].concat();
    assert_eq!(raw(&ipv6(0, &chain)).0, 1);
    let fragment = [&[17, 0, 0, 1, 0, 0, 0, 9][..], &message].concat();
    assert_eq!(raw(&ipv6(44, &fragment)).1.fragments, 1);
    let mut ip = ipv4(17, &message);
    ip[6] = 0x20;
    assert_eq!(raw(&ip).1.fragments, 1);
    let endless: Vec<u8> = [0_u8; 8].repeat(64);
    assert_eq!(raw(&ipv6(0, &endless)).1.malformed, 1);
}

#[test]
fn counts_complete_messages_of_a_tcp_segment() {
    let both = [prefixed(&QUERY), prefixed(&OTHER)].concat();
    assert_eq!(raw(&ipv4(6, &tcp(&both))).0, 2);
    for part in [&both[..both.len() - 1], &both[3..], &[0, 0]] {
        assert_eq!(raw(&ipv4(6, &tcp(part))), (0, SkipCounts { tcp_parts: 1, ..SkipCounts::default() }));
    }
    assert_eq!(raw(&ipv4(6, &tcp(&[]))).1.not_dns, 1);
    let both = [ipv4(6, &tcp(&both)), ipv4(17, &udp(53, &QUERY))];
    let mut transports = Vec::new();
    read(&ORDERS[0].pcap(0xa1b2_c3d4, 101, &both)[..], &mut |event| {
        if let CaptureEvent::Message { is_tcp, .. } = event {
            transports.push(is_tcp);
        }
    });
    assert_eq!(transports, [true, true, false]);
}

#[test]
fn other_ports_other_protocols_and_nonsense_are_counted() {
    assert_eq!(raw(&ipv4(17, &udp(443, &QUERY))).1.not_dns, 1);
    assert_eq!(raw(&ipv4(1, &[0; 8])).1.not_ip, 1);
    assert_eq!(raw(&[0x20; 30]).1.not_ip, 1);
    for bad in [vec![0x45; 3], ipv4(17, &[0; 5]), ipv4(17, &udp(53, &[0; 4])), ipv4(6, &[0; 9]), ipv6(0, &[])]
    {
        assert_eq!(raw(&bad).1.malformed, 1, "{bad:?}");
    }
    let mut bad = ipv4(17, &udp(53, &QUERY));
    bad[0] = 0x44;
    assert_eq!(raw(&bad).1.malformed, 1);
    let mut longer = udp(53, &QUERY);
    longer[5] += 1;
    assert_eq!(raw(&ipv4(17, &longer)).1.malformed, 1);
}

#[test]
fn passes_on_a_message_that_the_capture_cut_short() {
    let whole = ipv4(17, &udp(53, &QUERY));
    let (seen, skipped) = raw(&whole[..whole.len() - 3]);
    assert_eq!((seen, skipped.cut_short), (1, 1));
    let (seen, skipped) = raw(&whole[..30]);
    assert_eq!((seen, skipped.malformed), (0, 1));
}

/// Encodes a field of bytes in protocol buffers.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    out.extend([bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8]);
    out.extend(bytes);
    out
}

fn varint(number: u8, mut value: u64) -> Vec<u8> {
    let mut out = vec![number << 3];
    while value > 127 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// Encodes the content of a frame, with unused fields around the others.
fn dnstap_content(kind: u64) -> Vec<u8> {
    let message = [
        varint(1, kind),
        varint(2, 1),
        field(4, &[192, 0, 2, 1]),
        varint(8, AT_S),
        vec![9 << 3 | 5, 1, 2, 3, 4],
        field(10, &QUERY),
        varint(12, AT_S + 1),
        field(14, &OTHER),
    ];
    [field(1, b"host"), varint(15, 1), field(14, &message.concat())].concat()
}

fn framed(data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32).to_be_bytes(), data].concat()
}

fn dnstap_stream(kinds: &[u64]) -> Vec<u8> {
    let mut out = dnstap::control_frame(dnstap::ControlType::Start);
    for &kind in kinds {
        out.extend(framed(&dnstap_content(kind)));
    }
    out.extend(dnstap::control_frame(dnstap::ControlType::Stop));
    out
}

#[test]
fn dnstap_states_parties_and_directions() {
    let mut sides = Vec::new();
    let report = read(&dnstap_stream(&[1, 4, 5, 6, 13])[..], &mut |event| {
        if let CaptureEvent::Message { at_s, side, bytes, .. } = event {
            sides.push((side.unwrap(), at_s.unwrap() - AT_S, bytes == QUERY));
        }
    });
    let expected = [
        (ResolverSide::Authoritative, 0, true),
        (ResolverSide::Upstream, 1, false),
        (ResolverSide::Client, 0, true),
        (ResolverSide::Client, 1, false),
    ];
    assert_eq!(sides, expected);
    assert!(report.fault.is_none() && report.skipped.others == 1);
}

#[test]
fn reports_truncated_and_malformed_dnstap() {
    let whole = dnstap_stream(&[5, 5]);
    let stop = dnstap::control_frame(dnstap::ControlType::Stop).len();
    let (seen, report) = events(&whole[..whole.len() - stop]);
    assert!(seen.len() == 2 && report.fault.is_none());
    let (seen, report) = events(&whole[..whole.len() - stop - 5]);
    assert!(seen.len() == 1 && matches!(report.fault, Some(CaptureError::Truncated { .. })));
    let mut long = dnstap_stream(&[5]);
    long.truncate(long.len() - stop);
    long.extend(u32::MAX.to_be_bytes());
    let (seen, report) = events(&long);
    let at = long.len() as u64 - 4;
    assert!(
        seen.len() == 1
            && matches!(report.fault, Some(CaptureError::Length { at_byte, .. }) if at_byte == at)
    );
    let mut other = dnstap_stream(&[5]);
    other[20] = b'P';
    let (_, report) = events(&other);
    assert!(matches!(report.fault, Some(CaptureError::Content(found)) if found == "Protobuf:dnstap.Dnstap"));
    let bad = [
        dnstap::control_frame(dnstap::ControlType::Start),
        framed(&[14 << 3 | 2, 200]),
        framed(&dnstap_content(5)),
    ];
    let (seen, report) = events(&bad.concat());
    assert_eq!((seen.len(), report.skipped.malformed), (1, 1));
}

#[test]
fn decodes_frames_from_chunks_of_any_length() {
    let stream = dnstap_stream(&[5, 6]);
    for step in [1, 3, 7, stream.len()] {
        let mut frames = dnstap::FrameDecoder::default();
        let mut found = Vec::new();
        for part in stream.chunks(step) {
            frames.push(part);
            while let Some(frame) = frames.next_frame().unwrap() {
                found.push(matches!(frame, dnstap::DnstapFrame::Data(_)));
            }
        }
        assert_eq!(found, [false, true, true, false]);
        assert!(frames.is_empty());
    }
}

#[test]
fn a_log_counts_its_queries_and_its_other_lines() {
    let long = "x".repeat(200_000);
    let line = |at_s: u64| format!("[{at_s}] unbound[1:0] info: ::1 a. A IN");
    let log = format!(
        "[1] start\n{}\r\n{long}\n\nnonsense\n[{AT_S}] unbound[1:0] info: bye\n{}",
        line(AT_S),
        line(AT_S + 3)
    );
    let (seen, report) = events(log.as_bytes());
    assert_eq!(report.format, Some(CaptureFormat::Log(QueryLogFormat::Unbound)));
    assert_eq!(seen.iter().map(|(at_s, _)| at_s.unwrap() - AT_S).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(report.skipped.others, 1);
    assert!(report.skipped.lines >= 2, "{report:?}");
}

#[test]
fn rejects_empty_and_unknown_files() {
    assert!(matches!(events(b"").1.fault, Some(CaptureError::Unrecognised { is_empty: true })));
    assert!(matches!(
        events(b"hello\nworld\n").1.fault,
        Some(CaptureError::Unrecognised { is_empty: false })
    ));
}

/// A capture that ends in an error of the system.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::Error::other("the disk is gone")),
            len => Ok(len),
        }
    }
}

#[test]
fn a_system_error_follows_the_events_before_it() {
    let capture = ORDERS[0].pcap(0xa1b2_c3d4, 1, &[query_packet()]);
    let mut seen = 0;
    let report = read(Failing(&capture), &mut |_| seen += 1);
    assert!(seen == 1 && matches!(report.fault, Some(CaptureError::Io(_))), "{report:?}");
}
