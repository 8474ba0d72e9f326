import java.io.FileInputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * TLS clients in threads. Each opens connections one after the other, without resumption, and wants its byte back.
 *
 * <pre>java TlsClients.java PORT CERTIFICATE-IN-PEM PROTOCOL THREADS CONNECTIONS-OF-EACH</pre>
 */
public class TlsClients {
    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        X509Certificate certificate;
        try (FileInputStream in = new FileInputStream(args[1])) {
            certificate = (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
        }
        String protocol = args[2];
        int threads = Integer.parseInt(args[3]);
        int each = Integer.parseInt(args[4]);

        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        trusted.setCertificateEntry("server", certificate);
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);

        // Daemons, so that the first failure ends the program.
        ExecutorService pool = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        List<Future<?>> clients = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            byte sent = (byte) thread;
            clients.add(pool.submit(() -> {
                for (int connection = 0; connection < each; connection++) {
                    // A context of its own has no session to resume.
                    SSLContext context = SSLContext.getInstance("TLS");
                    context.init(null, trust.getTrustManagers(), null);
                    connect(context, port, protocol, certificate, sent);
                }
                return null;
            }));
        }
        for (Future<?> client : clients) {
            client.get();
        }
        System.out.println(threads * each + " connections with " + protocol);
    }

    private static void connect(SSLContext context, int port, String protocol, X509Certificate certificate, byte sent)
            throws Exception {
        try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.setEnabledProtocols(new String[] {protocol});
            socket.getOutputStream().write(sent);
            int answer = socket.getInputStream().read();
            if ((byte) answer != sent) {
                throw new IllegalStateException("expected " + sent + ", got " + answer);
            }
            if (!socket.getSession().getProtocol().equals(protocol)) {
                throw new IllegalStateException("the protocol is " + socket.getSession().getProtocol());
            }
            if (!socket.getSession().getPeerCertificates()[0].equals(certificate)) {
                throw new IllegalStateException("the server has another certificate");
            }
        }
    }
}
