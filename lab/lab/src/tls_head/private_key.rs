//! A TLS server's private operations on an accelerator: many handshakes wait in one batch without a thread each.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use oarlock::{Accelerator, DigestAlg, Input, Job, Key, PendingAnswer, Scheme, SubmitOptions};
use s2n_tls::callbacks::{ConnectionFuture, OperationType, PrivateKeyCallback, PrivateKeyOperation};
use s2n_tls::connection::Connection;
use s2n_tls::enums::{HashAlgorithm, SignatureAlgorithm};
use s2n_tls::error::Error;

/// An accelerator, and the key of the server's certificate, local or held elsewhere.
#[derive(Debug)]
pub(super) struct AcceleratorSigner {
    pub(super) accelerator: Accelerator,
    pub(super) key: Key,
}

impl PrivateKeyCallback for AcceleratorSigner {
    fn handle_operation(
        &self,
        _connection: &mut Connection,
        operation: PrivateKeyOperation,
    ) -> Result<Option<Pin<Box<dyn ConnectionFuture>>>, Error> {
        let scheme = scheme(operation.kind()?)?;
        let mut digest = vec![0; operation.input_size()?];
        operation.input(&mut digest)?;
        // The job is submitted here and not at the first poll, so that it can join the batch that is being formed.
        let job = Job::with_scheme(scheme, &self.key, Input::Digest(&digest), &[]);
        let signature = self.accelerator.submit(&job, SubmitOptions::default());
        Ok(Some(Box::pin(PendingSignature { signature, operation: Some(operation) })))
    }
}

/// A handshake that waits for its signature.
struct PendingSignature {
    signature: PendingAnswer,
    /// None once answered.
    operation: Option<PrivateKeyOperation>,
}

impl ConnectionFuture for PendingSignature {
    fn poll(
        mut self: Pin<&mut Self>,
        connection: &mut Connection,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        let signature = ready!(Pin::new(&mut self.signature).poll(context));
        let Some(operation) = self.operation.take() else {
            // unreachable because s2n-tls does not poll a future that was ready
            return Poll::Ready(Err(Error::application("it has been answered".into())));
        };
        Poll::Ready(match signature {
            Ok(signature) => operation.set_output(connection, &signature),
            Err(error) => Err(Error::application(Box::new(error))),
        })
    }
}

/// Returns the scheme of an operation. The salt of PSS is as long as the digest. RFC 8446 4.2.3.
fn scheme(operation: &OperationType) -> Result<Scheme, Error> {
    let OperationType::Sign(signature, hash) = operation else {
        return Err(Error::application(
            "expected to sign: no cipher with RSA key transport is offered".into(),
        ));
    };
    let digest = match hash {
        HashAlgorithm::SHA256 => DigestAlg::Sha256,
        HashAlgorithm::SHA384 => DigestAlg::Sha384,
        HashAlgorithm::SHA512 => DigestAlg::Sha512,
        other => return Err(Error::application(format!("expected SHA-2, found {other:?}").into())),
    };
    match signature {
        // For TLS 1.2 only.
        SignatureAlgorithm::RSA_PKCS1 => Ok(Scheme::RsaPkcs1Sign { digest }),
        SignatureAlgorithm::RSA_PSS_RSAE => {
            Ok(Scheme::RsaPssSign { digest, mgf: digest, salt_len: digest.output_len() as u16 })
        }
        other => Err(Error::application(format!("expected an RSA signature, found {other:?}").into())),
    }
}
