use std::sync::atomic::{AtomicUsize, Ordering};

use oarlock_cryptoki::MechanismType;

use super::*;

const SO_PIN: &[u8] = b"so-pin";
const USER_PIN: &[u8] = b"user-pin";

struct Fixture {
    folder: tempfile::TempDir,
    token: TokenFile,
}

impl Fixture {
    /// Makes a token with both PINs.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let token = TokenFile::new(folder.path().join("token"));
        token.init_token(Some(SO_PIN), "a label").unwrap();
        token.login(UserType::SecurityOfficer, Some(SO_PIN)).unwrap();
        token.init_pin(Some(USER_PIN)).unwrap();
        token.logout().unwrap();
        Self { folder, token }
    }

    /// Opens the token again, as another process does, and logs the user in.
    fn another(&self) -> TokenFile {
        let token = TokenFile::from_store(ObjectStore::open(&self.folder.path().join("token")).unwrap());
        token.login(UserType::User, Some(USER_PIN)).unwrap();
        token
    }
}

fn content() -> ObjectContent {
    let mut content = ObjectContent::default();
    content.attributes.set(AttributeType::PRIVATE, true);
    content.attributes.set(AttributeType::CLASS, ObjectClass::SECRET_KEY.0);
    content.attributes.set(AttributeType::LABEL, "a label");
    content.attributes.set(AttributeType::ID, "");
    let kinds = vec![MechanismType(1), MechanismType(u64::MAX)];
    content.attributes.set(AttributeType::ALLOWED_MECHANISMS, AttributeValue::Mechanisms(kinds));
    content.secrets.set(AttributeType::VALUE, SecretBytes::from(&b"secret"[..]));
    content
}

#[test]
fn a_missing_file_is_a_token_that_is_not_initialised() {
    let folder = tempfile::tempdir().unwrap();
    let token = TokenFile::new(folder.path().join("token"));
    assert_eq!(token.describe().unwrap().flags & token_flags::TOKEN_INITIALIZED, 0);
    assert_eq!((token.list().unwrap().len(), token.data_version()), (0, Ok(0)));
    assert_eq!(token.login(UserType::User, Some(b"1234")), Err(ReturnCode::TokenNotRecognized));
    assert_eq!(token.create(&[content()]), Err(ReturnCode::TokenNotRecognized));
    token.init_token(Some(SO_PIN), "made").unwrap();
    assert_eq!(token.describe().unwrap().label, "made");
}

#[test]
fn objects_come_back_as_the_library_gave_them() {
    let Fixture { token, folder: _folder } = Fixture::new();
    assert_eq!(token.create(&[content()]).unwrap_err(), ReturnCode::UserNotLoggedIn);
    token.login(UserType::User, Some(USER_PIN)).unwrap();
    let before = token.data_version().unwrap();
    let ids = token.create(&[content(), content()]).unwrap();
    assert_eq!(token.data_version().unwrap(), before + 1, "one change");
    let listed = token.list().unwrap();
    assert_eq!(listed.iter().map(|object| object.id).collect::<Vec<_>>(), ids);
    assert_eq!(listed[0].attributes, content().attributes);
    assert_eq!(token.open_secrets(ids[0]).unwrap(), content().secrets);
    token.destroy(ids[0]).unwrap();
    assert_eq!(token.destroy(ids[0]).unwrap_err(), ReturnCode::ObjectHandleInvalid);
    let version = token.data_version().unwrap();
    token.logout().unwrap();
    assert!(token.list().unwrap().is_empty() && token.data_version().unwrap() > version);
    assert_eq!(token.open_secrets(ids[1]).unwrap_err(), ReturnCode::UserNotLoggedIn);
}

#[test]
fn the_value_of_private_data_is_bytes() {
    let Fixture { token, folder: _folder } = Fixture::new();
    token.login(UserType::User, Some(USER_PIN)).unwrap();
    let mut data = content();
    data.attributes.set(AttributeType::CLASS, ObjectClass::DATA.0);
    let id = token.create(std::slice::from_ref(&data)).unwrap()[0];
    assert_eq!(token.open_secrets(id).unwrap(), data.secrets);
    assert_eq!(token.list().unwrap()[0].attributes, data.attributes);
}

