import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Security;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.HexFormat;
import javax.crypto.KeyGenerator;
import org.bouncycastle.jcajce.SecretKeyWithEncapsulation;
import org.bouncycastle.jcajce.spec.ContextParameterSpec;
import org.bouncycastle.jcajce.spec.KEMExtractSpec;
import org.bouncycastle.jcajce.spec.KEMGenerateSpec;
import org.bouncycastle.jce.provider.BouncyCastleProvider;

/**
 * Answers each line of standard input with a line of hexadecimal digits. Fields are separated by tabs, and keys are
 * PKCS #8 or SubjectPublicKeyInfo.
 *
 * <pre>generate ALGORITHM                           PRIVATE and PUBLIC
 *sign ALGORITHM PRIVATE MESSAGE CONTEXT         SIGNATURE
 *verify ALGORITHM PUBLIC MESSAGE CONTEXT SIGNATURE   01 or 00
 *encapsulate ALGORITHM PUBLIC                  CIPHERTEXT and SECRET
 *decapsulate ALGORITHM PRIVATE CIPHERTEXT      SECRET</pre>
 */
public class Lattice {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        Security.addProvider(new BouncyCastleProvider());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(answer(line.split("\t", -1)));
        }
    }

    private static String answer(String[] fields) throws Exception {
        String algorithm = fields[1];
        switch (fields[0]) {
            case "generate" -> {
                KeyPair pair = KeyPairGenerator.getInstance(algorithm, "BC").generateKeyPair();
                return pair(pair.getPrivate().getEncoded(), pair.getPublic().getEncoded());
            }
            case "sign" -> {
                Signature signing = Signature.getInstance(algorithm, "BC");
                signing.initSign(privateKey(algorithm, fields[2]));
                return HEX.formatHex(withMessage(signing, fields).sign());
            }
            case "verify" -> {
                Signature verifying = Signature.getInstance(algorithm, "BC");
                verifying.initVerify(publicKey(algorithm, fields[2]));
                return withMessage(verifying, fields).verify(HEX.parseHex(fields[5])) ? "01" : "00";
            }
            case "encapsulate" -> {
                KEMGenerateSpec.Builder wanted =
                    new KEMGenerateSpec.Builder(publicKey(algorithm, fields[2]), "AES", 256);
                SecretKeyWithEncapsulation made = generator(algorithm, wanted.withNoKdf().build());
                return pair(made.getEncapsulation(), made.getEncoded());
            }
            default -> {
                byte[] ciphertext = HEX.parseHex(fields[3]);
                KEMExtractSpec.Builder wanted =
                    new KEMExtractSpec.Builder(privateKey(algorithm, fields[2]), ciphertext, "AES", 256);
                return HEX.formatHex(generator(algorithm, wanted.withNoKdf().build()).getEncoded());
            }
        }
    }

    private static String pair(byte[] first, byte[] second) {
        return HEX.formatHex(first) + "\t" + HEX.formatHex(second);
    }

    private static PrivateKey privateKey(String algorithm, String key) throws Exception {
        return KeyFactory.getInstance(algorithm, "BC").generatePrivate(new PKCS8EncodedKeySpec(HEX.parseHex(key)));
    }

    private static PublicKey publicKey(String algorithm, String key) throws Exception {
        return KeyFactory.getInstance(algorithm, "BC").generatePublic(new X509EncodedKeySpec(HEX.parseHex(key)));
    }

    private static Signature withMessage(Signature signature, String[] fields) throws Exception {
        if (!fields[4].isEmpty()) {
            signature.setParameter(new ContextParameterSpec(HEX.parseHex(fields[4])));
        }
        signature.update(HEX.parseHex(fields[3]));
        return signature;
    }

    private static SecretKeyWithEncapsulation generator(
            String algorithm, java.security.spec.AlgorithmParameterSpec wanted) throws Exception {
        KeyGenerator generator = KeyGenerator.getInstance(algorithm, "BC");
        generator.init(wanted);
        return (SecretKeyWithEncapsulation) generator.generateKey();
    }
}
