//! Tables of OpenDKIM and of the mail filter: everything that an import writes can be read, and no table panics.
#![no_main]

use std::io;
use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use oarlock_mailfilter::opendkim::{ImportSources, import};
use oarlock_mailfilter::{FilterConfig, SigningTable};

/// The files of an import. The input has their contents in this order, with zeros between them.
const FILES: [&str; 3] = ["/opendkim.conf", "/keys", "/signing"];

fuzz_target!(|text: &str| {
    let _ = SigningTable::parse(text, Path::new("/signing.table"));
    let parts: Vec<&str> = text.split('\0').collect();
    let read = |path: &Path| {
        let index = FILES.iter().position(|file| Path::new(file) == path);
        let part = index.and_then(|index| parts.get(index));
        part.map(|part| (*part).to_owned()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    for (config, form) in [(Some(PathBuf::from(FILES[0])), "refile:"), (None, "refile:"), (None, "file:")] {
        let sources = ImportSources {
            config,
            key_table: Some("/keys".to_owned()),
            signing_table: Some(format!("{form}/signing")),
        };
        let Ok(imported) = import(&sources, &read) else { continue };
        let table = SigningTable::parse(&imported.table, Path::new("/signing.table"));
        assert_eq!(table.expect("what is written can be read").len(), imported.lines);
        let settings: FilterConfig = toml::from_str(&imported.settings).expect("what is written can be read");
        settings.check().expect("what is written is valid");
    }
});
