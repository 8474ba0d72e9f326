use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, UNIX_EPOCH};

use super::*;

const MESSAGE: &str = "From: a@example.com\n\nhello\n";
const MBOX: &str = "From a\nA: 1\n\nx\n>From y\n\nFrom b\nB: 2\n\n\nFrom c\nC: 3\n";

struct MailTree(tempfile::TempDir);

impl MailTree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Adds a Maildir with messages of these names.
    fn with_maildir(mut self, name: &str, names: &[&str]) -> Self {
        for folder in ["cur", "new", "tmp"] {
            fs::create_dir_all(self.path(name).join(folder)).unwrap();
        }
        for file in names {
            self = self.with(&format!("{name}/{file}"), MESSAGE);
        }
        self
    }

    /// Returns all messages below the directory, as a path and a length or an error.
    fn found(&self) -> Vec<(String, Result<usize, String>)> {
        self.found_with(MailOptions::default())
    }

    fn found_with(&self, options: MailOptions) -> Vec<(String, Result<usize, String>)> {
        let mails = discover([self.0.path()], options).mails();
        let found = (&mails).enumerate().map(|(at, item)| {
            assert_eq!(at as u64, item.index);
            match item.mail {
                Ok(mail) => (self.below(&mail.source), Ok(mail.bytes.len())),
                Err(error) => (self.below(&error.location), Err(error.fault.to_string())),
            }
        });
        found.collect()
    }

    fn below(&self, source: &MailSource) -> String {
        let prefix = format!("{}/", self.0.path().display());
        source.to_string().strip_prefix(&prefix).unwrap().to_owned()
    }

    fn names(&self) -> Vec<String> {
        self.found().into_iter().map(|(name, _)| name).collect()
    }

    fn mail(&self, name: &str) -> StoredMail {
        discover([self.path(name)], MailOptions::default()).mails().pull().unwrap().mail.unwrap()
    }
}

#[test]
fn reads_directories_in_order_without_hidden_entries() {
    let tree = MailTree::new()
        .with("b/2.eml", MESSAGE)
        .with("b/10.eml", MESSAGE)
        .with("a.mbox", MBOX)
        .with(".hidden", MESSAGE)
        .with(".git/x", MESSAGE)
        .with("empty", "")
        .with("c", "x");
    let lens = [("a.mbox:1", 15), ("a.mbox:2", 6), ("a.mbox:3", 5)];
    let len = MESSAGE.len();
    let rest = [("b/10.eml", len), ("b/2.eml", len), ("c", 1)];
    let expected = lens.into_iter().chain(rest).map(|(name, len)| (name.to_owned(), Ok(len)));
    assert_eq!(tree.found(), expected.collect::<Vec<_>>());
    let totals = discover([tree.0.path()], MailOptions::default()).totals();
    let bytes = (2 * len + MBOX.len() + 1) as u64;
    assert_eq!(totals, MailAmount { bytes, files: 3, mboxes: 2, streams: 0, faults: 0 });
    assert_eq!((totals.messages(), MailAmount { mboxes: 0, ..totals }.messages()), (None, Some(3)));
}

#[test]
fn reads_cur_and_new_of_a_maildir_and_the_maildirs_in_it() {
    let tree = MailTree::new()
        .with_maildir("m", &["cur/1:2,S", "new/2", "tmp/3", "cur/.nfs", "subscriptions", "cur/sub/4"])
        .with_maildir("m/.Sent", &["cur/5:2,"])
        .with_maildir("m/Folder", &["new/6"])
        .with("m/attic/7", MESSAGE)
        .with("m/cur/mbox", "From a\nno: mbox\n");
    let expected = ["m/cur/1:2,S", "m/cur/mbox", "m/new/2", "m/.Sent/cur/5:2,", "m/Folder/new/6"];
    assert_eq!(tree.names(), expected);
    assert_eq!(discover([tree.path("m")], MailOptions::default()).totals().messages(), Some(5));
}

#[test]
fn links_are_followed_once() {
    let tree = MailTree::new().with("a/1", MESSAGE).with("z/2", MESSAGE);
    symlink("..", tree.path("a/up")).unwrap();
    symlink("../z", tree.path("a/z")).unwrap();
    symlink("1", tree.path("a/same")).unwrap();
    symlink("self", tree.path("a/self")).unwrap();
    let found = tree.found();
    let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a/1", "a/same", "a/self", "a/z/2"]);
    assert!(found[2].1.is_err());
}

#[test]
fn an_unreadable_path_is_an_error_in_its_place() {
    let tree = MailTree::new().with("a", MESSAGE).with("b", MESSAGE).with("c", MESSAGE).with("d", MBOX);
    let paths = ["a", "b", "missing", "d", "c"].map(|name| tree.path(name));
    let mails = discover(&paths, MailOptions::default()).mails();
    // The file is removed after its discovery, so not even root can read it.
    fs::remove_file(&paths[1]).unwrap();
    fs::remove_file(&paths[3]).unwrap();
    let is_ok: Vec<_> = (&mails).map(|item| item.mail.is_ok()).collect();
    assert_eq!(is_ok, [true, false, false, false, true]);
    let missing = tree.path("missing/\u{1b}[0m");
    let error = discover([missing], MailOptions::default()).mails().pull().unwrap().mail.unwrap_err();
    assert!(error.to_string().contains("/missing/\\u{1b}[0m: No such file"), "{error}");
}

