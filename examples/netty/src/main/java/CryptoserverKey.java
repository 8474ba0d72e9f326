import com.google.protobuf.ByteString;
import io.github.oarlock.v1.*;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.*;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.ssl.OpenSslAsyncPrivateKeyMethod;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.*;
import javax.net.ssl.SSLEngine;

/** A key of a cryptoserver. Signatures that connections of an event loop want at the same time share a batch. */
final class CryptoserverKey extends SimpleChannelInboundHandler<ByteBuf> implements OpenSslAsyncPrivateKeyMethod {
    /** What waits meanwhile makes the next batch. */
    private static final int MAX_BATCHES_IN_FLIGHT = 2;
    private static final int MAX_FRAME = 1 << 20;
    private static final ByteString FIRST_HANDLE = ByteString.copyFrom(new byte[4]);
    private static final Map<Integer, Scheme.Kind> KINDS = Map.of(
        SSL_SIGN_RSA_PSS_RSAE_SHA256, Scheme.Kind.RSA_PSS_SIGN,
        SSL_SIGN_RSA_PKCS1_SHA256, Scheme.Kind.RSA_PKCS1_SIGN,
        SSL_SIGN_ECDSA_SECP256R1_SHA256, Scheme.Kind.ECDSA_SIGN);

    private record Signature(Scheme scheme, byte[] message, Promise<byte[]> promise) {}

    private final EventLoop loop;
    private Channel channel;
    private List<Signature> waiting = new ArrayList<>();
    private boolean isFlushDue;
    private final Map<Long, List<Signature>> inFlight = new HashMap<>();
    private long lastId;

    private CryptoserverKey(EventLoop loop) {
        this.loop = loop;
    }

    /** Opens a key. The connection lives on the event loop of the TLS connections, so nothing needs a lock. */
    static CryptoserverKey open(EventLoop loop, String socket, String name) throws InterruptedException {
        CryptoserverKey key = new CryptoserverKey(loop);
        ChannelInitializer<Channel> frames = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(
                    new LengthFieldBasedFrameDecoder(ByteOrder.LITTLE_ENDIAN, MAX_FRAME, 0, 4, 0, 4, true), key);
            }
        };
        Bootstrap bootstrap = new Bootstrap().group(loop).channel(EpollDomainSocketChannel.class).handler(frames);
        key.channel = bootstrap.connect(new DomainSocketAddress(socket)).sync().channel();
        key.channel.write(Unpooled.wrappedBuffer("oarlock\1".getBytes(StandardCharsets.US_ASCII)));
        key.send(Request.newBuilder().setOpenKey(OpenKey.newBuilder().setResident(name)));
        return key;
    }

    @Override
    public Future<byte[]> sign(SSLEngine engine, int algorithm, byte[] message) {
        Scheme.Kind kind = KINDS.get(algorithm);
        if (kind == null) {
            return loop.newFailedFuture(new IllegalArgumentException("signature algorithm " + algorithm));
        }
        Scheme scheme = Scheme.newBuilder().setKind(kind).setDigest(Digest.SHA256).build();
        Promise<byte[]> promise = loop.newPromise();
        waiting.add(new Signature(scheme, message, promise));
        flushLater();
        return promise;
    }

    @Override
    public Future<byte[]> decrypt(SSLEngine engine, byte[] input) {
        return loop.newFailedFuture(new UnsupportedOperationException("RSA key exchange"));
    }

    /** Sends when the loop has read from all connections that are ready: all of their signatures go together. */
    private void flushLater() {
        if (!isFlushDue && !waiting.isEmpty() && inFlight.size() < MAX_BATCHES_IN_FLIGHT) {
            isFlushDue = true;
            loop.execute(this::flush);
        }
    }

    private void flush() {
        isFlushDue = false;
        List<Scheme> schemes = waiting.stream().map(Signature::scheme).distinct().toList();
        ByteBuf schemeOf = Unpooled.buffer(), inputs = Unpooled.buffer(), lens = Unpooled.buffer();
        for (Signature signature : waiting) {
            schemeOf.writeByte(schemes.indexOf(signature.scheme));
            inputs.writeBytes(signature.message);
            lens.writeIntLE(signature.message.length);
        }
        Jobs.Builder jobs = Jobs.newBuilder().setCount(waiting.size()).addAllSchemes(schemes)
            .setSchemeOf(bytes(schemeOf)).setKeyOf(FIRST_HANDLE).setInputs(bytes(inputs)).setInputLens(bytes(lens));
        inFlight.put(++lastId, waiting);
        waiting = new ArrayList<>();
        send(Request.newBuilder().setId(lastId).setJobs(jobs));
    }

    private void send(Request.Builder request) {
        byte[] bytes = request.build().toByteArray();
        ByteBuf frame = Unpooled.buffer(4 + bytes.length).writeIntLE(bytes.length).writeBytes(bytes);
        channel.writeAndFlush(frame).addListener(sent -> {
            if (!sent.isSuccess()) {
                fail(sent.cause());
            }
        });
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) throws Exception {
        Response response = Response.parseFrom(ByteBufUtil.getBytes(frame));
        List<Signature> answered = inFlight.remove(response.getId());
        if (response.hasFault()) {
            // Of a batch, of the key or of the connection: nothing that this example could repeat.
            fail(new IllegalStateException(response.getFault().getMessage()));
        } else if (answered != null) {
            complete(answered, response.getResults());
            flushLater();
        }
    }

    private static void complete(List<Signature> answered, Results results) {
        ByteBuf lens = Unpooled.wrappedBuffer(results.getOutputLens().asReadOnlyByteBuffer());
        int start = 0;
        for (int index = 0; index < answered.size(); index++) {
            // One length for all, or one for each.
            int len = lens.getIntLE(lens.capacity() == 4 ? 0 : 4 * index);
            Promise<byte[]> promise = answered.get(index).promise;
            if (results.getCodes().isEmpty() || results.getCodes().byteAt(index) == Code.DONE_VALUE) {
                promise.setSuccess(results.getOutputs().substring(start, start + len).toByteArray());
            } else {
                promise.setFailure(new IllegalStateException(Code.forNumber(results.getCodes().byteAt(index)).name()));
            }
            start += len;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail(new IllegalStateException("the cryptoserver has closed the connection"));
    }

    /** Fails every signature. A real server would connect again. */
    private void fail(Throwable cause) {
        inFlight.values().forEach(batch -> batch.forEach(one -> one.promise.tryFailure(cause)));
        inFlight.clear();
        waiting.forEach(one -> one.promise.tryFailure(cause));
        waiting.clear();
        channel.close();
    }

    private static ByteString bytes(ByteBuf buffer) {
        return ByteString.copyFrom(buffer.nioBuffer());
    }
}