#[test]
fn an_update_replaces_attributes_and_keeps_secrets() {
    let Fixture { token, folder: _folder } = Fixture::new();
    token.login(UserType::User, Some(USER_PIN)).unwrap();
    let id = token.create(&[content()]).unwrap()[0];
    let mut attributes = content().attributes;
    attributes.set(AttributeType::LABEL, "another");
    attributes.remove(AttributeType::ID);
    assert_eq!(token.update(id, &content().attributes, &attributes), Ok(true));
    assert_eq!(token.list().unwrap()[0].attributes, attributes);
    assert_eq!(token.open_secrets(id).unwrap(), content().secrets);
}

#[test]
fn an_update_of_what_another_process_has_changed_changes_nothing() {
    let fixture = Fixture::new();
    let (token, other) = (&fixture.token, fixture.another());
    token.login(UserType::User, Some(USER_PIN)).unwrap();
    let id = token.create(&[content()]).unwrap()[0];
    let relabelled = |label: &str| {
        let mut attributes = content().attributes;
        attributes.set(AttributeType::LABEL, label);
        attributes
    };
    let known = content().attributes;
    assert_eq!(other.update(id, &known, &relabelled("theirs")), Ok(true));
    assert_eq!(token.update(id, &known, &relabelled("ours")), Ok(false));
    assert_eq!(token.list().unwrap()[0].attributes, relabelled("theirs"));
    assert_eq!(token.update(id, &relabelled("theirs"), &relabelled("ours")), Ok(true));
    assert_eq!(other.list().unwrap()[0].attributes, relabelled("ours"));
}

#[test]
fn a_damaged_object_is_reported_once_and_hides_no_other() {
    static REPORTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let fixture = Fixture::new();
    let made = fixture.another().create(&[content(), content(), content()]).unwrap();
    let connection = rusqlite::Connection::open(fixture.folder.path().join("token")).unwrap();
    // The value of a secret key. The values of the third object are sound, but it has no class.
    connection.execute("UPDATE attribute SET value = x'00' WHERE object = ?1 AND type = 17", [1]).unwrap();
    drop(connection);
    let store = ObjectStore::open(&fixture.folder.path().join("token")).unwrap();
    let login = store.login(PinRole::User, USER_PIN).unwrap();
    let version = store.read(Some(&login), ObjectId(3)).unwrap().version;
    let third = ChangedObject { id: ObjectId(3), version };
    store.update(Some(&login), third, StoredAttributes::new(), vec![AttributeType::CLASS.0]).unwrap();

    let token = fixture.another().report_faults(|error| lock(&REPORTS).push(error.to_string()));
    for _ in 0..2 {
        assert_eq!(token.list().unwrap().iter().map(|object| object.id).collect::<Vec<_>>(), [made[1]]);
    }
    assert_eq!(token.open_secrets(made[0]), Err(ReturnCode::DeviceError));
    assert_eq!(token.open_secrets(made[1]), Ok(content().secrets));
    let damaged = [DamagedContent::Object(ObjectId(1)), DamagedContent::Meaning(ObjectId(3))];
    assert_eq!(token.left_out(), damaged);
    let reports = lock(&REPORTS);
    let left_out: Vec<_> = reports.iter().filter(|report| report.contains("left out")).collect();
    assert_eq!(left_out.len(), 2, "{reports:?}");
    assert!(left_out[0].contains("token: object 1 does not have the attributes"), "{reports:?}");
    assert!(left_out[1].contains("token: object 3 has no class"), "{reports:?}");
}

/// Each of two writers adds its own changes. None may be lost, although both change the same object all the time.
#[test]
fn two_writers_lose_no_change() {
    let fixture = Fixture::new();
    let first = fixture.another();
    let id = first.create(&[content()]).unwrap()[0];
    let add = |token: &TokenFile| loop {
        let listed = token.list().unwrap();
        let known = &listed[0].attributes;
        let mut attributes = known.clone();
        let count = known.bytes(AttributeType::ID).unwrap().len();
        attributes.set(AttributeType::ID, vec![1; count + 1]);
        if token.update(id, known, &attributes).unwrap() {
            break;
        }
    };
    let tokens = [first, fixture.another()];
    std::thread::scope(|scope| {
        for token in &tokens {
            scope.spawn(move || (0..20).for_each(|_| add(token)));
        }
    });
    assert_eq!(tokens[0].list().unwrap()[0].attributes.bytes(AttributeType::ID), Some(&[1; 40][..]));
}

