import java.lang.management.ManagementFactory;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Security;
import java.security.Signature;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Signatures per second of CPU time, in threads. The key is that of an entry, or one of Java's own provider.
 *
 * <pre>java SignRate.java THREADS SECONDS ALGORITHM SUNPKCS11-SETTINGS PIN ALIAS
 *java SignRate.java THREADS SECONDS ALGORITHM</pre>
 */
public class SignRate {
    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        double seconds = Double.parseDouble(args[1]);
        String algorithm = args[2];
        PrivateKey key;
        PublicKey verifying;
        if (args.length > 3) {
            Provider provider = Security.getProvider("SunPKCS11").configure(args[3]);
            Security.addProvider(provider);
            KeyStore keys = KeyStore.getInstance("PKCS11", provider);
            keys.load(null, args[4].toCharArray());
            key = (PrivateKey) keys.getKey(args[5], null);
            verifying = keys.getCertificate(args[5]).getPublicKey();
        } else {
            boolean isRsa = algorithm.endsWith("RSA");
            KeyPairGenerator generator = KeyPairGenerator.getInstance(isRsa ? "RSA" : "EC");
            generator.initialize(isRsa ? 2048 : 256);
            var pair = generator.generateKeyPair();
            key = pair.getPrivate();
            verifying = pair.getPublic();
        }
        // The compiler of the virtual machine works during the first run.
        run(threads, seconds / 2, algorithm, key, verifying);
        System.out.println(run(threads, seconds, algorithm, key, verifying));
    }

    private static String run(int threads, double seconds, String algorithm, PrivateKey key, PublicKey verifying)
            throws Exception {
        AtomicLong signatures = new AtomicLong();
        CountDownLatch ended = new CountDownLatch(threads);
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (int thread = 0; thread < threads; thread++) {
            new Thread(() -> {
                try {
                    Signature signer = Signature.getInstance(algorithm);
                    byte[] message = new byte[32];
                    byte[] signature;
                    long own = 0;
                    signer.initSign(key);
                    // At least once, however late the thread begins.
                    do {
                        message[0]++;
                        signer.update(message);
                        signature = signer.sign();
                        own++;
                    } while (System.nanoTime() < end);
                    Signature verifier = Signature.getInstance(algorithm);
                    verifier.initVerify(verifying);
                    verifier.update(message);
                    if (!verifier.verify(signature)) {
                        throw new IllegalStateException("a signature does not verify");
                    }
                    signatures.addAndGet(own);
                    ended.countDown();
                } catch (Exception error) {
                    error.printStackTrace();
                    System.exit(1);
                }
            }).start();
        }
        ended.await();
        double used = (system.getProcessCpuTime() - cpu) / 1e9;
        return String.format("%d threads, %s: %.0f signatures per CPU second", threads, algorithm, signatures.get() / used);
    }
}
