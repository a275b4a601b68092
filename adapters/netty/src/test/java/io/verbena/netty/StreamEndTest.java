// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the end of a stream whose device throws because the device has failed and the stream does
 * not know yet.
 */
@Tag("once")
class StreamEndTest {
  private static final int PIECE = 4096;
  private static final int ROUNDS = 10;

  private final Ends ends = new Ends();
  private final Collector received = new Collector();
  private final Channel server = Ends.bind(ends.server(received));

  /** Another channel on the stream's loop. */
  private final SocketChannel bystander = Ends.connect(ends.client(new Collector()), server);

  private final RdmaIoHandler handler =
      requireNonNull(((RdmaSocketChannel) bystander).handler(), "handler");

  private final Watcher owner = new Watcher();

  /** Records why the stream broke. */
  private static final class Watcher implements Stream.Owner {
    private volatile @Nullable IOException cause;

    @Override
    public void readable() {}

    @Override
    public void writable() {}

    @Override
    public boolean wantsBytes() {
      return false;
    }

    @Override
    public boolean isKeepAlive() {
      return true;
    }

    @Override
    public void broken(IOException why) {
      cause = why;
    }
  }

  /** The close fails if an object of the devices is still open. */
  @AfterEach
  void theLoopGoesOnAndClosesWhatIsLeft() {
    bystander.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 10);
    ends.close();
  }

  /**
   * Returns a proxy that throws in the first call of each method in {@code once}, and whose queue
   * pairs do so for the methods in {@code ofItsPair}.
   */
  private static <T> T failing(Class<T> type, T real, Set<String> once, Set<String> ofItsPair) {
    Set<String> left = new HashSet<>(once);
    return type.cast(
        Proxy.newProxyInstance(
            StreamEndTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (left.remove(method.getName())) {
                throw new VerbsException(VerbsError.IO, method.getName() + ": refused by a test");
              }
              try {
                Object result = method.invoke(real, arguments);
                return result instanceof QueuePair made
                    ? failing(QueuePair.class, made, ofItsPair, Set.of())
                    : result;
              } catch (InvocationTargetException e) {
                throw requireNonNull(e.getCause());
              }
            }));
  }

  /** Runs an action with an open stream on the loop. */
  private void onLoop(Set<String> once, Set<String> ofItsPair, Consumer<Stream> action) {
    ConnectionIdentifier identifier =
        failing(ConnectionIdentifier.class, resolve(), once, ofItsPair);
    bystander
        .eventLoop()
        .submit(
            () -> {
              Stream stream = new Stream(handler, identifier, owner);
              stream.open(new Handshake(1, false, PIECE, 32));
              action.accept(stream);
            })
        .syncUninterruptibly();
  }

  /** Resolves an address without connecting. */
  private ConnectionIdentifier resolve() {
    CountDownLatch resolved = new CountDownLatch(1);
    ConnectionIdentifier begun =
        handler
            .hca()
            .dispatcher()
            .resolve(
                handler.hca().uri((InetSocketAddress) server.localAddress()),
                Ends.LIMIT.toNanos(),
                event -> resolved.countDown());
    await().atMost(Ends.LIMIT).until(() -> resolved.getCount() == 0);
    return begun;
  }

  private int members() {
    return bystander
        .eventLoop()
        .submit(() -> handler.queues().count())
        .syncUninterruptibly()
        .getNow();
  }

  @Test
  void allOfItIsGivenBackThoughEachStepThrows() {
    int before = members();

    onLoop(Set.of("disconnect", "close"), Set.of("close"), Stream::abort);

    assertThat(members()).isEqualTo(before);
    assertThat(owner.cause).as("what who aborts it is told").isNull();
  }

  @Test
  void itBreaksWhereAQuestionForASignOfLifeCannotBePosted() {
    int before = members();

    onLoop(
        Set.of(),
        Set.of("postSend"),
        stream -> {
          for (int round = 0; round < ROUNDS; round++) {
            assertThatCode(stream::keepAlive).doesNotThrowAnyException();
          }
        });

    await().atMost(Ends.LIMIT).until(() -> owner.cause != null);
    assertThat(owner.cause).hasRootCauseInstanceOf(VerbsException.class);
    assertThat(members()).isEqualTo(before);
  }

  /** The stream's own release of the buffer then throws. */
  @Test
  void itBreaksWhereTheProgramHasReleasedABufferThatItSends() {
    Collector told = new Collector();
    SocketChannel victim = Ends.connect(ends.client(told), Ends.bind(ends.server(new Collector())));
    bystander
        .eventLoop()
        .submit(
            () -> {
              Stream stream = requireNonNull(((RdmaSocketChannel) victim).stream());
              ByteBuf bytes =
                  handler.hca().memory().allocator().directBuffer(PIECE).writeZero(PIECE);
              stream.writes().sendGathered(bytes, 0);
              bytes.release();
              stream.writes().postLinked();
            })
        .syncUninterruptibly();

    assertThat(victim.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    assertThat(told.events).hasAtLeastOneElementOfType(IOException.class);
  }

  @Test
  void itBreaksWhereTheHcaRefusesAReceiveWhoseFrameItGaveBack() {
    int before = members();

    onLoop(
        Set.of(),
        Set.of(),
        stream ->
            stream.receiveRefused(new VerbsException(VerbsError.NO_MEMORY, "refused by a test")));

    await().atMost(Ends.LIMIT).until(() -> owner.cause != null);
    assertThat(owner.cause)
        .hasMessageContaining("the HCA takes no more receives")
        .hasRootCauseInstanceOf(VerbsException.class);
    await().atMost(Ends.LIMIT).until(() -> members() == before);
  }

  @Test
  void itEndsWhereItsEndCannotBePosted() {
    int before = members();

    onLoop(Set.of(), Set.of("postSend"), stream -> stream.close(null));

    await().atMost(Ends.LIMIT).until(() -> members() == before);
  }

  /**
   * Without linked posts the caller still owns the buffer, into which a loop gathers the writes of
   * all its channels. With linked posts the stream owns and releases the buffer once it is in a
   * list.
   */
  @Test
  void aBufferThatCannotBePostedIsReleasedByWhoHasIt() {
    boolean linked = handler.linkedPosts() != null;
    ByteBuf gathered = registered();
    ByteBuf inPlace = registered();

    onLoop(
        Set.of(),
        Set.of("postSend"),
        stream -> {
          assertThatThrownBy(
                  () -> {
                    assertThat(stream.writes().sendGathered(gathered, 0)).isTrue();
                    stream.writes().postLinked();
                  })
              .isInstanceOf(VerbsException.class);
          stream.abort();
        });
    onLoop(
        Set.of(),
        Set.of("postSend"),
        stream -> {
          assertThatThrownBy(
                  () -> {
                    assertThat(stream.writes().sendInPlace(inPlace, 0, PIECE)).isEqualTo(PIECE);
                    stream.writes().postLinked();
                  })
              .isInstanceOf(VerbsException.class);
          stream.abort();
        });

    assertThat(gathered.refCnt()).isEqualTo(linked ? 0 : 1);
    assertThat(inPlace.refCnt()).isEqualTo(1);
    if (!linked) {
      gathered.release();
    }
    inPlace.release();
  }

  private ByteBuf registered() {
    return handler.hca().memory().allocator().directBuffer(PIECE).writeZero(PIECE);
  }
}
