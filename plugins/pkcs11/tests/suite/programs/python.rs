//! Python with packages from PyPI.

use super::{module, python_program, said, with_keys};

/// Runs a program in Python that needs a package from PyPI. Prints SKIPPED without the package.
fn python(package: &str, code: &str) {
    let Some(python) = python_program("python3") else { return };
    let dir = with_keys();
    let found = dir.command(&python).args(["-c", &format!("import {package}")]).output().unwrap();
    if !found.status.success() {
        eprintln!("SKIPPED: Python has no package {package}");
        return;
    }
    dir.write("test.py", code);
    let output = dir.command(&python).arg("test.py").arg(module()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn python_pkcs11_signs_in_threads() {
    python(
        "pkcs11",
        "import sys, threading, pkcs11\n\
         from pkcs11 import KeyType, ObjectClass, Mechanism\n\
         lib = pkcs11.lib(sys.argv[1])\n\
         token = lib.get_token(token_label='test keys')\n\
         def run(number):\n    \
             with token.open() as session:\n        \
                 private = session.get_key(object_class=ObjectClass.PRIVATE_KEY, label='rsa')\n        \
                 public = session.get_key(object_class=ObjectClass.PUBLIC_KEY, label='rsa')\n        \
                 data = b'thread %d' % number\n        \
                 signature = private.sign(data, mechanism=Mechanism.SHA256_RSA_PKCS)\n        \
                 assert public.verify(data, signature, mechanism=Mechanism.SHA256_RSA_PKCS)\n        \
                 assert not public.verify(b'other', signature, mechanism=Mechanism.SHA256_RSA_PKCS)\n        \
                 done.append(number)\n\
         done = []\n\
         threads = [threading.Thread(target=run, args=(number,)) for number in range(32)]\n\
         [thread.start() for thread in threads]\n\
         [thread.join() for thread in threads]\n\
         assert len(done) == 32, done\n",
    );
}

#[test]
fn pykcs11_signs_in_threads() {
    python(
        "PyKCS11",
        "import sys, threading, PyKCS11\n\
         from PyKCS11 import *\n\
         lib = PyKCS11Lib()\n\
         lib.load(sys.argv[1])\n\
         slot = lib.getSlotList(tokenPresent=True)[0]\n\
         mechanism = Mechanism(CKM_SHA256_RSA_PKCS, None)\n\
         def run(number):\n    \
             session = lib.openSession(slot)\n    \
             find = lambda kind: session.findObjects([(CKA_CLASS, kind), (CKA_LABEL, 'rsa')])[0]\n    \
             data = b'thread %d' % number\n    \
             signature = session.sign(find(CKO_PRIVATE_KEY), data, mechanism)\n    \
             assert session.verify(find(CKO_PUBLIC_KEY), data, signature, mechanism)\n    \
             done.append(number)\n\
         done = []\n\
         threads = [threading.Thread(target=run, args=(number,)) for number in range(32)]\n\
         [thread.start() for thread in threads]\n\
         [thread.join() for thread in threads]\n\
         assert len(done) == 32, done\n",
    );
}
