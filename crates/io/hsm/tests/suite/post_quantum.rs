//! ML-DSA and ML-KEM with kryoptic, which `OARLOCK_KRYOPTIC` names.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, MlDsaParameterSetType, MlKemParameterSetType};
use cryptoki::session::UserType;
use cryptoki::types::AuthPin;
use oarlock::keys::{export, import};
use oarlock::{Accelerator, Input, Job, MlDsaSet, MlDsaVariant, NonceRule, SigningScheme};

use crate::own_process::{PIN, key, open, with_token};

#[test]
fn keys_of_ml_dsa_and_ml_kem_sign_and_decapsulate() {
    let Some(module) = std::env::var_os("OARLOCK_KRYOPTIC").map(PathBuf::from) else {
        return println!("SKIPPED: OARLOCK_KRYOPTIC names no module");
    };
    with_token(move |token| {
        let sqlite = token.directory.join("kryoptic.sql");
        let slot = format!("[[slots]]\nslot = 1\ndbtype = \"sqlite\"\ndbargs = {sqlite:?}\n");
        fs::write(token.directory.join("kryoptic.conf"), slot).unwrap();
        let library = Pkcs11::new(&module).unwrap();
        library.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
        let slot = library.get_all_slots().unwrap()[0];
        let officer = AuthPin::new("12345678".into());
        library.init_token(slot, &officer, "pq").unwrap();
        let session = library.open_rw_session(slot).unwrap();
        session.login(UserType::So, Some(&officer)).unwrap();
        session.init_pin(&AuthPin::new(PIN.into())).unwrap();
        session.logout().unwrap();
        session.login(UserType::User, Some(&AuthPin::new(PIN.into()))).unwrap();
        let names = |label: &str| {
            vec![Attribute::Token(true), Attribute::Label(label.into()), Attribute::Id(label.into())]
        };
        let ml_dsa =
            [names("sign"), vec![Attribute::ParameterSet(MlDsaParameterSetType::ML_DSA_65.into())]].concat();
        let private = [names("sign"), vec![Attribute::Sign(true)]].concat();
        session.generate_key_pair(&Mechanism::MlDsaKeyPairGen, &ml_dsa, &private).unwrap();
        let ml_kem =
            [names("open"), vec![Attribute::ParameterSet(MlKemParameterSetType::ML_KEM_768.into())]].concat();
        let private = [names("open"), vec![Attribute::Decapsulate(true)]].concat();
        session.generate_key_pair(&Mechanism::MlKemKeyPairGen, &ml_kem, &private).unwrap();
        let hsm = open(token.settings_of("pq", &module));
        let accelerator =
            Accelerator::builder().lazy().threads(1).holder(Arc::new(hsm.clone())).build().unwrap();
        let signer = key(&hsm, "sign");
        let (set, variant, nonce) = (MlDsaSet::MlDsa65, MlDsaVariant::Pure, NonceRule::Hedged);
        let scheme = SigningScheme::ml_dsa(set, variant, nonce);
        let input = Input::Message(b"a message");
        let signature = accelerator
            .run_all(&[Job::sign(scheme, &signer, input).context(b"here")])
            .get(0)
            .unwrap()
            .to_vec();
        let verify = Job::verify(scheme.verifying(), &signer, input, &signature);
        assert_eq!(accelerator.run_all(&[verify.context(b"here")]).verified(0), Ok(true));
        let opener = key(&hsm, "open");
        let public = import::spki_der(&export::spki_der(&opener).unwrap()).unwrap();
        let mut ciphertext = accelerator.run_all(&[Job::encapsulate(&public)]).get(0).unwrap().to_vec();
        let secret = ciphertext.split_off(ciphertext.len() - 32);
        let opened = accelerator.run_all(&[Job::decapsulate(&opener, &ciphertext)]);
        assert_eq!(opened.get(0).unwrap(), secret);
    });
}
