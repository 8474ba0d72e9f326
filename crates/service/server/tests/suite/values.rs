//! Tests of calls with one value or a few, and of the versions of their keys.

use bytes::Bytes;
use oarlock_wire::ServerLink;
use oarlock_wire::proto::cryptoserver_client::CryptoserverClient;
use oarlock_wire::proto::{
    DecryptRequest, EncryptRequest, ListKeysRequest, MacRequest, RewrapRequest, Scheme, TokenFormat,
    TokeniseRequest, VerifyMacRequest,
};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::test_server::{TestServer, open_resident, write_secret};

type Client = CryptoserverClient<Channel>;

fn line(name: &str, key_type: &str, byte: u8, len: usize, more: &str) -> String {
    let hex = format!("{byte:02x}").repeat(len);
    format!("{{\"name\":\"{name}\",\"type\":\"{key_type}\",\"hex\":\"{hex}\"{more}}}\n")
}

/// The keys of the tests. Each of `cards`, `codes` and `numbers` has had two versions before, and the first of `codes`
/// is below the minimum.
fn keys() -> String {
    let third = |more: &str| format!(",\"version\":3{more}");
    [
        line("cards", "aes256", 3, 32, &third(",\"algorithms\":[\"gcm\"]")),
        line("cards@2", "aes256", 2, 32, ",\"algorithms\":[\"gcm\"]"),
        line("codes", "hmac", 6, 32, &third(",\"min_version\":2")),
        line("codes@1", "hmac", 4, 32, ""),
        line("codes@2", "hmac", 5, 32, ""),
        line("short", "hmac", 7, 32, ",\"mac_length\":8"),
        "{\"name\":\"payments\",\"type\":\"tdes2\",\"hex\":\"89abcdef0123456776543210fedcba98\",".to_owned(),
        "\"algorithms\":[\"retail-mac\"],\"mac_length\":4}\n".to_owned(),
        line("numbers", "aes128", 9, 16, &third(",\"algorithms\":[\"ff1\"]")),
        line("numbers@2", "aes128", 8, 16, ",\"algorithms\":[\"ff1\"]"),
        line("joined", "aes128-siv", 10, 32, ""),
        "{\"name\":\"blocks\",\"type\":\"tdes2\",\"hex\":\"0123456789abcdeffedcba9876543210\"}\n".to_owned(),
    ]
    .concat()
}

async fn server() -> TestServer {
    server_with(&keys()).await
}

async fn server_with(keys: &str) -> TestServer {
    TestServer::with(|config, _| {
        config.grants[0].clients.push("loopback".into());
        write_secret(config.keys.records.as_deref().unwrap(), keys);
    })
    .await
}

async fn client(server: &TestServer) -> Client {
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    CryptoserverClient::new(Channel::from_shared(url).unwrap().connect().await.unwrap())
}

