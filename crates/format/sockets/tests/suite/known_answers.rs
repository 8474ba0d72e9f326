//! Published records and packets.

use oarlock_sockets::{Content, ExposedKeys, Keys, Opened, Opener, RecordChoices, Sealer, Suite};

use crate::common::{self, accelerator, hex, open};

/// The records behind the handshake of RFC 8448 section 3, of the server and of the client, with the numbers that they
/// have under their keys. The server's record 0 is a ticket of 201 bytes.
#[test]
fn records_of_rfc_8448() {
    let payload: Vec<u8> = (0..50).collect();
    let client = "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5";
    let server = "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643";
    let records = [
        (
            client,
            0,
            Content::ApplicationData,
            &payload[..],
            "1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f\
          5a6292a2977014bd1e3deae63aeebb21694915e4",
        ),
        (client, 1, Content::Alert, &[1, 0], "1703030013c9872760655666b74d7ff1153efd6db6d0b0e3"),
        (
            server,
            1,
            Content::ApplicationData,
            &payload,
            "17030300432e937e11ef4ac740e538ad36005fc4a46932fc3225d05f82aa1b36e30efaf97d90e6dffc602dcb501a59a8fcc49c4b\
          f2e5f0a21c0047c2abf332540dd032e167c2955d",
        ),
        (server, 2, Content::Alert, &[1, 0], "1703030013b58fd67166ebf599d24720cfbe7efa7a8864a9"),
    ];
    for (secret, sequence, content, data, wire) in records {
        let keys = || Keys::tls13(Suite::TLS13_AES_128_GCM, &hex(secret)).unwrap().with_sequence(sequence);
        let wire = hex(wire);
        let mut opener = Opener::new(accelerator(), keys()).unwrap();
        assert_eq!(open(&mut opener, &wire), (content, data.to_vec()));
        let mut sealed = Vec::new();
        Sealer::new(accelerator(), keys()).unwrap().seal(content, &[data], &mut sealed).unwrap();
        assert_eq!(sealed, wire);
    }
}

/// RFC 7905 has no records, so this is the AEAD of RFC 8439 2.8.2 with the nonce of RFC 7905 section 2: the fixed IV is
/// mixed with the sequence number.
#[test]
fn the_nonce_of_rfc_7905_is_mixed_with_the_sequence_number() {
    let suite = Suite::TLS12_CHACHA20_POLY1305;
    let key = [7; 32];
    let mut iv = [0x40; 12];
    let keys = |iv: &[u8], sequence| {
        Keys::new(suite, &ExposedKeys { key: &key, mac_key: &[], iv, sequence }).unwrap()
    };
    let mut sealer = Sealer::new(accelerator(), keys(&iv, 0x0102)).unwrap();
    let mut wire = Vec::new();
    sealer.seal(Content::ApplicationData, &[b"hello"], &mut wire).unwrap();
    // The ciphertext depends on the nonce only. The tag depends on the number too.
    iv[10] ^= 1;
    iv[11] ^= 2;
    let mut other = Vec::new();
    Sealer::new(accelerator(), keys(&iv, 0))
        .unwrap()
        .seal(Content::ApplicationData, &[b"hello"], &mut other)
        .unwrap();
    assert_eq!(wire[..10], other[..10]);
    assert_ne!(wire[10..], other[10..]);
}

/// Packets that asyncssh 2.24 encrypted, under fixed keys. `tests/data/asyncssh_packets.py` writes the file.
#[test]
fn packets_of_asyncssh_are_opened_and_sealed_again() {
    let file: serde_json::Value =
        serde_json::from_str(include_str!("../data/asyncssh_packets.json")).unwrap();
    let mut suites = std::collections::BTreeSet::new();
    for case in file.as_array().unwrap() {
        let text = |name: &str| case[name].as_str().unwrap();
        let suite = Suite::from_ssh(text("cipher"), text("mac")).unwrap();
        suites.insert(suite.to_string());
        let (key, mac_key, iv) = (hex(text("key")), hex(text("mac_key")), hex(text("iv")));
        let sequence = case["sequence"].as_u64().unwrap();
        let material = ExposedKeys { key: &key, mac_key: &mac_key, iv: &iv, sequence };
        let mut opener = Opener::new(accelerator(), Keys::new(suite, &material).unwrap()).unwrap();
        let mut sealer = Sealer::new(accelerator(), Keys::new(suite, &material).unwrap()).unwrap();
        for packet in case["packets"].as_array().unwrap() {
            let (payload, wire) =
                (hex(packet["payload"].as_str().unwrap()), hex(packet["wire"].as_str().unwrap()));
            let mut opened = wire.clone();
            let Opened::Record(record) = opener.next(&mut opened).unwrap() else { panic!("{suite}") };
            assert_eq!(record.data, payload, "{suite}");
            let choices = RecordChoices { padding: Some(record.padding), ..RecordChoices::default() };
            let mut again = Vec::new();
            sealer.seal_with(Content::Packet, &[&payload], &choices, &mut again).unwrap();
            assert_eq!(again, wire, "{suite}");
        }
    }
    let all =
        Suite::ALL.into_iter().filter(|suite| suite.protocol() == oarlock_sockets::Protocol::Ssh).count();
    assert_eq!(suites.len(), all, "the file has every suite of SSH");
}

/// Sessions of OpenSSL 3.0 that `openssl.rs` recorded.
#[test]
fn recorded_sessions_of_openssl_are_opened_and_sealed_again() {
    let file: serde_json::Value = serde_json::from_str(include_str!("../data/tls_sessions.json")).unwrap();
    let mut suites = std::collections::BTreeSet::new();
    for session in file.as_array().unwrap() {
        let text = |name: &str| session[name].as_str().unwrap();
        let content = common::tls_session::check_session(&common::tls_session::TlsSession {
            to_server: hex(text("to_server")),
            to_client: hex(text("to_client")),
            key_log: text("key_log").to_owned(),
        });
        assert!(content.data[0].starts_with(b"hello\n") && content.data[1].starts_with(b"olleh\n"));
        suites.insert(content.suite.unwrap().to_string());
    }
    assert_eq!(suites.len(), 9);
}
