//! The objects of a token in a file, with secrets encrypted under PINs.
//!
//! The store knows nothing of PKCS#11: an object is a number, a version, a private flag and attributes, some of which
//! are marked secret. `oarlock-cryptoki` gives them their meaning.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use oarlock_key_files::objects::{ObjectStore, PinRole, PinRules, StoredValue, UnstoredObject};
//!
//! let folder = tempfile::tempdir()?;
//! let store = ObjectStore::create(&folder.path().join("token"), "mail", b"so-pin", PinRules::default())?;
//! let officer = store.login(PinRole::SecurityOfficer, b"so-pin")?;
//! store.init_pin(&officer, b"user-pin")?;
//!
//! let user = store.login(PinRole::User, b"user-pin")?;
//! let key = StoredValue::Secret(vec![7; 32].into());
//! let attributes = BTreeMap::from([(3, StoredValue::Plain(b"a label".to_vec())), (0x11, key.clone())]);
//! let inserted = store.insert(Some(&user), UnstoredObject { is_private: true, attributes })?;
//!
//! assert!(store.list(None)?.objects.is_empty());
//! assert_eq!(store.list(Some(&user))?.objects[0].attributes[&0x11], StoredValue::Concealed);
//! assert_eq!(store.read(Some(&user), inserted.id)?.attributes[&0x11], key);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The file
//!
//! The file is a database of SQLite with a write-ahead log. `FILE-wal` and `FILE-shm` belong to it while it is open;
//! `FILE-login` is empty and serves as a lock. Only the owner may read the file.
//!
//! | content | its protection |
//! |---|---|
//! | a secret attribute, each attribute of a private object | AES-256-GCM under the master key, bound to its position |
//! | all attributes of such an object | a seal under the master key: none can be added, removed or replaced |
//! | a public object without secrets | a digest against damage; a user who can write the file can change or add one |
//! | the master key | wrapped under each PIN by scrypt (N = 2^14, r = 8, p = 1) and AES-256-GCM |
//! | tries of PINs | counted on disk before a PIN is judged |
//!
//! A damaged object is left out of listings and cannot be read. The others stay usable.
//!
//! The position of an attribute is the number of its object, its type, and the version of the object.
//!
//! A user who can write the file can also remove objects, or put an old copy in its place, with the tries and the
//! objects that it had. No file can prevent this. A copy can be attacked without counted tries, so PINs should be long
//! if copies may leak.
//!
//! # Processes
//!
//! Several processes may read and write. A writer waits for another writer, for five seconds; readers never wait. A
//! child of a fork opens the file again by itself. If a thread of the parent used a store at the moment of the fork,
//! the child gets [`StoreFault::Forked`]. Network file systems are not supported, because SQLite's log needs shared
//! memory.
//!
//! A change waits for the disk once. About every two hundredth change also moves the log into the file, and waits three
//! times.
//!
//! | module | content |
//! |---|---|
//! | `store` | what users call: [`ObjectStore`] |
//! | `object` | objects, attributes and changes |
//! | `login`, `pin`, `role` | logins and counted tries; PINs and the wrapped master key; the owners of PINs |
//! | `master_key` | encryption and seals |
//! | `rows` | objects in the tables |
//! | `database`, `process` | the file, connections and transactions; forks |
//! | `error` | errors |

mod database;
mod error;
mod login;
mod master_key;
mod object;
mod pin;
mod process;
mod role;
mod rows;
mod store;

pub use error::{DamagedContent, ObjectStoreError, StoreFault};
pub use login::StoreLogin;
pub use object::{
    ChangedObject, MAX_OBJECT_BYTES, ObjectId, StoreChange, StoredAttributes, StoredObject, StoredValue,
    UnstoredObject,
};
pub use pin::{PinLevel, PinRules, PinState};
pub use role::PinRole;
pub use rows::StoreListing;
pub use store::{ObjectStore, StoreDescription};
