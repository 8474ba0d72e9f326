//! Tests of single calls over plain HTTP, as `curl` and clients of Connect make them.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::HeaderMap;
use hyper::{Request, StatusCode};
use oarlock::keys::{export, generate};
use oarlock::{MlDsaSet, MlKemSet};
use oarlock_server::config::{AuditConfig, AuditFailure};
use oarlock_wire::Message as _;
use oarlock_wire::proto::cryptoserver_client::CryptoserverClient;
use oarlock_wire::proto::{DecryptRequest, MacRequest, MacResponse};
use serde_json::{Value, json};
use tonic::body::Body;
use tonic::codegen::Service as _;
use tonic::transport::Channel;

use crate::test_server::{TestServer, write_secret};

const KEYS: &str = concat!(
    "{\"name\":\"cards\",\"type\":\"aes128\",\"hex\":\"000102030405060708090a0b0c0d0e0f\"}\n",
    "{\"name\":\"codes\",\"type\":\"hmac\",\"hex\":\"000102030405060708090a0b0c0d0e0f\"}\n",
    "{\"name\":\"numbers\",\"type\":\"aes128\",\"hex\":\"2b7e151628aed2a6abf7158809cf4f3c\",\"algorithms\":[\"ff1\"]}\n",
);

async fn server() -> TestServer {
    TestServer::with(|config, directory| {
        config.grants[0].clients.push("loopback".into());
        config.limits.max_message_bytes = 1 << 20;
        config.limits.max_unary_bytes = 1 << 18;
        config.limits.max_bytes_per_client = 4 << 20;
        config.audit = Some(AuditConfig::at(directory.join("audit.jsonl"), AuditFailure::Stop));
        write_secret(config.keys.records.as_deref().unwrap(), KEYS);
        let keys = config.keys.directory.as_deref().unwrap();
        let (kem, dsa) = (generate::ml_kem(MlKemSet::MlKem768), generate::ml_dsa(MlDsaSet::MlDsa44));
        for (name, key) in [("kem", kem.unwrap()), ("dsa", dsa.unwrap())] {
            let pem = export::private_pkcs8_pem(&key).unwrap();
            write_secret(&keys.join(format!("{name}.pem")), &*pem);
        }
    })
    .await
}

/// The answer to a request.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Returns the code and the message of an error.
    fn error(&self) -> (StatusCode, String, String) {
        let error = self.json();
        let [code, message] = ["code", "message"].map(|name| error[name].as_str().unwrap().to_owned());
        (self.status, code, message)
    }
}

struct Client(Channel);

impl Client {
    async fn new(server: &TestServer) -> Self {
        let url = format!("http://{}", server.addresses.plaintext.unwrap());
        Self(Channel::from_shared(url).unwrap().connect().await.unwrap())
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let request = Request::builder().method(method).uri(path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Body::new(Full::new(body.into()))).unwrap();
        poll_fn(|context| self.0.poll_ready(context)).await.unwrap();
        let (head, body) = self.0.call(request).await.unwrap().into_parts();
        Answer { status: head.status, headers: head.headers, body: body.collect().await.unwrap().to_bytes() }
    }

    async fn post(&mut self, name: &str, body: impl Into<Bytes>) -> Answer {
        let path = format!("/oarlock.v1.Cryptoserver/{name}");
        self.send("POST", &path, &[("content-type", "application/json; charset=utf-8")], body).await
    }

