// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Tests user-made buffers whose methods throw: their operation ends, another connection on the same
 * loop keeps working, and nothing leaks.
 */
class HostileBufferTest {
  /**
   * Netty's logger that warns of each buffer that could not be released. The field keeps the
   * logger, as a logger without references loses its level.
   */
  private static final Logger LOGGER = Logger.getLogger(ReferenceCountUtil.class.getName());

  @BeforeAll
  static void quiet() {
    LOGGER.setLevel(Level.OFF);
  }

  @AfterAll
  static void loud() {
    LOGGER.setLevel(null);
  }

  /** The methods that throw. */
  enum BufferMethod {
    REFERENCES,
    LENGTH,
    CONTENT,
    RETAIN,
    RELEASE
  }

  static Stream<Arguments> all() {
    return Stream.of(BufferMethod.values())
        .flatMap(method -> Stream.of(Fault.Kind.values()).map(kind -> Arguments.of(method, kind)));
  }

  @ParameterizedTest
  @MethodSource("all")
  void harmsNobodyElse(BufferMethod method, Fault.Kind kind) {
    try (Ends ends = Ends.create(Ends.options().loops(1))) {
      Ends.Pair innocent = ends.connect();
      RdmaMemory.Region region =
          innocent
              .server()
              .memory()
              .register(ByteBuffer.allocateDirect(64), EnumSet.allOf(Right.class));

      RdmaConnection sends = ends.connect().client();
      end(
          sends,
          sends.send(
              Flux.range(0, 3)
                  .map(n -> n == 1 ? new Hostile(method, kind) : Ends.message(sends, 8, n))));
      RdmaConnection writes = ends.connect().client();
      end(writes, Mono.defer(() -> writes.write(new Hostile(method, kind), region.token())));
      RdmaConnection notifies = ends.connect().client();
      end(
          notifies,
          Mono.defer(
              () -> notifies.writeWithImmediate(new Hostile(method, kind), region.token(), 1)));
      RdmaConnection reads = ends.connect().client();
      end(reads, Mono.defer(() -> reads.read(region.token(), new Hostile(method, kind))));

      region.close();
      RdmaConnection client = innocent.client();
      client.send(Mono.fromSupplier(() -> Ends.message(client, 8, 1))).block(Ends.LIMIT);
      assertThat(innocent.server().receive().next().map(Ends::take).block(Ends.LIMIT))
          .isEqualTo(Ends.bytes(8, 1));
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.Kind.class)
  void isReleasedWhereALongOneCannotBeRead(Fault.Kind kind) {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      ByteBuf message = new Hostile(BufferMethod.CONTENT, kind, 100_000);

      assertThat(pair.client().send(Mono.just(message)).toFuture()).failsWithin(Ends.LIMIT);

      assertThat(message.refCnt()).isZero();
    }
  }

  /**
   * Asserts that the operation ends, and that the connection can be closed unless it ended, too.
   */
  private static void end(RdmaConnection connection, Mono<Void> operation) {
    CompletableFuture<Boolean> ended = operation.thenReturn(true).onErrorReturn(false).toFuture();
    assertThat(ended).succeedsWithin(Ends.LIMIT);
    CompletableFuture<Boolean> closed =
        connection.close().thenReturn(true).onErrorReturn(false).toFuture();
    assertThat(closed).succeedsWithin(Ends.LIMIT);
    assertThat(connection.onClose().thenReturn(true).onErrorReturn(false).toFuture())
        .succeedsWithin(Ends.LIMIT);
  }

  /** A buffer some of whose methods throw. */
  private static final class Hostile extends UnpooledHeapByteBuf {
    private final BufferMethod method;
    private final Fault.Kind kind;
    private final boolean armed;

    Hostile(BufferMethod method, Fault.Kind kind) {
      this(method, kind, 8);
    }

    Hostile(BufferMethod method, Fault.Kind kind, int length) {
      super(UnpooledByteBufAllocator.DEFAULT, length, length);
      this.method = method;
      this.kind = kind;
      writeZero(length);
      armed = true;
    }

    private void at(BufferMethod here) {
      if (armed && here == method) {
        kind.raise();
      }
    }

    @Override
    public int refCnt() {
      at(BufferMethod.REFERENCES);
      return super.refCnt();
    }

    @Override
    public int readableBytes() {
      at(BufferMethod.LENGTH);
      return super.readableBytes();
    }

    @Override
    public int writableBytes() {
      at(BufferMethod.LENGTH);
      return super.writableBytes();
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf to, int toIndex, int length) {
      at(BufferMethod.CONTENT);
      return super.getBytes(index, to, toIndex, length);
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer to) {
      at(BufferMethod.CONTENT);
      return super.getBytes(index, to);
    }

    @Override
    public byte[] array() {
      at(BufferMethod.CONTENT);
      return super.array();
    }

    @Override
    public ByteBuf retain() {
      at(BufferMethod.RETAIN);
      return super.retain();
    }

    @Override
    public boolean release() {
      at(BufferMethod.RELEASE);
      return super.release();
    }
  }
}