#[test]
fn threads_get_each_message_once() {
    let mut tree = MailTree::new();
    for number in 0..200 {
        tree = tree.with(&format!("{number:03}"), &MESSAGE.repeat(number));
    }
    tree = tree.with("100a.mbox", &"From a\nA: 1\n\n".repeat(300));
    let mails = discover([tree.0.path()], MailOptions::default()).mails();
    let taken = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for item in &mails {
                    let source = tree.below(&item.mail.unwrap().source);
                    taken.lock().unwrap().push((item.index, source));
                }
            });
        }
    });
    let mut taken = taken.into_inner().unwrap();
    taken.sort();
    assert!(taken.iter().map(|(index, _)| *index).eq(0..499));
    // The first of the files is empty.
    assert_eq!(taken.into_iter().map(|(_, name)| name).collect::<Vec<_>>(), tree.names());
    assert_eq!(mails.bytes_done(), mails.totals().bytes);
}

#[test]
fn a_message_beyond_the_limit_is_an_error_with_its_length() {
    let long = format!("From x\nA: 1\n\n>From here\n{}\nFrom y\nB: 2\n", "0123456789\n".repeat(100));
    let tree = MailTree::new().with("a", MESSAGE).with("b", &long).with("c", &MESSAGE.repeat(50));
    let options = MailOptions { max_bytes: 1000, ..MailOptions::default() };
    let found = tree.found_with(options);
    let limit = |len: usize| Err(format!("expected at most 1000 bytes, found {len}"));
    let expected = [("a", Ok(27)), ("b:1", limit(1117)), ("b:2", Ok(5)), ("c", limit(1350))];
    assert_eq!(found, expected.map(|(name, len)| (name.to_owned(), len)));
    let mails = discover([tree.0.path()], options).mails();
    let large: Vec<_> = (&mails).map(|item| item.mail.err()).collect();
    assert_eq!(large[1].as_ref().unwrap().location.number(), Some(1));
}

/// Returns the messages of a stream with a name: `/proc/self/fd/N` of a pipe.
fn piped(text: &'static str, options: MailOptions) -> Vec<MailItem> {
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = io::pipe().unwrap();
    let feeding = std::thread::spawn(move || io::Write::write_all(&mut writer, text.as_bytes()));
    let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
    let folders = discover([path], options);
    assert_eq!((folders.totals().streams, folders.totals().messages()), (1, None));
    let items = (&folders.mails()).collect();
    feeding.join().unwrap().unwrap();
    items
}

#[test]
fn a_stream_is_a_message_or_an_mbox() {
    let one = piped(MESSAGE, MailOptions::default());
    assert_eq!(one[0].mail.as_ref().unwrap().bytes, MESSAGE.as_bytes());
    assert!(one[0].mail.as_ref().unwrap().source.is_stream());
    let many = piped(MBOX, MailOptions::default());
    assert_eq!(many.len(), 3);
    assert!(many[2].mail.as_ref().unwrap().source.to_string().ends_with(":3"));
    assert_eq!(piped("Fro", MailOptions::default()).len(), 1);
    assert_eq!(piped("", MailOptions::default())[0].mail.as_ref().unwrap().bytes, b"");
    let short = MailOptions { max_bytes: 3, ..MailOptions::default() };
    assert!(matches!(
        piped(MESSAGE, short)[0].mail.as_ref().unwrap_err().fault,
        MailFault::TooLarge { len_bytes: 4, max_bytes: 3 }
    ));
}

const HEADER: &[u8] = b"DKIM-Signature: a;\r\n\tb\r\n";

#[test]
fn header_fields_take_the_end_of_lines_of_the_message() {
    for (message, expected) in [
        ("A: 1\n\nx\n", "DKIM-Signature: a;\n\tb\nA: 1\n\nx\n"),
        ("A: 1\r\n\r\nx\n", "DKIM-Signature: a;\r\n\tb\r\nA: 1\r\n\r\nx\n"),
        ("", "DKIM-Signature: a;\n\tb\n"),
    ] {
        let mut out = Vec::new();
        write_signed(&mut out, HEADER, message.as_bytes()).unwrap();
        assert_eq!(out, expected.as_bytes());
    }
}