    /// Makes a call that succeeds.
    async fn call(&mut self, name: &str, request: Value) -> Value {
        let answer = self.post(name, request.to_string()).await;
        assert_eq!(answer.status, StatusCode::OK, "{name}: {:?}", answer.body);
        answer.json()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_calls_take_and_give_json() {
    let server = server().await;
    let mut client = Client::new(&server).await;
    let sealed =
        client.call("Encrypt", json!({"key": "cards", "plaintexts": ["aGVsbG8=", ""], "aad": "cm93"})).await;
    assert_eq!(sealed["ciphertexts"].as_array().unwrap().len(), 2);
    let opened = client
        .call("Decrypt", json!({"key": "cards", "ciphertexts": sealed["ciphertexts"], "aad": "cm93"}))
        .await;
    assert_eq!(opened["plaintexts"], json!(["aGVsbG8=", ""]));

    let codes = client.call("Mac", json!({"key": "codes", "messages": ["aGVsbG8="]})).await;
    let verified =
        json!({"key": "codes", "messages": ["aGVsbG8=", "aGVsbG8="], "macs": [codes["macs"][0], "AAAA"]});
    assert_eq!(client.call("VerifyMac", verified).await["areValid"], json!([true, false]));

    let tokens = client.call("Tokenise", json!({"key": "numbers", "texts": ["4111111111111111"]})).await;
    let back = client.call("Detokenise", json!({"key": "numbers", "texts": tokens["texts"]})).await;
    assert_eq!(back["texts"], json!(["4111111111111111"]));

    let scheme = json!({"kind": "ECDSA_SIGN", "digest": "SHA256"});
    let signed = client.call("Sign", json!({"key": "p256", "scheme": scheme, "message": "aGVsbG8="})).await;
    let scheme = json!({"kind": "ECDSA_VERIFY", "digest": "SHA256"});
    let mut verify = json!({"resident": "p256", "scheme": scheme, "message": "aGVsbG8=", "signature": signed["signature"]});
    assert_eq!(client.call("Verify", verify.clone()).await, json!({"isValid": true}));
    verify["message"] = json!("aGVsbG8h");
    assert_eq!(client.call("Verify", verify).await, json!({"isValid": false}));

    let encapsulated = client.call("Encapsulate", json!({"resident": "kem"})).await;
    let decapsulate = json!({"key": "kem", "ciphertext": encapsulated["ciphertext"]});
    let decapsulated = client.call("Decapsulate", decapsulate).await;
    assert_eq!(decapsulated, json!({"sharedSecret": encapsulated["sharedSecret"]}));
    let short = client.post("Decapsulate", r#"{"key": "kem", "ciphertext": "AAAA"}"#).await.error();
    assert_eq!((short.0, &*short.1), (StatusCode::BAD_REQUEST, "invalid_argument"));
    let variant = json!({"kind": "ML_DSA_SIGN", "mlDsaVariant": "PRE_HASH", "digest": "SHA512_256"});
    let sign = json!({"key": "dsa", "scheme": variant, "message": "aGVsbG8=", "context": "bWFpbA=="});
    let signed = client.call("Sign", sign).await;
    let variant = json!({"kind": "ML_DSA_VERIFY", "mlDsaVariant": "PRE_HASH", "digest": "SHA512_256"});
    let mut verify = json!({
        "resident": "dsa", "scheme": variant, "message": "aGVsbG8=", "context": "bWFpbA==",
        "signature": signed["signature"],
    });
    assert_eq!(client.call("Verify", verify.clone()).await, json!({"isValid": true}));
    verify["context"] = json!("");
    assert_eq!(client.call("Verify", verify).await, json!({"isValid": false}));

    let key = client.call("GetPublicKey", json!({"name": "p256"})).await;
    assert_eq!(key["name"], "p256");
    let health =
        client.send("POST", "/grpc.health.v1.Health/Check", &[("content-type", "application/json")], "{}");
    assert_eq!(health.await.json(), json!({"status": "SERVING"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_and_grpc_are_the_same_service() {
    let server = server().await;
    let mut client = Client::new(&server).await;
    let mut grpc = CryptoserverClient::new(client.0.clone());
    let sealed = client.call("Encrypt", json!({"key": "cards", "plaintexts": ["aGVsbG8="]})).await;
    // The ciphertext is taken from the binary form of the same call, in which nothing is base64.
    let request = MacRequest { key: "codes".into(), messages: vec!["hello".into()], ..MacRequest::default() };
    let path = "/oarlock.v1.Cryptoserver/Mac";
    let headers = [("content-type", "application/proto")];
    let binary = client.send("POST", path, &headers, request.encode_to_vec()).await;
    assert_eq!(
        (binary.status, &binary.headers["content-type"]),
        (StatusCode::OK, &"application/proto".parse().unwrap())
    );
    let expected = grpc.mac(request).await.unwrap().into_inner();
    assert_eq!(MacResponse::decode(binary.body).unwrap(), expected);

    let request = json!({"key": "cards", "ciphertexts": sealed["ciphertexts"]});
    assert_eq!(client.call("Decrypt", request).await["plaintexts"], json!(["aGVsbG8="]));
    let absent =
        DecryptRequest { key: "absent".into(), ciphertexts: vec!["x".into()], ..DecryptRequest::default() };
    let status = grpc.decrypt(absent).await.unwrap_err();
    let refused = client.post("Decrypt", r#"{"key": "absent", "ciphertexts": ["eA=="]}"#).await.error();
    let expected = (StatusCode::FORBIDDEN, "permission_denied".to_owned(), status.message().to_owned());
    assert_eq!(refused, expected);

    let directory = server.directory.path().join("audit.jsonl");
    let mut server = server;
    server.stop().await;
    let audit = std::fs::read_to_string(directory).unwrap();
    for (key, count) in [("\"codes\"", 2), ("\"absent\"", 2), ("\"cards\"", 2)] {
        let entries = audit.lines().filter(|line| line.contains("\"operation\"") && line.contains(key));
        let entries: Vec<_> = entries.collect();
        assert_eq!(entries.len(), count, "{audit}");
        assert!(entries.iter().all(|entry| entry.contains("\"client\":[\"loopback\"]")), "{audit}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mistakes_are_answered_with_a_status_and_a_reason() {
    let server = server().await;
    let mut client = Client::new(&server).await;
    let mut expect =
        async |method: &str, path: &str, headers: &[(&str, &str)], body: &str, wanted: (u16, &str, &str)| {
            let answer = client.send(method, path, headers, body.to_owned()).await;
            let (status, code, message) = answer.error();
            assert_eq!((status.as_u16(), code.as_str()), (wanted.0, wanted.1), "{message}");
            assert!(message.contains(wanted.2), "{message}");
            answer.headers
        };
    let json = [("content-type", "application/json")];
    let mac = "/oarlock.v1.Cryptoserver/Mac";
    expect("POST", mac, &json, "{", (400, "invalid_argument", "line 1, column 1")).await;
    expect("POST", mac, &json, "", (400, "invalid_argument", "line 1, column 0")).await;
    expect("POST", mac, &json, r#"{"mesages": []}"#, (400, "invalid_argument", "no field \"mesages\"")).await;
    expect("POST", mac, &json, "{}", (400, "invalid_argument", "messages is missing")).await;
    expect("POST", "/", &json, "{}", (404, "unimplemented", "\"/\"")).await;
    for batch in ["Stream", "Process"] {
        let path = format!("/oarlock.v1.Cryptoserver/{batch}");
        expect("POST", &path, &json, "{}", (404, "unimplemented", "need gRPC")).await;
    }
    let headers = expect("GET", mac, &[], "", (405, "unimplemented", "expected POST")).await;
    assert_eq!(headers["allow"], "POST");
    // A browser asks so before it sends JSON for a page of another origin. It gets no permission.
    let origin = [("origin", "https://stranger.example"), ("access-control-request-method", "POST")];
    let headers = expect("OPTIONS", mac, &origin, "", (405, "unimplemented", "expected POST")).await;
    assert!(headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{headers:?}");
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let headers = expect("POST", mac, &form, "{}", (415, "unimplemented", "expected application/json")).await;
    assert!(headers["accept-post"].to_str().unwrap().contains("application/json"));
    let zipped = [json[0], ("content-encoding", "gzip")];
    expect("POST", mac, &zipped, "{}", (501, "unimplemented", "expected identity")).await;
    let sign = "/oarlock.v1.Cryptoserver/Sign";
    let expected = r#"field "scheme": expected an object such as {"kind":"ECDSA_SIGN","digest":"SHA256"}"#;
    expect("POST", sign, &json, r#"{"scheme": "ecdsa"}"#, (400, "invalid_argument", expected)).await;
    let padding = "x".repeat(20 << 10);
    let long_headers = [json[0], ("x-padding", padding.as_str())];
    expect("POST", mac, &long_headers, "{}", (431, "resource_exhausted", "expected 16384 at most")).await;
    let long = format!(r#"{{"key": "codes", "messages": ["{}"]}}"#, "AAAA".repeat(70_000));
    expect("POST", mac, &json, &long, (429, "resource_exhausted", "max_unary_bytes")).await;
}

/// The list is refused where it becomes too long: nothing of it is held, and no thread reads its rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_is_too_long_is_not_built() {
    let server = server().await;
    let mut client = Client::new(&server).await;
    let many = format!(r#"{{"key": "codes", "messages": [{}""]}}"#, r#""","#.repeat(80_000));
    let (status, code, message) = client.post("Mac", many).await.error();
    assert_eq!((status.as_u16(), code.as_str()), (400, "invalid_argument"), "{message}");
    assert!(message.contains("field \"messages\": more than 1024 elements"), "{message}");
    // A long text is read and written on another thread, at the turn of its client.
    let long = "AAAA".repeat(10_000);
    let sealed = client.call("Encrypt", json!({"key": "cards", "plaintexts": [long]})).await;
    let opening = json!({"key": "cards", "ciphertexts": sealed["ciphertexts"]});
    assert_eq!(client.call("Decrypt", opening).await["plaintexts"], json!([long]));
}

/// A frame of HTTP/2. RFC 9113 4.1.
fn http2_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Reads frames until one satisfies `is_last`. Returns their kinds, flags and streams.
fn frames_until(stream: &mut TcpStream, is_last: impl Fn(u8, u8, u32) -> bool) -> Vec<(u8, u8, u32)> {
    let mut frames = Vec::new();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        let [first, second, third, kind, flags, id @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, first, second, third]) as usize];
        stream.read_exact(&mut payload).unwrap();
        let id = u32::from_be_bytes(id);
        frames.push((kind, flags, id));
        if is_last(kind, flags, id) {
            return frames;
        }
    }
}

/// Many clients take an answer for a broken stream if the stream ends before they have sent their request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_early_refusal_lets_its_request_end() {
    let server = server().await;
    let mut stream = TcpStream::connect(server.addresses.plaintext.unwrap()).unwrap();
    let literal = |name: &str, value: &str| {
        [&[0, name.len() as u8][..], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
    };
    let fields = [
        literal(":method", "POST"),
        literal(":scheme", "http"),
        literal(":authority", "localhost"),
        literal(":path", "/oarlock.v1.Cryptoserver/Mac"),
        literal("content-type", "text/plain"),
    ];
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&http2_frame(SETTINGS, 0, 0, &[])).unwrap();
    stream.write_all(&http2_frame(HEADERS, END_HEADERS, 1, &fields.concat())).unwrap();
    for _ in 0..20 {
        stream.write_all(&http2_frame(DATA, 0, 1, &[b'x'; 1000])).unwrap();
        stream.write_all(&http2_frame(PING, 0, 0, &[0; 8])).unwrap();
        let heard = frames_until(&mut stream, |kind, flags, _| (kind, flags) == (PING, 1));
        assert!(heard.iter().all(|(kind, ..)| *kind != RESET), "{heard:?}");
    }
    stream.write_all(&http2_frame(DATA, END_STREAM, 1, b"")).unwrap();
    let heard = frames_until(&mut stream, |_, flags, id| id == 1 && flags & END_STREAM != 0);
    assert!(heard.iter().any(|(kind, _, id)| (*kind, *id) == (HEADERS, 1)), "{heard:?}");
    stream.write_all(&http2_frame(PING, 0, 0, &[0; 8])).unwrap();
    let heard = frames_until(&mut stream, |kind, flags, _| (kind, flags) == (PING, 1));
    assert!(heard.iter().all(|(kind, ..)| *kind != RESET), "{heard:?}");
}

/// The statuses by which clients of gRPC know whose fault it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_grpc_that_cannot_be_read_have_the_status_of_a_client_s_fault() {
    let server = server().await;
    let mut client = Client::new(&server).await;
    let headers = [("content-type", "application/grpc"), ("te", "trailers")];
    let garbage = [&[0_u8, 0, 0, 0, 5][..], &[0xff; 5]].concat();
    let too_long = [&[0_u8, 0, 0x20, 0, 0][..], &[0; 64]].concat();
    for (body, status) in [(garbage, "3"), (too_long, "8")] {
        let answer = client.send("POST", "/oarlock.v1.Cryptoserver/Mac", &headers, body.clone()).await;
        assert_eq!(answer.headers["grpc-status"], status, "{:?}", answer.headers);
        let binary = [("content-type", "application/proto")];
        let answer = client.send("POST", "/oarlock.v1.Cryptoserver/Mac", &binary, body[5..].to_vec()).await;
        assert!(answer.status.is_client_error(), "{}", answer.status);
    }
    let mut grpc = CryptoserverClient::new(client.0.clone());
    let mut request = tonic::Request::new(MacRequest::default());
    request.metadata_mut().insert("x-padding", "x".repeat(20 << 10).parse().unwrap());
    let status = grpc.mac(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::ResourceExhausted, "{status}");
    assert!(status.message().contains("metadata"), "{status}");
}
