//! HAProxy in TCP mode before two cryptoservers, with packaging/haproxy.cfg. TLS goes through it.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::program::peers::has;
use crate::program::{code, command, stderr};
use crate::served::Served;
use oarlock_server::development::Development;

const CONFIG: &str = include_str!("../../../../../packaging/haproxy.cfg");

/// A process that ends with the test.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server with the keys and certificates of another state.
fn sibling(first: &Path, state: &Path) -> Served {
    let (from, development) = (Development::at(first), Development::at(state));
    development.prepare().unwrap();
    for name in ["ca.pem", "server.pem", "server-key.pem"] {
        fs::copy(first.join(name), state.join(name)).unwrap();
    }
    for file in fs::read_dir(from.keys()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), development.keys().join(file.file_name())).unwrap();
    }
    crate::served::with_metrics(state, "", |_| {})
}

fn port(served: &Served, listener: &str) -> u16 {
    served.said[listener].as_str().unwrap().parse::<SocketAddr>().unwrap().port()
}

/// Signs through the proxy, with the certificate of the first state.
fn sign(proxy: u16, state: &Path) -> Output {
    let server = format!("https://localhost:{proxy}");
    let sign = ["call", "--server", &server, "--state"];
    let mut command = command(&sign);
    command.arg(state).args(["sign", "--key", "ed25519", "--in", "/dev/null", "--hex"]);
    command.output().unwrap()
}

/// Signs until it works: HAProxy needs two checks to learn that a server is up. A test that waits for minutes has
/// failed.
fn sign_until_it_works(proxy: u16, state: &Path) {
    let began = Instant::now();
    loop {
        let output = sign(proxy, state);
        if code(&output) == 0 {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{}", stderr(&output));
    }
}

#[test]
fn clients_reach_whichever_server_is_up() {
    if !has("haproxy") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let first = crate::served::with_metrics(&one, "", |_| {});
    let mut second = sibling(&one, &two);
    let proxy = oarlock_measure::ports::free_port().unwrap();
    let mut config = CONFIG.replace("bind :7443", &format!("bind 127.0.0.1:{proxy}"));
    for (line, served) in
        [("server one 10.0.0.1:7443 port 9464", &first), ("server two 10.0.0.2:7443 port 9464", &second)]
    {
        assert!(config.contains(line));
        let name = &line[..10];
        let (tcp, metrics) = (port(served, "tcp"), port(served, "metrics"));
        config = config.replace(line, &format!("{name} 127.0.0.1:{tcp} port {metrics}"));
    }
    config = config.replace("    server three 10.0.0.3:7443 port 9464\n", "");
    let path = folder.path().join("haproxy.cfg");
    fs::write(&path, config).unwrap();
    let haproxy = if Path::new("/usr/sbin/haproxy").exists() { "/usr/sbin/haproxy" } else { "haproxy" };
    let mut started = Command::new(haproxy);
    started.arg("-db").arg("-f").arg(&path).stdout(Stdio::null()).stderr(Stdio::null());
    let _haproxy = Guarded(started.spawn().unwrap());

    sign_until_it_works(proxy, &one);
    // One server is killed without a word; the other has all clients after that.
    second.child.kill().unwrap();
    second.child.wait().unwrap();
    sign_until_it_works(proxy, &one);
    for _ in 0..4 {
        sign_until_it_works(proxy, &one);
    }
    // A client without a certificate of the authority is refused by the server, not by the proxy.
    let stranger = folder.path().join("stranger");
    Development::at(&stranger).prepare().unwrap();
    assert_eq!(code(&sign(proxy, &stranger)), 3);
    drop(first);
}
