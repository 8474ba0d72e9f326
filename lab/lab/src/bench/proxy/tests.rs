//! Configurations that the real programs check, and reports of fixed numbers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use super::super::directory::BenchDirectory;
use super::super::handshake::ClientTlsGroup;
use super::super::plan::ServerKeyKind;
use super::args::ProxyBenchArgs;
use super::backend::{ECHO, PlainBackend, WRITE_LEN, bulk_request};
use super::plan::{OwnProxy, ProxyName, ProxyPeer};
use super::report::{self, MeasuredProxy};
use super::settings::{self, ProxySite};
use super::turns::{ProxyCpuUse, ProxyTurn};
use super::{stack, text};

/// The arguments as a command line.
#[derive(Parser)]
struct ProxyCommand {
    #[command(flatten)]
    args: ProxyBenchArgs,
}

fn args(words: &[&str]) -> ProxyBenchArgs {
    ProxyCommand::parse_from(["proxy"].iter().chain(words)).args
}

fn turn(amount: u64, proxy_us: u64, resumed: u64) -> ProxyTurn {
    ProxyTurn {
        amount,
        resumed,
        cpu: ProxyCpuUse { proxy_us, cryptoserver_us: None },
        elapsed: Duration::from_secs(1),
        p50_us: Some(2000.0),
        ..ProxyTurn::default()
    }
}

fn measured(name: ProxyName, turns: Vec<Vec<ProxyTurn>>) -> MeasuredProxy {
    MeasuredProxy { name, group: Some(ClientTlsGroup::X25519), turns, why_not: None }
}

/// Two proxies in two turns of two loads, and one that is absent.
fn sample() -> Vec<MeasuredProxy> {
    let (full, resumed) = (turn(2000, 1_000_000, 0), turn(4000, 500_000, 3000));
    let mut absent = MeasuredProxy::new(ProxyName::Peer(ProxyPeer::Nginx), 2);
    absent.why_not = Some("it has no stream module".to_owned());
    vec![
        measured(ProxyName::Own(OwnProxy::Lanes), vec![vec![full; 2], vec![resumed; 2]]),
        measured(
            ProxyName::Peer(ProxyPeer::Hitch),
            vec![vec![turn(500, 500_000, 0), turn(800, 1_000_000, 0)], vec![turn(100, 50_000, 0); 2]],
        ),
        absent,
    ]
}

#[test]
fn a_report_has_rates_ratios_and_reasons() {
    let args = args(&["--loads", "full,resumed", "--turns", "2", "--connections", "8"]);
    let rows = report::rows(&args, ServerKeyKind::Rsa2048, &sample());
    let expected = "\
TLS 1.3, 8 connections at once, one worker each; CPU: of all processes of the proxy, on one core; 2 turns
proxy          key      load     amount  /CPU s  CPU each   core      p50  resumed  errors
──────────────────────────────────────────────────────────────────────────────────────────
oarlock-lanes  rsa2048  full      4.00k   2.00k    500 µs  100 %  2.00 ms      0 %       0
hitch          rsa2048  full      1.30k   1.00k   1.00 ms   75 %  2.00 ms      0 %       0
nginx          rsa2048  full     absent
oarlock-lanes  rsa2048  resumed   8.00k   8.00k    125 µs   50 %  2.00 ms     75 %       0
hitch          rsa2048  resumed     200   2.00k    500 µs    5 %  2.00 ms      0 %       0
nginx          rsa2048  resumed  absent

Ratio of rates per CPU second: the median over turns, the lowest and the highest turn
proxy          key      load                hitch
─────────────────────────────────────────────────
oarlock-lanes  rsa2048  full     2.50 (2.00-2.50)
oarlock-lanes  rsa2048  resumed  4.00 (4.00-4.00)

nginx: not measured: it has no stream module
hitch rsa2048: it resumes no session of TLS 1.3
";
    assert_eq!(text::to_text(&args, &rows, false), expected);
    assert!(report::check(&rows).is_ok());
}

#[test]
fn a_report_of_a_hybrid_says_what_each_proxy_chose() {
    let args = args(&["--loads", "full,resumed", "--group", "x25519mlkem768"]);
    let mut proxies = sample();
    proxies[0].group = Some(ClientTlsGroup::X25519MlKem768);
    let rows = report::rows(&args, ServerKeyKind::Rsa2048, &proxies);
    let text = text::to_text(&args, &rows, false);
    // The table of these rows is wider than a terminal, so each row is a list.
    let exchanges: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("exchange  ")).collect();
    assert!(exchanges.starts_with(&["X25519MLKEM768"]) && exchanges.contains(&"X25519"), "{text}");
    let json = serde_json::to_value(&rows).unwrap();
    assert_eq!((&json[0]["group"], &json[1]["group"]), (&"x25519mlkem768".into(), &"x25519".into()));
    assert!(json[2]["group"].is_null(), "an absent proxy has none");
}

#[test]
fn json_has_a_row_for_absent_proxies_too() {
    let args = args(&["--loads", "full,resumed", "--tls", "1.2"]);
    let rows = report::rows(&args, ServerKeyKind::P256, &sample());
    let json = serde_json::to_value(&rows).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 6);
    let (first, absent) = (&json[0], &json[2]);
    assert_eq!((first["proxy"].as_str(), first["key"].as_str()), (Some("oarlock-lanes"), Some("p256")));
    assert_eq!((first["tls"].as_str(), first["unit"].as_str()), (Some("1.2"), Some("handshakes")));
    assert_eq!(first["rate_per_cpu_s"], 2000.0);
    assert_eq!(first["ratios"][0]["to"], "hitch");
    assert_eq!(first["ratios"][0]["median"], 2.5);
    assert!(first["why_not"].is_null());
    assert_eq!((absent["available"].as_bool(), absent["amount"].as_u64()), (Some(false), Some(0)));
    assert_eq!(absent["why_not"], "it has no stream module");
    assert!(first["cryptoserver_cpu_us"].is_null() && absent["cryptoserver_cpu_us"].is_null());
    assert!(absent["rate_per_cpu_s"].is_null() && absent["rate_per_s"].is_null());
}

