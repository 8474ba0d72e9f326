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
 */
public class TlsServer {
    private static final int THREADS = 32;

    public static void main(String[] args) throws Exception {
        Provider provider = Security.getProvider("SunPKCS11").configure(args[0]);
        // The last provider: only operations with keys of the token reach the module.
        Security.addProvider(provider);
        KeyStore keys = KeyStore.getInstance("PKCS11", provider);
        keys.load(null, args[1].toCharArray());
        KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
        managers.init(keys, null);
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
