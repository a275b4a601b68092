// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.ConnectionClosedException;
import io.verbena.HcaException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.reactor.testing.hca.LimitedProvider;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests an HCA that takes only the first request of a list, which it should never do. */
class RefusedListTest {
  private static final int LENGTH = 4096;
  private static final int READS = 8;

  private final ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH);
  private Ends ends;
  private RdmaConnection client;
  private RdmaMemory.Region region;
  private RemoteMemory token;

  @BeforeEach
  void connect() {
    ends = Ends.create(Ends.options());
    Ends.Pair pair =
        ends.connect(
            LimitedProvider.faulty(
                ends.server().address(), Fault.Place.POST_LIST, Fault.Kind.EXCEPTION));
    client = pair.client();
    region = pair.server().memory().register(memory, Set.of(Right.READ, Right.WRITE));
    token = region.token();
  }

  @AfterEach
  void close() {
    region.close();
    ends.close();
  }

  /**
   * The atomic is rejected before the list is built, as a refused list would cost the connection.
   */
  @Test
  void holdsNoAtomicThatTheHcaDoesNotHave() {
    assumeTrue(Ends.haveAtomics(), "the peer's HCA has no atomics");
    RdmaMemory.Region counters =
        ends.server()
            .memory()
            .register(ByteBuffer.allocateDirect(Long.BYTES), Set.of(Right.ATOMIC));
    RemoteMemory counter = counters.token();

    assertThatThrownBy(() -> client.fetchAndAdd(counter, 1).block(Ends.LIMIT))
        .isInstanceOf(HcaException.class)
        .hasMessageContaining("fetchAndAdd")
        .hasMessageContaining("the HCA has no atomics");
    assertThatThrownBy(() -> client.compareAndSwap(counter, 0, 1).block(Ends.LIMIT))
        .isInstanceOf(HcaException.class);
    client.read(token).doOnNext(ByteBuf::release).block(Ends.LIMIT);
    counters.close();
  }

  @Test
  void endsEachOperationOnceAndTheConnection() {
    CompletableFuture<Void> ended = client.onClose().toFuture();
    List<ByteBuf> buffers =
        IntStream.range(0, READS).mapToObj(i -> Unpooled.directBuffer(64, 64)).toList();

    // The first read completes on the loop, where the others form one list.
    List<Throwable> failures =
        client
            .read(token)
            .doOnNext(ByteBuf::release)
            .flatMapMany(
                first ->
                    Flux.fromIterable(buffers)
                        .flatMap(
                            into ->
                                client
                                    .read(token.slice(0, 64), into)
                                    .then(Mono.<Throwable>empty())
                                    .onErrorResume(Mono::just)))
            .collectList()
            .block(Ends.LIMIT);

    assertThat(failures).hasSizeBetween(READS - 1, READS).allMatch(RdmaException.class::isInstance);
    assertThat(ended)
        .failsWithin(Ends.LIMIT)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(ConnectionClosedException.class)
        .withMessageContaining(Fault.MESSAGE);
    assertThat(buffers).allSatisfy(each -> assertThat(each.refCnt()).isEqualTo(1));
    buffers.forEach(ByteBuf::release);
  }

  @Test
  void doesNothingBehindTheGap() {
    int writes = 40;
    int length = 8;

    // More writes than a list takes: the later ones find the list refused.
    List<Throwable> failures =
        client
            .read(token)
            .doOnNext(ByteBuf::release)
            .flatMapMany(
                first ->
                    Flux.range(0, writes)
                        .flatMap(
                            i ->
                                client
                                    .write(
                                        Ends.fill(Unpooled.buffer(), length, 1 + i),
                                        token.slice((long) i * length, length))
                                    .then(Mono.<Throwable>empty())
                                    .onErrorResume(Mono::just),
                            writes))
            .collectList()
            .block(Ends.LIMIT);

    assertThat(failures).hasSizeBetween(writes - 1, writes);
    assertThat(client.onClose().onErrorComplete().then(Mono.just(true)).block(Ends.LIMIT)).isTrue();
    byte[] behind = new byte[LENGTH - length];
    memory.get(length, behind);
    assertThat(behind).containsOnly(0);
  }
}
