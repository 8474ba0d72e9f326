//! Sets of devices: a key in two tokens, of which one has a module with faults.

use cryptoki::object::{Attribute, KeyType, ObjectClass};
use oarlock::keys::{generate as make, raw};
use oarlock::{Accelerator, Curve, Input, Job, JobError, Key, KeyHome, SigningScheme};
use oarlock_hsm::{DeviceReport, HsmError, HsmSet, HsmSettings, HsmState};

use crate::own_process::{
    P256, TestToken, sign, start, start_jobs, uri, with_faults, with_faults_and_spare, with_tokens,
};

fn checker() -> Accelerator {
    Accelerator::builder().lazy().threads(1).build().unwrap()
}

fn open(settings: impl IntoIterator<Item = HsmSettings>) -> HsmSet {
    HsmSet::open(settings, &checker()).unwrap()
}

/// The tokens `mail` and `spare` of one module.
fn both(token: &TestToken) -> [HsmSettings; 2] {
    ["mail", "spare"].map(|label| token.settings_of(label, &token.module))
}

/// Imports a key into a token, with its public half.
fn import(token: &TestToken, label: &str, name: &str, scalar: u8) -> Key {
    let session = token.user_session_of(label);
    let scalar = vec![scalar; 32];
    let local = raw::ec_private(Curve::P256, &scalar).unwrap();
    let (_, point) = local.ec_public().unwrap();
    let names = [
        Attribute::Token(true),
        Attribute::Label(name.into()),
        Attribute::Id(name.into()),
        Attribute::KeyType(KeyType::EC),
        Attribute::EcParams(P256.to_vec()),
    ];
    let private = [
        Attribute::Class(ObjectClass::PRIVATE_KEY),
        Attribute::Sign(true),
        Attribute::Derive(true),
        Attribute::Private(true),
        Attribute::Value(scalar),
    ];
    session.create_object(&[&names[..], &private].concat()).unwrap();
    // An OCTET STRING around the point. PKCS#11 3.0 2.3.3.
    let wrapped = [&[4, u8::try_from(point.len()).unwrap()], point].concat();
    let public = [Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::EcPoint(wrapped)];
    session.create_object(&[&names[..], &public].concat()).unwrap();
    local
}

fn reports(set: &HsmSet) -> [DeviceReport; 2] {
    set.report().try_into().unwrap()
}

fn agree(set: &HsmSet, key: &Key, local: &Key) -> Result<(), JobError> {
    let peer = make::ec(Curve::P256).unwrap();
    let (_, point) = peer.ec_public().unwrap();
    let expected = checker().run_all(&[Job::agree(local, point)]).get(0).unwrap().to_vec();
    let found = start_jobs(set, vec![Job::agree(key, point)]).recv().unwrap().1?;
    assert_eq!(found, expected, "a wrong secret was released");
    Ok(())
}

#[test]
fn devices_with_the_same_key_take_turns() {
    with_tokens(&["mail", "spare"], |token| {
        let [local, _] = ["mail", "spare"].map(|label| import(token, label, "key", 7));
        // Both start the module at once.
        let set = open(both(token));
        let key = set.key(&uri("pkcs11:object=key")).unwrap();
        assert_eq!(key.fingerprint(), local.fingerprint());
        let KeyHome::Held { holder, reference } = key.home() else { panic!("{key:?}") };
        assert_eq!((&**holder, &**reference), ("hsm", "pkcs11:object=key;type=private"));
        assert!(start(&set, &key, 200).iter().all(|(_, answer)| answer.is_ok()));
        let [mail, spare] = reports(&set);
        assert!(mail.sessions.answered > 20 && spare.sessions.answered > 20, "{mail:?} {spare:?}");
        assert!(mail.job_ns.is_some() && mail.waiting == 0 && spare.waiting == 0);
        // A URI with a token names one device.
        let key = set.key(&uri("pkcs11:token=spare;object=key")).unwrap();
        let before = reports(&set)[0].sessions.answered;
        assert!(start(&set, &key, 50).iter().all(|(_, answer)| answer.is_ok()));
        assert_eq!(reports(&set)[0].sessions.answered, before);
        let error = set.key(&uri("pkcs11:token=other;object=key")).unwrap_err();
        assert!(matches!(error, HsmError::NoDevice { .. }), "{error}");
    });
}

