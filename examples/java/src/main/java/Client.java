import com.google.protobuf.ByteString;
import io.github.oarlock.v1.CryptoserverGrpc;
import io.github.oarlock.v1.DecryptRequest;
import io.github.oarlock.v1.Digest;
import io.github.oarlock.v1.EncryptRequest;
import io.github.oarlock.v1.MacRequest;
import io.github.oarlock.v1.Scheme;
import io.github.oarlock.v1.SignRequest;
import io.github.oarlock.v1.VerifyMacRequest;
import io.github.oarlock.v1.VerifyRequest;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import java.io.File;
import java.util.concurrent.TimeUnit;

/**
 * A client of the cryptoserver: signs, encrypts, and authenticates single values.
 *
 * <p>{@code mvn -q compile exec:java -Dexec.args="$HOME/.local/state/oarlock localhost:7443"}. The directory has the
 * certificates of the development set-up, which {@code oarlock serve} makes.
 */
public final class Client {
    public static void main(String[] args) throws Exception {
        File state = new File(args[0]);
        var credentials = TlsChannelCredentials.newBuilder()
            .keyManager(new File(state, "client.pem"), new File(state, "client-key.pem"))
            .trustManager(new File(state, "ca.pem"))
            .build();
        ManagedChannel channel = Grpc.newChannelBuilder(args[1], credentials).build();
        try {
            call(CryptoserverGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS));
        } finally {
            channel.shutdownNow();
        }
    }

    private static void call(CryptoserverGrpc.CryptoserverBlockingStub server) {
        ByteString message = ByteString.copyFromUtf8("hello");

        // A signature, and its verification.
        var scheme = Scheme.newBuilder().setKind(Scheme.Kind.ECDSA_SIGN).setDigest(Digest.SHA256);
        var signed = server.sign(
            SignRequest.newBuilder().setKey("p256").setScheme(scheme).setMessage(message).build());
        scheme.setKind(Scheme.Kind.ECDSA_VERIFY);
        var verified = server.verify(VerifyRequest.newBuilder().setResident("p256").setScheme(scheme)
            .setMessage(message).setSignature(signed.getSignature()).build());
        System.out.println("signature valid: " + verified.getIsValid());

        // Values under a symmetric key. Store keyVersion beside the ciphertexts: it survives a rotation of the key.
        ByteString aad = ByteString.copyFromUtf8("cards");
        var sealed = server.encrypt(EncryptRequest.newBuilder().setKey("aes128").setAad(aad)
            .addPlaintexts(ByteString.copyFromUtf8("4111111111111111"))
            .addPlaintexts(ByteString.copyFromUtf8("5555555555554444")).build());
        var opened = server.decrypt(DecryptRequest.newBuilder().setKey("aes128").setAad(aad)
            .setKeyVersion(sealed.getKeyVersion()).addAllCiphertexts(sealed.getCiphertextsList()).build());
        System.out.println("decrypted: " + opened.getPlaintexts(0).toStringUtf8() + " "
            + opened.getPlaintexts(1).toStringUtf8());

        // A message authentication code.
        var made = server.mac(MacRequest.newBuilder().setKey("hmac").addMessages(message).build());
        var compared = server.verifyMac(VerifyMacRequest.newBuilder().setKey("hmac").addMessages(message)
            .addAllMacs(made.getMacsList()).build());
        System.out.println("code valid: " + compared.getAreValid(0));

        // What cannot be done ends with a status.
        try {
            server.encrypt(EncryptRequest.newBuilder().setKey("absent").addPlaintexts(message).build());
        } catch (StatusRuntimeException error) {
            System.out.println("absent key: " + error.getStatus().getCode());
        }
    }
}
