"""A client of the cryptoserver: signs, encrypts, and authenticates single values.

    $ pip install grpcio grpcio-tools
    $ python3 -m grpc_tools.protoc -I crates/io/wire/proto --python_out=. --grpc_python_out=. oarlock/v1/cryptoserver.proto
    $ python3 examples/python/client.py ~/.local/state/oarlock localhost:7443

The directory has the certificates of the development set-up, which `oarlock serve` makes.
"""

import pathlib
import sys

import grpc

sys.path.append(".")
from oarlock.v1 import cryptoserver_pb2 as pb
from oarlock.v1.cryptoserver_pb2_grpc import CryptoserverStub

TIMEOUT = 5  # seconds


def connect(state, address):
    read = lambda name: (state / name).read_bytes()
    credentials = grpc.ssl_channel_credentials(read("ca.pem"), read("client-key.pem"), read("client.pem"))
    return grpc.secure_channel(address, credentials)


def main(state, address):
    with connect(pathlib.Path(state), address) as channel:
        server = CryptoserverStub(channel)

        # A signature, and its verification.
        scheme = pb.Scheme(kind=pb.Scheme.ECDSA_SIGN, digest=pb.SHA256)
        signed = server.Sign(pb.SignRequest(key="p256", scheme=scheme, message=b"hello"), timeout=TIMEOUT)
        scheme = pb.Scheme(kind=pb.Scheme.ECDSA_VERIFY, digest=pb.SHA256)
        request = pb.VerifyRequest(resident="p256", scheme=scheme, message=b"hello", signature=signed.signature)
        print("signature valid:", server.Verify(request, timeout=TIMEOUT).is_valid)

        # Values under a symmetric key. Store key_version beside the ciphertexts: it survives a rotation of the key.
        request = pb.EncryptRequest(key="aes128", plaintexts=[b"4111111111111111", b"5555555555554444"], aad=b"cards")
        sealed = server.Encrypt(request, timeout=TIMEOUT)
        request = pb.DecryptRequest(
            key="aes128", key_version=sealed.key_version, ciphertexts=sealed.ciphertexts, aad=b"cards"
        )
        opened = server.Decrypt(request, timeout=TIMEOUT)
        print("decrypted:", *(value.decode() for value in opened.plaintexts))

        # A message authentication code.
        made = server.Mac(pb.MacRequest(key="hmac", messages=[b"hello"]), timeout=TIMEOUT)
        request = pb.VerifyMacRequest(key="hmac", messages=[b"hello"], macs=made.macs)
        print("code valid:", *server.VerifyMac(request, timeout=TIMEOUT).are_valid)

        # What cannot be done ends with a status.
        try:
            server.Encrypt(pb.EncryptRequest(key="absent", plaintexts=[b"x"]), timeout=TIMEOUT)
        except grpc.RpcError as error:
            print("absent key:", error.code().name)


if __name__ == "__main__":
    main(*sys.argv[1:])