#[test]
fn a_device_that_fails_gives_its_jobs_to_the_other() {
    with_faults_and_spare(|token| {
        drop(["mail", "spare"].map(|label| import(token, label, "key", 7)));
        let set = open(both(token));
        let key = set.key(&uri("pkcs11:object=key")).unwrap();
        token.plant_in("mail", "removed");
        let answers: Vec<_> = start(&set, &key, 1000).iter().collect();
        assert!(answers.len() == 1000 && answers.iter().all(|(_, answer)| answer.is_ok()));
        let [mail, spare] = reports(&set);
        assert!(mail.sessions.failed > 0 && mail.sessions.state != HsmState::Ready, "{mail:?}");
        assert!(spare.sessions.answered >= 1000 && spare.waiting == 0);
    });
}

#[test]
fn a_key_of_one_device_is_not_looked_for_in_the_other_again() {
    with_tokens(&["mail", "spare"], |token| {
        let one = import(token, "mail", "one", 1);
        import(token, "spare", "two", 2);
        // Another key of the same name: its public half tells.
        import(token, "spare", "one", 3);
        let set = open(both(token));
        let two = set.key(&uri("pkcs11:object=two")).unwrap();
        let spki = oarlock::keys::export::spki_der(&one).unwrap();
        let one = set.key_from_spki(&uri("pkcs11:object=one"), &spki).unwrap();
        for _ in 0..20 {
            for key in [&one, &two] {
                let signature = sign(&set, key).unwrap();
                let verifying = SigningScheme::ECDSA_P256_SHA256_DER.verifying();
                let check = Job::verify(verifying, key, Input::Digest(&[7; 32]), &signature);
                assert_eq!(checker().run_all(&[check]).verified(0), Ok(true));
            }
        }
        let failed = reports(&set).map(|report| report.sessions.failed);
        assert!(failed.iter().sum::<u64>() <= 4, "each device refuses a key once: {failed:?}");
        let absent = set.key(&uri("pkcs11:object=absent")).unwrap_err();
        assert!(matches!(absent, HsmError::NoObject { .. }), "{absent}");
    });
}

#[test]
fn a_wrong_agreement_is_found_by_the_key_in_this_process_and_never_released() {
    with_faults(|token| {
        let local = import(token, "mail", "key", 7);
        let set = open([HsmSettings { cross_check: 1.0, ..token.settings() }]);
        let key = set.key(&uri("pkcs11:object=key")).unwrap();
        set.set_twins([local.clone()]);
        agree(&set, &key, &local).unwrap();
        token.plant("wrong_secret");
        agree(&set, &key, &local).unwrap();
        let [report] = <[DeviceReport; 1]>::try_from(set.report()).unwrap();
        assert!(report.differences == 1 && report.is_distrusted, "{report:?}");
        let error = agree(&set, &key, &local).unwrap_err().to_string();
        assert!(error.contains("no device"), "{error}");
    });
}

#[test]
fn a_known_answer_tells_which_of_two_devices_is_wrong() {
    with_faults_and_spare(|token| {
        let [local, _] = ["mail", "spare"].map(|label| import(token, label, "key", 7));
        let set = open(both(token).map(|settings| HsmSettings { cross_check: 1.0, ..settings }));
        let key = set.key(&uri("pkcs11:object=key")).unwrap();
        (0..10).for_each(|_| agree(&set, &key, &local).unwrap());
        assert_eq!(reports(&set).map(|report| report.differences), [0, 0]);
        token.plant_in("mail", "wrong_secret");
        // Whichever device is asked first, the right secret is released.
        (0..10).for_each(|_| agree(&set, &key, &local).unwrap());
        let [mail, spare] = reports(&set);
        assert!(mail.is_distrusted && !spare.is_distrusted, "{mail:?} {spare:?}");
        assert_eq!((mail.differences, spare.differences), (1, 1));
    });
}

#[test]
fn settings_of_a_set_are_checked_together() {
    with_tokens(&["mail"], |token| {
        let error = HsmSet::open([token.settings(), token.settings()], &checker()).unwrap_err().to_string();
        assert_eq!(error, "name: expected different names, and two devices are called \"mail\"");
        let other = HsmSettings { name: Some("second".into()), ..token.settings() };
        assert_eq!(HsmSet::open([token.settings(), other], &checker()).unwrap().report().len(), 2);
        // This program is not `oarlock`.
        let isolated = HsmSettings { isolate: true, ..token.settings() };
        let error = HsmSet::open([isolated], &checker()).unwrap_err().to_string();
        assert!(error.contains("set `program` to the path of `oarlock`, or `isolate = false`"), "{error}");
    });
}
