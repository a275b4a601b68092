// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.socket.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

/** Tests that writes succeed only once the HCA no longer needs their bytes. */
class WritePromiseTest {
  private static final int PIECE = 40_000;
  private static final int PIECES = 200;
  private static final int MESSAGE = 4000;

  private final Random random = new Random(5);
  private final CRC32 crc = new CRC32();
  private long written;

  /**
   * Writes from one buffer that it reuses after each write, as a program that copies files does.
   */
  private final class Copier implements ChannelFutureListener {
    private final SocketChannel to;
    private final ByteBuf buffer;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private int left = PIECES;

    Copier(SocketChannel to, ByteBuf buffer) {
      this.to = to;
      this.buffer = buffer;
    }

    void next() {
      byte[] bytes = new byte[1 + random.nextInt(PIECE)];
      random.nextBytes(bytes);
      crc.update(bytes);
      written += bytes.length;
      buffer.clear().writeBytes(bytes);
      to.writeAndFlush(buffer.retainedSlice()).addListener(this);
    }

    @Override
    public void operationComplete(ChannelFuture write) {
      if (!write.isSuccess()) {
        done.completeExceptionally(write.cause());
      } else if (--left > 0) {
        next();
      } else {
        buffer.release();
        done.complete(null);
      }
    }
  }

  @Test
  void aBufferMayBeFilledAgainOnceItsWriteHasSucceeded() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      for (ByteBuf buffer :
          List.of(client.alloc().directBuffer(PIECE), Unpooled.directBuffer(PIECE))) {
        Copier copier = new Copier(client, buffer);
        client.eventLoop().execute(copier::next);
        copier.done.get(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      }

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == written);
      assertThat(received.sum()).isEqualTo(crc.getValue());
    }
  }

  /** Writes large and small buffers in turn, copied and not, some of them empty. */
  @Test
  void writesSucceedInOrderAndEachIsReleasedThen() throws Exception {
    Collector received = new Collector();
    List<Integer> order = new ArrayList<>();
    List<ByteBuf> buffers = new ArrayList<>();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      List<ChannelFuture> writes = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        int length = i % 7 == 0 ? 0 : i % 3 == 0 ? 30_000 + i : 10 + i;
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        crc.update(bytes);
        written += length;
        ByteBuf buffer = client.alloc().directBuffer(Math.max(1, length)).writeBytes(bytes);
        buffers.add(buffer);
        int index = i;
        writes.add(
            client
                .write(buffer)
                .addListener(
                    done -> {
                      assertThat(done.isSuccess()).isTrue();
                      order.add(index);
                    }));
      }
      client.flush();
      writes.get(writes.size() - 1).get(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == written);
      assertThat(received.sum()).isEqualTo(crc.getValue());
      assertThat(order).isSorted().hasSize(300);
      await().atMost(Ends.LIMIT).until(() -> buffers.stream().allMatch(b -> b.refCnt() == 0));
      assertThat(client.isWritable()).isTrue();
    }
  }

  @Test
  void whatIsPostedAsTheChannelClosesArrivesAndSucceeds() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      ByteBuf bytes = client.alloc().directBuffer(MESSAGE).writeZero(MESSAGE);

      ChannelFuture write = client.writeAndFlush(bytes);
      client.close().syncUninterruptibly();

      assertThat(write.awaitUninterruptibly().isSuccess()).isTrue();
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == MESSAGE);
    }
  }

  /** The listener closes the channel while later writes are still in its queue. */
  @Test
  void aListenerMayCloseTheChannel() throws Exception {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      List<ChannelFuture> writes = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        ByteBuf bytes = client.alloc().directBuffer(PIECE).writeZero(PIECE);
        writes.add(client.write(bytes).addListener(ChannelFutureListener.CLOSE));
      }
      client.flush();

      assertThat(client.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      for (ChannelFuture write : writes) {
        assertThat(write.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      }
      assertThat(writes.get(0).isSuccess()).isTrue();
    }
  }
}
