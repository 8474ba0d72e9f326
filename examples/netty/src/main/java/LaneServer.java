import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.*;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.handler.ssl.*;
import java.io.FileInputStream;
import java.net.InetSocketAddress;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;

/** A TLS server with one event loop, whose key is at a cryptoserver: LaneServer SOCKET KEY CHAIN.pem PORT. */
public final class LaneServer {
    public static void main(String[] args) throws Exception {
        X509Certificate[] chain;
        try (FileInputStream in = new FileInputStream(args[2])) {
            chain = CertificateFactory.getInstance("X.509").generateCertificates(in).toArray(X509Certificate[]::new);
        }
        EventLoop loop = (EventLoop) new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory()).next();
        SslContext tls = SslContextBuilder.forServer(OpenSslX509KeyManagerFactory.newKeyless(chain))
            .sslProvider(SslProvider.OPENSSL)
            .option(OpenSslContextOption.ASYNC_PRIVATE_KEY_METHOD, CryptoserverKey.open(loop, args[0], args[1]))
            .build();
        ChannelInitializer<Channel> connections = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(tls.newHandler(channel.alloc()), new Echo());
            }
        };
        Channel server = new ServerBootstrap().group(loop).channel(EpollServerSocketChannel.class)
            .childHandler(connections).bind("127.0.0.1", Integer.parseInt(args[3])).sync().channel();
        System.out.println("port " + ((InetSocketAddress) server.localAddress()).getPort());
        server.closeFuture().sync();
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }
}