#[test]
fn failed_connections_and_nothing_measured_are_errors() {
    let args = args(&["--loads", "full"]);
    let mut proxies = sample();
    proxies[1].turns[0][1] =
        ProxyTurn { errors: 3, first_error: "reset".to_owned(), ..turn(1, 1_000_000, 0) };
    let rows = report::rows(&args, ServerKeyKind::Rsa2048, &proxies);
    let error = report::check(&rows).unwrap_err().to_string();
    assert!(error.contains("3 connections") && error.contains("hitch: reset"), "{error}");
    assert!(
        text::to_text(&args, &rows, false)
            .contains("hitch rsa2048 full: 3 connections failed; the first: reset")
    );
    let rows = report::rows(&args, ServerKeyKind::Rsa2048, &proxies[2..]);
    assert!(report::check(&rows).unwrap_err().to_string().contains("no proxy"));
}

#[test]
fn a_turn_without_measurable_cpu_time_has_no_rate() {
    let proxies = [measured(ProxyName::Peer(ProxyPeer::Hitch), vec![vec![turn(1, 0, 0)]])];
    let rows = report::rows(&args(&["--loads", "full"]), ServerKeyKind::Rsa2048, &proxies);
    assert!(rows[0].available && rows[0].rate_per_cpu_s.is_none());
    assert!(text::to_svg(&rows).contains("too short a turn"));
}

#[test]
fn a_picture_compares_with_the_first_peer() {
    let args = args(&["--loads", "full,resumed"]);
    let svg = text::to_svg(&report::rows(&args, ServerKeyKind::Rsa2048, &sample()));
    for words in ["rsa2048 full", "rsa2048 resumed", "oarlock-lanes", "hitch", "absent", "2.00x"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
}

#[test]
fn nginx_needs_its_stream_module() {
    assert_eq!(settings::stream_module("configure arguments: --with-stream --with-x"), Ok(None));
    let missing = settings::stream_module("--modules-path=/nowhere --with-stream=dynamic").unwrap_err();
    assert!(missing.contains("/nowhere/ngx_stream_module.so") && missing.contains("apt-get"), "{missing}");
    assert!(settings::stream_module("--with-stream_ssl_module").is_err());
}

#[test]
fn own_proxies_differ_in_their_engines() {
    let site = site(Path::new("/bench"), Path::new("/bench/bundle.pem"));
    let line = |set_up| {
        let words = settings::own_arguments(set_up, Path::new("/bench/proxy.toml"));
        words.iter().map(|word| word.to_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let text = |set_up| settings::own_configuration(set_up, &site, Path::new("/bench/certificates"));
    assert!(text(OwnProxy::Keyless).ends_with("[cryptoserver]\nservers = [\"/bench/oarlock.sock\"]\n"));
    assert!(
        text(OwnProxy::Lanes) == text(OwnProxy::Scalar) && !text(OwnProxy::Lanes).contains("cryptoserver")
    );
    let rest = "--threads 1 proxy --config /bench/proxy.toml";
    assert_eq!(line(OwnProxy::Scalar), format!("--engines scalar {rest}"));
    assert_eq!(line(OwnProxy::Lanes), format!("--engines lanes,scalar {rest}"));
}

fn site<'a>(directory: &'a Path, bundle: &'a Path) -> ProxySite<'a> {
    let is_root = rustix::process::geteuid().is_root();
    ProxySite { directory, port: 8443, backend: 8080, bundle, connections: 64, is_root, stream_module: None }
}

/// Lets each program check its configuration. A program that is not installed is skipped.
#[test]
fn programs_accept_their_configurations() {
    let directory = BenchDirectory::new(None).unwrap();
    let identity = directory.identity("p256", ServerKeyKind::P256).unwrap();
    let bundle = identity.directory.join("bundle.pem");
    std::fs::write(&bundle, identity.bundle().as_bytes()).unwrap();
    for peer in ProxyPeer::value_variants() {
        let name = ProxyName::Peer(*peer);
        let Some(program) = name.program().path() else {
            eprintln!("SKIPPED: {name} is not installed");
            continue;
        };
        let module = if *peer == ProxyPeer::Nginx { stack::stream_module(&program) } else { Ok(None) };
        let module = match module {
            Ok(module) => module,
            Err(error) => {
                eprintln!("SKIPPED: {name}: {error}");
                continue;
            }
        };
        let mut site = site(&identity.directory, &bundle);
        site.stream_module = module.as_deref();
        let file = identity.directory.join(format!("{name}.conf"));
        std::fs::write(&file, settings::configuration(*peer, &site)).unwrap();
        let Some(arguments) = settings::check_arguments(*peer, &identity.directory, &file) else { continue };
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_backend_echoes_and_sends_in_bulk() {
    let backend = PlainBackend::start().unwrap();
    let ask = |request: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", backend.port)).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    };
    assert_eq!(ask(&ECHO), ECHO);
    assert_eq!(ask(&bulk_request(3)).len(), 3 * WRITE_LEN);
}