fn bytes(values: &[&'static [u8]]) -> Vec<Bytes> {
    values.iter().map(|value| Bytes::from_static(value)).collect()
}

fn encrypt(key: &str, plaintexts: &[&'static [u8]]) -> EncryptRequest {
    EncryptRequest { key: key.into(), plaintexts: bytes(plaintexts), ..Default::default() }
}

fn decrypt(key: &str, ciphertexts: Vec<Bytes>) -> DecryptRequest {
    DecryptRequest { key: key.into(), ciphertexts, ..Default::default() }
}

/// Checks the code and a part of the message.
fn assert_refused<T: std::fmt::Debug>(answer: Result<T, Status>, code: Code, part: &str) {
    let status = answer.unwrap_err();
    assert!(status.code() == code && status.message().contains(part), "{status:?}");
}

#[tokio::test]
async fn values_of_every_cipher_come_back() {
    let server = server().await;
    let mut client = client(&server).await;
    let whole: &[&[u8]] = &[b"", b"16 bytes in all.", b"a value of 24 bytes now."];
    for (key, algorithm, overhead) in [
        ("cards", "", 28),
        ("cards", "aes256-gcm", 28),
        ("joined", "", 16),
        ("joined", "aes128-siv", 16),
        ("blocks", "", 8),
    ] {
        let aad = Bytes::from_static(if key == "blocks" { b"" } else { b"column 7" });
        let request =
            EncryptRequest { algorithm: algorithm.into(), aad: aad.clone(), ..encrypt(key, &whole[..2]) };
        let sealed = client.encrypt(request).await.unwrap().into_inner();
        let lens: Vec<usize> = sealed.ciphertexts.iter().map(Bytes::len).collect();
        assert_eq!((lens, sealed.faults.len()), (vec![overhead, 16 + overhead], 0), "{key}");
        assert_eq!(sealed.key_version, if key == "cards" { 3 } else { 1 });
        let opening = DecryptRequest {
            algorithm: algorithm.into(),
            aad,
            key_version: sealed.key_version,
            ..decrypt(key, sealed.ciphertexts)
        };
        let opened = client.decrypt(opening).await.unwrap().into_inner();
        assert_eq!(opened.plaintexts, bytes(&whole[..2]), "{key}");
    }
}

/// An empty field is no associated data. Builds before 0.1.0 took it for an empty string under AES-SIV.
#[tokio::test]
async fn aes_siv_without_associated_data_is_that_of_rfc_5297() {
    let server = server().await;
    let mut client = client(&server).await;
    // By pyca: `encrypt(b"hello", None)` and `encrypt(b"hello", [b""])`, with the tag behind the ciphertext.
    let new: &[u8] = b"\xc8\xa8\x00\x5c\x19\xd6\xaf\x34\x66\xa7\xbe\xda\x84\xfe\x8a\x1c\x9b\x58\x6b\xb7\xad";
    let old: &[u8] = b"\x62\xb3\x3b\x55\x2a\x1c\x22\x3f\x0b\x1f\xea\x3b\x38\xf6\x4b\x06\xb7\x2d\xaf\x18\xfa";
    let sealed = client.encrypt(encrypt("joined", &[b"hello"])).await.unwrap().into_inner();
    assert_eq!(sealed.ciphertexts, [new]);
    let both = vec![Bytes::from_static(new), Bytes::from_static(old)];
    let opened = client.decrypt(decrypt("joined", both.clone())).await.unwrap().into_inner();
    assert_eq!((opened.plaintexts, opened.faults.len()), (bytes(&[b"hello", b"hello"]), 0));
    let request = RewrapRequest { key: "joined".into(), ciphertexts: both, ..Default::default() };
    let moved = client.rewrap(request).await.unwrap().into_inner();
    assert_eq!(moved.ciphertexts, [new, new]);
}

#[tokio::test]
async fn a_value_that_fails_fails_alone() {
    let server = server().await;
    let mut client = client(&server).await;
    let sealed = client.encrypt(encrypt("cards", &[b"one", b"two", b"three", b"four"])).await.unwrap();
    let mut ciphertexts = sealed.into_inner().ciphertexts;
    let mut changed = ciphertexts[1].to_vec();
    changed[13] ^= 1;
    ciphertexts[1] = changed.into();
    ciphertexts[2] = Bytes::from_static(b"27 bytes, one fewer than IV");
    let opened = client.decrypt(decrypt("cards", ciphertexts.clone())).await.unwrap().into_inner();
    assert_eq!(opened.plaintexts, bytes(&[b"one", b"", b"", b"four"]));
    let faults: Vec<(u32, i32)> = opened.faults.iter().map(|fault| (fault.index, fault.code)).collect();
    use oarlock_wire::proto::Code as WireCode;
    assert_eq!(faults, [(1, WireCode::Rejected as i32), (2, WireCode::Invalid as i32)]);
    assert!(opened.faults[1].message.contains("expected at least 28 bytes"), "{:?}", opened.faults);

    // A value alone fails the call.
    let alone = client.decrypt(decrypt("cards", ciphertexts[1..2].to_vec())).await;
    assert_refused(alone, Code::InvalidArgument, "");
    let short = client.decrypt(decrypt("cards", ciphertexts[2..3].to_vec())).await;
    assert_refused(short, Code::InvalidArgument, "expected at least 28 bytes");
    assert_refused(client.encrypt(encrypt("blocks", &[b"7 bytes"])).await, Code::InvalidArgument, "8 bytes");
}

/// Many values are computed by a worker, and not by the thread of the connection.
#[tokio::test]
async fn many_values_come_back_in_their_order_and_fail_alone() {
    let server = server().await;
    let mut client = client(&server).await;
    let values: Vec<Bytes> = (0..1000_u32).map(|value| value.to_be_bytes().to_vec().into()).collect();
    let request = EncryptRequest { plaintexts: values.clone(), ..encrypt("cards", &[]) };
    let sealed = client.encrypt(request).await.unwrap().into_inner();
    assert_eq!((sealed.ciphertexts.len(), sealed.faults.len()), (1000, 0));
    let mut ciphertexts = sealed.ciphertexts;
    let last = ciphertexts[999].clone();
    ciphertexts[500] = last;
    ciphertexts[700] = Bytes::from_static(&[0; 40]);
    let opened = client.decrypt(decrypt("cards", ciphertexts)).await.unwrap().into_inner();
    let mut expected = values.clone();
    expected[500] = values[999].clone();
    expected[700] = Bytes::new();
    assert_eq!(opened.plaintexts, expected);
    assert_eq!(opened.faults.iter().map(|fault| fault.index).collect::<Vec<_>>(), [700]);
}

#[tokio::test]
async fn wrong_requests_say_what_is_expected() {
    let server = server().await;
    let mut client = client(&server).await;
    let invalid = Code::InvalidArgument;
    assert_refused(client.encrypt(encrypt("", &[b"x"])).await, invalid, "key is missing");
    assert_refused(client.encrypt(encrypt("cards", &[])).await, invalid, "plaintexts is missing");
    let many = encrypt("cards", &[&b"x"[..]; 1025]);
    assert_refused(client.encrypt(many).await, invalid, "1025 values: expected 1024 at most");
    let unknown = EncryptRequest { algorithm: "aes".into(), ..encrypt("cards", &[b"x"]) };
    assert_refused(client.encrypt(unknown).await, invalid, "algorithm: expected one of des-cbc");
    let other = EncryptRequest { algorithm: "aes128-gcm".into(), ..encrypt("cards", &[b"x"]) };
    assert_refused(client.encrypt(other).await, invalid, "the key is aes256: expected aes256-gcm");
    let hmac = client.encrypt(encrypt("codes", &[b"x"])).await;
    assert_refused(hmac, invalid, "expected a key of AES or DES");
    assert_refused(client.encrypt(encrypt("rsa2048", &[b"x"])).await, invalid, "expected a symmetric key");
    let aad = EncryptRequest { aad: Bytes::from_static(b"x"), ..encrypt("blocks", &[b"8 bytes."]) };
    assert_refused(client.encrypt(aad).await, invalid, "CBC authenticates nothing");
    let denied = Code::PermissionDenied;
    assert_refused(client.encrypt(encrypt("nobody", &[b"x"])).await, denied, "no key of this name");
    let both = DecryptRequest { scheme: Some(Scheme::default()), ..decrypt("cards", bytes(&[b"x"])) };
    assert_refused(client.decrypt(both).await, invalid, "expected one of them");
    let twice = DecryptRequest { key_version: 3, ..decrypt("cards@2", bytes(&[b"x"])) };
    assert_refused(client.decrypt(twice).await, invalid, "the name says version 2");
}

#[tokio::test]
async fn only_the_newest_version_encrypts() {
    let server = server().await;
    let mut client = client(&server).await;
    let denied = Code::PermissionDenied;
    assert_refused(client.encrypt(encrypt("cards@2", &[b"x"])).await, denied, "");
    // No version 1 is left, and none beyond the newest has been.
    for gone in ["cards@1", "cards@4"] {
        let missing = client.decrypt(decrypt(gone, bytes(&[b"28 bytes are enough for this"]))).await;
        assert_refused(missing, Code::NotFound, "expected 1 to 3");
    }
    let newest = client.encrypt(encrypt("cards@3", &[b"x"])).await.unwrap().into_inner();
    assert_eq!(newest.key_version, 3);
    let opened = client.decrypt(decrypt("cards", newest.ciphertexts)).await.unwrap().into_inner();
    assert_eq!(opened.plaintexts, bytes(&[b"x"]));

    // A code of an older version can be verified, and not made: neither by a call nor on a stream.
    let mac = |key: &str| MacRequest { key: key.into(), messages: bytes(&[b"m"]), ..Default::default() };
    assert_refused(client.mac(mac("codes@2")).await, denied, "an older version");
    assert_refused(client.mac(mac("codes@1")).await, Code::NotFound, "expected 2 to 3");
    let made = client.mac(mac("codes")).await.unwrap().into_inner();
    assert_eq!((made.macs[0].len(), made.key_version), (32, 3));
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let info = open_resident(&link, 0, "codes@2").await;
    assert_eq!((info.version, info.min_version), (3, 2));

    let keys = client.list_keys(ListKeysRequest {}).await.unwrap().into_inner().keys;
    let names: Vec<&str> =
        keys.iter().map(|key| &*key.name).filter(|name| name.starts_with("codes")).collect();
    assert_eq!(names, ["codes", "codes@2"]);
}

#[tokio::test]
async fn codes_are_made_and_verified() {
    let server = server().await;
    let mut client = client(&server).await;
    let messages = bytes(&[b"one", b"two", b""]);
    let request = MacRequest { key: "codes".into(), messages: messages.clone(), ..Default::default() };
    let made = client.mac(request).await.unwrap().into_inner();
    assert!(made.macs.iter().all(|mac| mac.len() == 32));
    let verify = |macs: Vec<Bytes>, key_version| VerifyMacRequest {
        key: "codes".into(),
        messages: messages.clone(),
        macs,
        key_version,
        ..Default::default()
    };
    let mut macs = made.macs;
    let verified = client.verify_mac(verify(macs.clone(), 3)).await.unwrap().into_inner();
    assert_eq!((verified.are_valid, verified.faults.len()), (vec![true; 3], 0));
    let older = client.verify_mac(verify(macs.clone(), 2)).await.unwrap().into_inner();
    assert_eq!(older.are_valid, [false; 3]);
    macs[1] = macs[0].clone();
    macs[2] = Bytes::from_static(b"abc");
    let verified = client.verify_mac(verify(macs.clone(), 0)).await.unwrap().into_inner();
    assert_eq!(verified.are_valid, [true, false, false]);
    let fault = &verified.faults[0];
    assert!(fault.index == 2 && fault.message.contains("3 bytes: expected 32 bytes"), "{fault:?}");
    macs.pop();
    let unequal = client.verify_mac(verify(macs, 0)).await;
    assert_refused(unequal, Code::InvalidArgument, "2 macs: expected 3");
    let gone = client.verify_mac(verify(messages.clone(), 1)).await;
    assert_refused(gone, Code::NotFound, "expected 2 to 3");
}

/// A code that was guessed or seen in part must not grow to a whole one, byte by byte.
#[tokio::test]
async fn cut_codes_are_verified_in_the_one_length_of_their_key() {
    let server = server().await;
    let mut client = client(&server).await;
    let made = async |client: &mut Client, key: &str, algorithm: &str| {
        let (key, algorithm) = (key.into(), algorithm.into());
        let request = MacRequest { key, algorithm, messages: bytes(&[b"message"]), length: 0 };
        client.mac(request).await.unwrap().into_inner().macs.remove(0)
    };
    for (key, version, algorithm, whole, allowed) in [
        ("codes", 0, "hmac-sha256", 32, None),
        ("codes", 2, "hmac-sha256", 32, None),
        ("short", 0, "hmac-sha256", 32, Some(8)),
        ("short", 0, "hmac-sha1", 20, Some(8)),
        ("payments", 0, "retail-mac", 8, Some(4)),
    ] {
        // An older version makes no codes. A wrong one is enough to see which lengths are compared.
        let code = if version == 0 { made(&mut client, key, algorithm).await } else { vec![0; whole].into() };
        assert_eq!(code.len(), whole);
        for len in 1..=whole {
            for stated in [0, len as u32] {
                let request = VerifyMacRequest {
                    key: key.into(),
                    algorithm: algorithm.into(),
                    messages: bytes(&[b"message"]),
                    macs: vec![code.slice(..len)],
                    key_version: version,
                    length: stated,
                };
                let is_compared = len == whole || stated != 0 && Some(len) == allowed;
                match client.verify_mac(request).await {
                    Ok(answer) => {
                        assert!(is_compared, "{key} {algorithm}: {len} bytes, {stated} stated");
                        assert_eq!(answer.into_inner().are_valid, [version == 0]);
                    }
                    Err(status) => {
                        assert!(!is_compared, "{key} {algorithm}: {len} bytes: {status}");
                        let is_forbidden = status.code() == Code::PermissionDenied;
                        assert_eq!(is_forbidden, stated >= 4, "{status}");
                        assert!(status.message().contains("mac_length") || len < 4, "{status}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn rewrapped_values_are_under_the_newest_version() {
    // Before the rotation, the second version encrypts.
    let old = line("cards", "aes256", 2, 32, ",\"version\":2,\"algorithms\":[\"gcm\"]")
        + &line("joined", "aes128-siv", 10, 32, "");
    let mut server = server_with(&old).await;
    let mut client = client(&server).await;
    let aad = Bytes::from_static(b"row 1");
    let request = EncryptRequest { aad: aad.clone(), ..encrypt("cards", &[b"first", b"", b"third"]) };
    let sealed = client.encrypt(request).await.unwrap().into_inner();
    assert_eq!(sealed.key_version, 2);
    write_secret(server.config.keys.records.as_deref().unwrap(), keys());
    server.reloads.reload(server.config.clone()).await.unwrap();

    let rewrap = |ciphertexts: &[Bytes]| RewrapRequest {
        key: "cards".into(),
        ciphertexts: ciphertexts.to_vec(),
        aad: aad.clone(),
        key_version: 2,
        ..Default::default()
    };
    let mut damaged = sealed.ciphertexts.clone();
    damaged[1] = Bytes::from_static(b"short");
    damaged[2] = Bytes::copy_from_slice(&sealed.ciphertexts[2][..28]);
    let renewed = client.rewrap(rewrap(&damaged)).await.unwrap().into_inner();
    let faults: Vec<u32> = renewed.faults.iter().map(|fault| fault.index).collect();
    assert_eq!((renewed.key_version, faults), (3, vec![1, 2]));
    let renewed = client.rewrap(rewrap(&sealed.ciphertexts)).await.unwrap().into_inner();
    let opening =
        DecryptRequest { aad: aad.clone(), key_version: 3, ..decrypt("cards", renewed.ciphertexts.clone()) };
    let opened = client.decrypt(opening).await.unwrap().into_inner();
    assert_eq!(opened.plaintexts, bytes(&[b"first", b"", b"third"]));

    // Under another key and another cipher.
    let moved = RewrapRequest { to_key: "joined".into(), key_version: 0, ..rewrap(&renewed.ciphertexts) };
    let moved = client.rewrap(moved).await.unwrap().into_inner();
    let opening = DecryptRequest { aad, ..decrypt("joined", moved.ciphertexts) };
    let opened = client.decrypt(opening).await.unwrap().into_inner();
    assert_eq!(opened.plaintexts, bytes(&[b"first", b"", b"third"]));
    server.stop().await;
}

#[tokio::test]
async fn tokens_keep_the_format_and_come_back() {
    let server = server().await;
    let mut client = client(&server).await;
    let format = TokenFormat { keep_first: 6, has_luhn_digit: true, ..Default::default() };
    let request = |key: &str, texts: &[&str]| TokeniseRequest {
        key: key.into(),
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        format: Some(format.clone()),
        tweak: Bytes::from_static(b"cards"),
        key_version: 0,
    };
    let cards = ["4111111111111111", "4111111111111112", "5555555555554444", "411111111-111111"];
    let made = client.tokenise(request("numbers", &cards)).await.unwrap().into_inner();
    assert_eq!(made.key_version, 3);
    assert!(made.texts[0].starts_with("411111") && made.texts[0].len() == 16 && made.texts[0] != cards[0]);
    let faults: Vec<u32> = made.faults.iter().map(|fault| fault.index).collect();
    assert_eq!((faults, &*made.texts[1], &*made.texts[3]), (vec![1, 3], "", ""));
    assert!(made.faults[0].message.contains("Luhn") && made.faults[1].message.contains("character 10"));

    let tokens = [&*made.texts[0], &made.texts[2]];
    let restored = client.detokenise(request("numbers", &tokens)).await.unwrap().into_inner();
    assert_eq!(restored.texts, [cards[0], cards[2]]);
    let older = TokeniseRequest { key_version: 2, ..request("numbers", &tokens) };
    let restored = client.detokenise(older).await.unwrap().into_inner();
    assert_ne!(restored.texts, [cards[0], cards[2]]);
    assert_refused(client.tokenise(request("numbers@2", &cards[..1])).await, Code::PermissionDenied, "");
    let letters = TokenFormat { alphabet: "letters".into(), ..Default::default() };
    let unknown = TokeniseRequest { format: Some(letters), ..request("numbers", &cards[..1]) };
    assert_refused(
        client.tokenise(unknown).await,
        Code::InvalidArgument,
        "format.alphabet: unknown alphabet",
    );
    let wrong = client.tokenise(request("codes", &cards[..1])).await;
    assert_refused(wrong, Code::InvalidArgument, "expected aes128 or aes256");
}

/// An old file of keys that is put back would make the server encrypt under a version that was replaced.
#[tokio::test]
async fn an_old_file_that_is_put_back_is_refused() {
    let server = server().await;
    let mut client = client(&server).await;
    let path = server.config.keys.records.clone().unwrap();
    let second = line("cards", "aes256", 2, 32, ",\"version\":2,\"algorithms\":[\"gcm\"]");
    let never = line("cards", "aes256", 1, 32, ",\"algorithms\":[\"gcm\"]");
    let left = line("cards@1", "aes256", 1, 32, "") + &line("cards@2", "aes256", 2, 32, "");
    for (old, found) in [(&second, 2), (&never, 1), (&left, 2)] {
        write_secret(&path, old);
        let error = server.reloads.reload(server.config.clone()).await.unwrap_err().to_string();
        assert!(error.contains(&format!("is {found}, and was 3: an old file was put back")), "{error}");
        let sealed = client.encrypt(encrypt("cards", &[b"x"])).await.unwrap().into_inner();
        assert_eq!(sealed.key_version, 3);
    }
    // A key may be removed, and others stay.
    write_secret(&path, line("joined", "aes128-siv", 10, 32, ""));
    server.reloads.reload(server.config.clone()).await.unwrap();
    assert_refused(client.encrypt(encrypt("cards", &[b"x"])).await, Code::PermissionDenied, "no key");
    client.encrypt(encrypt("joined", &[b"x"])).await.unwrap();
}