#[test]
fn reads_the_messages_that_it_wrote_to_an_mbox() {
    let messages: [&[u8]; 8] = [
        b"",
        b"\n",
        b"A: 1\n\nFrom x\n>From y\n>>From z\n\n\n",
        b"A: 1\r\n\r\n\r\nFrom x\r\n",
        b">From a\n\n",
        b"\r\n",
        b"A: 1\n\r\n",
        b"From b\n",
    ];
    let mut text = Vec::new();
    for message in messages {
        write_mbox(&mut text, Some(b"From somebody"), b"", message).unwrap();
    }
    let pieces: Vec<_> = MboxReader::new(&*text, MailOptions::default()).map(Result::unwrap).collect();
    let read: Vec<_> = pieces.iter().map(|piece| piece.message.as_deref().unwrap()).collect();
    assert_eq!(read, messages);
    assert!(pieces.iter().all(|piece| piece.envelope == b"From somebody Thu Jan  1 00:00:00 1970"));
}

#[test]
fn writes_messages_to_the_same_paths_below_another_directory() {
    let tree = MailTree::new()
        .with("in/a/1.eml", MESSAGE)
        .with("in/all.mbox", MBOX)
        .with_maildir("in/m", &["cur/5:2,S"]);
    fs::set_permissions(tree.path("in/a/1.eml"), fs::Permissions::from_mode(0o640)).unwrap();
    let destination = MailDestination::Directory(tree.path("out"));
    let mails = discover([tree.path("in")], MailOptions::default()).mails();
    let written: Vec<_> =
        (&mails).map(|item| destination.write(&item.mail.unwrap(), HEADER).unwrap()).collect();
    let names = ["a/1.eml", "all.mbox.1.eml", "all.mbox.2.eml", "all.mbox.3.eml", "m/cur/5:2,S"];
    assert_eq!(written, names.map(|name| tree.path("out").join(name)));
    assert!(fs::read_to_string(&written[0]).unwrap().ends_with(MESSAGE));
    assert_eq!(fs::metadata(&written[0]).unwrap().permissions().mode() & 0o777, 0o640);
    // A file that was given itself keeps its name only, and nothing is replaced.
    let mail = tree.mail("in/a/1.eml");
    assert_eq!(destination.write(&mail, HEADER).unwrap(), tree.path("out/1.eml"));
    let error = destination.write(&mail, HEADER).unwrap_err();
    assert!(matches!(error.fault, MailFault::Exists(path) if path == tree.path("out/1.eml")));
    assert_eq!(fs::read_dir(tree.path("out")).unwrap().count(), 6);
}

#[test]
fn a_file_is_signed_in_place() {
    let tree = MailTree::new().with("a", MESSAGE);
    fs::set_permissions(tree.path("a"), fs::Permissions::from_mode(0o604)).unwrap();
    symlink("a", tree.path("link")).unwrap();
    let path = MailDestination::InPlace.write(&tree.mail("link"), HEADER).unwrap();
    assert_eq!(path, tree.path("a").canonicalize().unwrap());
    assert!(fs::read_to_string(&path).unwrap().starts_with("DKIM-Signature: a;\n\tb\nFrom: a@"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o604);
    assert!(tree.path("link").is_symlink());
    assert_eq!(fs::read_dir(tree.0.path()).unwrap().count(), 2);
}

#[test]
fn a_maildir_keeps_the_time_of_delivery() {
    let tree = MailTree::new().with_maildir("m", &["cur/1:2,S", "new/2,S=27"]);
    let path = tree.path("m/cur/1:2,S");
    let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(
        MailDestination::InPlace.write(&tree.mail("m/cur/1:2,S"), HEADER).unwrap(),
        path.canonicalize().unwrap()
    );
    assert_eq!(path.metadata().unwrap().modified().unwrap(), time);
    assert_eq!(fs::read_dir(tree.path("m/tmp")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(tree.path("m/cur")).unwrap().count(), 1);
    let error = MailDestination::InPlace.write(&tree.mail("m/new/2,S=27"), HEADER).unwrap_err();
    assert!(matches!(error.fault, MailFault::SizeInName));
}

#[test]
fn does_not_overwrite_a_changed_message() {
    let tree = MailTree::new().with("a", MESSAGE).with_maildir("m", &["cur/1:2,"]).with("box", MBOX);
    let refused = |mail: &StoredMail| MailDestination::InPlace.write(mail, HEADER).unwrap_err().fault;
    let mail = tree.mail("a");
    fs::write(tree.path("a"), "other").unwrap();
    assert!(matches!(refused(&mail), MailFault::Changed));
    assert_eq!(fs::read_to_string(tree.path("a")).unwrap(), "other");
    let mail = tree.mail("m/cur/1:2,");
    fs::rename(tree.path("m/cur/1:2,"), tree.path("m/cur/1:2,S")).unwrap();
    assert!(matches!(refused(&mail), MailFault::Changed));
    assert_eq!(tree.names().iter().filter(|name| name.starts_with("m/")).count(), 1);
    assert!(matches!(refused(&tree.mail("box")), MailFault::NotInPlace));
    assert_eq!(fs::read_to_string(tree.path("box")).unwrap(), MBOX);
    assert!(Path::new(&tree.path("m/tmp")).read_dir().unwrap().next().is_none());
}
