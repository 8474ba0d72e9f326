//! The CPU time of a byte in SSH: sealing and opening packets of 32 KiB here, beside OpenSSH's client and server.
//!
//! `cargo bench -p oarlock-sockets --bench ssh -- [MIB]` prints a row for each cipher: nanoseconds per byte here, and
//! for `ssh` and `sshd` together, which also encrypt and decrypt each byte once but do system calls and copies too.
//! OpenSSH is left out if the machine does not have it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench that panics has failed")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use cpu_time::ThreadTime;
use oarlock::Accelerator;
use oarlock_sockets::{Content, ExposedKeys, Keys, Opened, Opener, Sealer, Suite};

type Fault = Box<dyn Error>;

const PAYLOAD: usize = 32 << 10;
const SSHD: &str = "/usr/sbin/sshd";

/// The bytes that OpenSSH sends, in MiB, and the packets that are sealed here.
const MIB: usize = 512;
const PACKETS: usize = 4096;

/// The names of OpenSSH: cipher and MAC.
const CIPHERS: [[&str; 2]; 4] = [
    ["chacha20-poly1305@openssh.com", "hmac-sha2-256"],
    ["aes128-gcm@openssh.com", "hmac-sha2-256"],
    ["aes256-gcm@openssh.com", "hmac-sha2-256"],
    ["aes128-ctr", "hmac-sha2-256-etm@openssh.com"],
];

fn main() -> Result<(), Fault> {
    // `cargo test` runs this program too, without this argument. Then a few packets show that it works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let mib = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(MIB);
    let packets = if is_bench { PACKETS } else { 32 };
    let has_openssh = is_bench && Path::new(SSHD).exists() && Path::new("/usr/bin/ssh").exists();
    if is_bench && !has_openssh {
        eprintln!("SKIPPED: no OpenSSH (Debian and Ubuntu: apt-get install openssh-server openssh-client)");
    }
    let accelerator = Accelerator::new()?;
    println!("{:32}{:>12}{:>12}{:>9}", "ns per byte, seal and open", "Oarlock", "OpenSSH", "ratio");
    for [cipher, mac] in CIPHERS {
        let suite = Suite::from_ssh(cipher, mac).ok_or("a suite")?;
        let oarlock = seal_and_open(&accelerator, suite, packets)?;
        print!("{cipher:32}{oarlock:12.3}");
        if has_openssh {
            let openssh = openssh(cipher, mac, mib)?;
            print!("{openssh:12.3}{:9.2}", openssh / oarlock);
        }
        println!();
    }
    Ok(())
}

/// Returns both ends of a connection with sample keys.
fn ends(accelerator: &Accelerator, suite: Suite) -> Result<(Sealer, Opener), Fault> {
    let (key, mac_key, iv) =
        (vec![0x42; suite.key_len()], vec![0x43; suite.mac_key_len()], vec![0x44; suite.iv_len()]);
    let keys = || Keys::new(suite, &ExposedKeys { key: &key, mac_key: &mac_key, iv: &iv, sequence: 0 });
    Ok((Sealer::new(accelerator, keys()?)?, Opener::new(accelerator, keys()?)?))
}

fn seal_and_open(accelerator: &Accelerator, suite: Suite, packets: usize) -> Result<f64, Fault> {
    let (mut sealer, mut opener) = ends(accelerator, suite)?;
    let (payload, mut wire) = (vec![7; PAYLOAD], Vec::new());
    let began = ThreadTime::now();
    for _ in 0..packets {
        wire.clear();
        sealer.seal(Content::Packet, &[&payload], &mut wire)?;
        match opener.next(&mut wire)? {
            Opened::Record(record) => black_box(record.data.len()),
            Opened::NeedMore(_) => return Err("a whole packet".into()),
        };
    }
    Ok(per_byte(began, packets))
}

fn per_byte(began: ThreadTime, packets: usize) -> f64 {
    began.elapsed().as_secs_f64() * 1e9 / (packets * PAYLOAD) as f64
}

/// Returns the CPU nanoseconds of a byte that `ssh` sends to `sshd`.
fn openssh(cipher: &str, mac: &str, mib: usize) -> Result<f64, Fault> {
    // A login without data, so that only the bytes count.
    let login = transfer(cipher, mac, 0)?;
    let whole = transfer(cipher, mac, mib)?;
    Ok((whole - login) * 1e9 / (mib << 20) as f64)
}

/// Returns the CPU seconds of a login of OpenSSH to itself that sends `mib` MiB to a program that drops them.
fn transfer(cipher: &str, mac: &str, mib: usize) -> Result<f64, Fault> {
    let folder = tempfile::tempdir()?;
    let key = |name: &str| {
        let path = folder.path().join(name);
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path).status()?;
        Ok::<_, Fault>(path)
    };
    let (host_key, user_key) = (key("host_key")?, key("user_key")?);
    let (keys, config) = (folder.path().join("authorized_keys"), folder.path().join("sshd_config"));
    fs::copy(user_key.with_extension("pub"), &keys)?;
    let text = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n\
         PasswordAuthentication no\nUseDNS no\nLogLevel ERROR\n",
        host_key.display(),
        keys.display()
    );
    fs::write(&config, text)?;
    // Without root, the server runs without this folder of its package's unit.
    let _ = fs::create_dir_all("/run/sshd");
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port().to_string();
    let before = cpu_seconds_of_children()?;
    let mut client = Command::new("/usr/bin/ssh")
        .args(["-F", "none", "-T", "-p", &port, "-c", cipher, "-m", mac])
        .args(["-o", "StrictHostKeyChecking=no", "-o", "BatchMode=yes", "-o", "UserKnownHostsFile=/dev/null"])
        .args(["-o", "LogLevel=ERROR", "-o", "IdentityAgent=none", "-o", "IdentitiesOnly=yes", "-i"])
        .arg(&user_key)
        .args(["127.0.0.1", "cat > /dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let mut server = sshd(&config, listener.accept()?.0)?;
    let mut input = client.stdin.take().ok_or("the input of ssh")?;
    let block = vec![0; 1 << 20];
    for _ in 0..mib {
        std::io::Write::write_all(&mut input, &block)?;
    }
    drop(input);
    if !client.wait()?.success() {
        return Err(format!("ssh with {cipher} failed").into());
    }
    server.wait()?;
    Ok(cpu_seconds_of_children()? - before)
}

/// Starts a server for one connection, as inetd does.
fn sshd(config: &Path, stream: std::net::TcpStream) -> Result<Child, Fault> {
    let output = stream.try_clone()?;
    let mut command = Command::new(SSHD);
    command.args(["-i", "-e", "-f"]).arg(config);
    Ok(command.stdin(OwnedFd::from(stream)).stdout(OwnedFd::from(output)).spawn()?)
}

/// Returns the CPU time of all processes that this one started and waited for. proc(5), `/proc/PID/stat`.
fn cpu_seconds_of_children() -> Result<f64, Fault> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is a name in parentheses, which may hold spaces.
    let (_, fields) = stat.rsplit_once(')').ok_or("the fields of a process")?;
    let ticks = fields.split_whitespace().skip(13).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    Ok(ticks / TICKS_PER_SECOND)
}