#[test]
fn pins_have_the_codes_and_flags_of_the_standard() {
    let Fixture { token, folder: _folder } = Fixture::new();
    let flags = || token.describe().unwrap().flags;
    let login = |pin: &[u8]| token.login(UserType::User, Some(pin));
    assert_eq!(login(b"").unwrap_err(), ReturnCode::PinLenRange);
    assert_eq!(login(&[b'1'; 256]).unwrap_err(), ReturnCode::PinLenRange);
    assert_eq!(token.login(UserType::User, None).unwrap_err(), ReturnCode::ArgumentsBad);
    assert_eq!(flags() & token_flags::USER_PIN_COUNT_LOW, 0, "no try was counted");
    for left in (0..10).rev() {
        assert_eq!(login(b"wrong").unwrap_err(), ReturnCode::PinIncorrect);
        assert_eq!(flags() & token_flags::USER_PIN_FINAL_TRY != 0, left == 1);
        assert_eq!(flags() & token_flags::USER_PIN_LOCKED != 0, left == 0);
        assert_ne!(flags() & token_flags::USER_PIN_COUNT_LOW, 0);
    }
    assert_eq!(login(USER_PIN).unwrap_err(), ReturnCode::PinLocked);
    assert_eq!(flags() & token_flags::SO_PIN_COUNT_LOW, 0);
    assert_eq!(token.init_token(Some(b"wrong"), "x").unwrap_err(), ReturnCode::PinIncorrect);
    assert_ne!(flags() & token_flags::SO_PIN_COUNT_LOW, 0);
    token.init_token(Some(SO_PIN), "x").unwrap();
    assert_eq!(flags() & token_flags::USER_PIN_INITIALIZED, 0);
    assert_eq!(login(USER_PIN).unwrap_err(), ReturnCode::UserPinNotInitialized);
    assert_eq!(token.init_pin(Some(USER_PIN)).unwrap_err(), ReturnCode::UserNotLoggedIn);
}

#[test]
fn one_allowed_try_is_not_a_wrong_one() {
    let levels = [1, 2, 4];
    let state = |tries_left, max_tries| PinState { is_set: true, tries_left, max_tries };
    assert_eq!(level_flags(state(1, 1), levels), 2);
    assert_eq!(level_flags(state(0, 1), levels), 1 | 4);
    assert_eq!(level_flags(state(1, 2), levels), 1 | 2);
    assert_eq!(level_flags(state(3, 4), levels), 1);
    assert_eq!(level_flags(state(4, 4), levels), 0);
}

#[test]
fn values_that_do_not_fit_their_attribute_are_an_error() {
    let class = (AttributeType::CLASS.0, StoredValue::Plain(4_u64.to_le_bytes().to_vec()));
    let decode = |entries: &[(u64, StoredValue)]| decode_plain(&entries.iter().cloned().collect());
    assert!(decode(std::slice::from_ref(&class)).is_ok());
    let flag = |bytes: &[u8]| (AttributeType::PRIVATE.0, StoredValue::Plain(bytes.to_vec()));
    assert!(decode(&[class.clone(), flag(&[1])]).is_ok());
    for entries in [vec![flag(&[1])], vec![class.clone(), flag(&[])], vec![class, flag(&[1, 1])]] {
        assert_eq!(decode(&entries).unwrap_err(), ReturnCode::DeviceError);
    }
}

#[test]
fn faults_to_repair_are_reported_and_others_are_not() {
    static REPORTED: AtomicUsize = AtomicUsize::new(0);
    let Fixture { token, folder } = Fixture::new();
    let token = token.report_faults(|error| {
        assert!(error.to_string().contains("token: "), "{error}");
        REPORTED.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(token.login(UserType::User, Some(b"wrong")), Err(ReturnCode::PinIncorrect));
    assert_eq!(REPORTED.load(Ordering::Relaxed), 0);
    let text = folder.path().join("text token");
    std::fs::write(&text, "not a token").unwrap();
    let other = TokenFile { path: text, ..TokenFile::new(std::path::PathBuf::new()) };
    let other = other.report_faults(token.report.unwrap());
    assert!(other.describe().is_err());
    assert_eq!(REPORTED.load(Ordering::Relaxed), 1);
}
