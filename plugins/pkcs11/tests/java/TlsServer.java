import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.security.KeyStore;
import java.security.Provider;
import java.security.Security;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/**
 * A TLS server whose private key is the one of a token. It echoes one byte per connection, until its input ends.
 *
 * <pre>java TlsServer.java SUNPKCS11-SETTINGS PIN</pre>
 *
 * In place of the settings, a PKCS#12 file whose name ends with .p12 gives its key to Java's own providers.
 */
public class TlsServer {
    private static final int THREADS = 32;

    public static void main(String[] args) throws Exception {
        char[] pin = args[1].toCharArray();
        KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
        if (args[0].endsWith(".p12")) {
            managers.init(KeyStore.getInstance(new File(args[0]), pin), pin);
        } else {
            managers.init(openToken(args[0], pin), null);
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);

        SSLServerSocket server = (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0, 1024);
        AtomicInteger connections = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        Thread accepting = new Thread(() -> accept(server, threads, connections));
        accepting.setDaemon(true);
        accepting.start();
        System.out.println("port " + server.getLocalPort());

        System.in.transferTo(OutputStream.nullOutputStream());
        threads.shutdownNow();
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        System.out.println(connections + " connections, " + system.getProcessCpuTime() / 1_000_000 + " ms of CPU time");
        System.exit(0);
    }

    private static KeyStore openToken(String settings, char[] pin) throws Exception {
        Provider provider = Security.getProvider("SunPKCS11").configure(settings);
        // The last provider: only operations with keys of the token reach the module.
        Security.addProvider(provider);
        KeyStore keys = KeyStore.getInstance("PKCS11", provider);
        keys.load(null, pin);
        return keys;
    }

    private static void accept(SSLServerSocket server, ExecutorService threads, AtomicInteger connections) {
        while (true) {
            try {
                SSLSocket socket = (SSLSocket) server.accept();
                threads.execute(() -> echo(socket, connections));
            } catch (Exception error) {
                System.err.println("accept: " + error);
                return;
            }
        }
    }

    private static void echo(SSLSocket socket, AtomicInteger connections) {
        try (socket; InputStream in = socket.getInputStream(); OutputStream out = socket.getOutputStream()) {
            int sent = in.read();
            connections.incrementAndGet();
            out.write(sent);
        } catch (Exception error) {
            System.err.println("connection: " + error);
        }
    }
}
