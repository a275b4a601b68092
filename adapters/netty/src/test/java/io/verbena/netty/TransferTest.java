// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that bytes arrive completely and in order, from any kind of source. */
class TransferTest {
  /** The source of the written bytes. */
  enum Source {
    HEAP {
      @Override
      ByteBuf of(ByteBufAllocator registered, byte[] bytes) {
        return Unpooled.copiedBuffer(bytes);
      }
    },
    REGISTERED {
      @Override
      ByteBuf of(ByteBufAllocator registered, byte[] bytes) {
        return registered.directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
      }
    },
    DIRECT {
      @Override
      ByteBuf of(ByteBufAllocator registered, byte[] bytes) {
        return Unpooled.directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
      }
    },
    COMPOSITE {
      @Override
      ByteBuf of(ByteBufAllocator registered, byte[] bytes) {
        int half = bytes.length / 2;
        return Unpooled.wrappedBuffer(
            Unpooled.copiedBuffer(bytes, 0, half),
            registered
                .directBuffer(Math.max(1, bytes.length))
                .writeBytes(bytes, half, bytes.length - half));
      }
    };

    abstract ByteBuf of(ByteBufAllocator registered, byte[] bytes);
  }

  @ParameterizedTest
  @EnumSource
  void bytesOfAllLengthsArriveInOrder(Source source) {
    Random random = new Random(7);
    CRC32 sent = new CRC32();
    long total = 0;
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      ChannelFuture last = null;
      for (int i = 0; i < 400; i++) {
        byte[] bytes = new byte[lengthOf(i, random)];
        random.nextBytes(bytes);
        sent.update(bytes);
        total += bytes.length;
        last = client.write(source.of(client.alloc(), bytes));
        if (random.nextInt(3) == 0) {
          client.flush();
        }
      }
      client.flush();
      assertThat(last).isNotNull();
      last.syncUninterruptibly();

      long all = total;
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == all);
      assertThat(received.sum()).isEqualTo(sent.getValue());
    }
  }

  private static int lengthOf(int round, Random random) {
    return switch (round % 5) {
      case 0 -> random.nextInt(4);
      case 1 -> random.nextInt(300);
      case 2 -> 2040 + random.nextInt(16);
      case 3 -> 4090 + random.nextInt(12);
      default -> random.nextInt(100_000);
    };
  }

  @Test
  void aFileArrives(@TempDir Path folder) throws Exception {
    byte[] bytes = new byte[1_000_003];
    new Random(3).nextBytes(bytes);
    File file = Files.write(folder.resolve("file"), bytes).toFile();
    CRC32 sent = new CRC32();
    sent.update(bytes, 5, bytes.length - 5);
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      SocketChannel client =
          Ends.connect(ends.client(new Collector()), Ends.bind(ends.server(received)));

      client.writeAndFlush(new DefaultFileRegion(file, 5, bytes.length - 5)).syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == bytes.length - 5);
      assertThat(received.sum()).isEqualTo(sent.getValue());
    }
  }

  @Test
  void whoDoesNotReadHoldsUpTheSender() throws Exception {
    Collector received = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), server);
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);
      accepted.config().setAutoRead(false);
      accepted.eventLoop().submit(() -> {}).syncUninterruptibly();
      client.config().setWriteBufferWaterMark(new WriteBufferWaterMark(64 << 10, 128 << 10));
      List<ChannelFuture> writes = new ArrayList<>();
      int written = 0;
      while (client.isWritable() && written < 16 << 20) {
        writes.add(client.writeAndFlush(Unpooled.copiedBuffer(new byte[10_000])));
        client.eventLoop().submit(() -> {}).syncUninterruptibly();
        written += 10_000;
      }
      assertThat(client.isWritable()).as("writable after %s bytes", written).isFalse();
      long before = received.bytes();

      accepted.config().setAutoRead(true);

      long all = written;
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == all);
      await().atMost(Ends.LIMIT).until(client::isWritable);
      assertThat(before).isLessThan(all);
      // A write may complete after its bytes have arrived.
      for (ChannelFuture each : writes) {
        each.syncUninterruptibly();
      }
    }
  }

  @Test
  void bothEndsMaySendAtOnce() {
    byte[] bytes = new byte[8 << 20];
    new Random(9).nextBytes(bytes);
    CRC32 sent = new CRC32();
    sent.update(bytes);
    Collector atServer = new Collector();
    Collector atClient = new Collector();
    try (Ends ends = new Ends()) {
      SocketChannel client = Ends.connect(ends.client(atClient), Ends.bind(ends.server(atServer)));
      SocketChannel accepted = acceptedBy(ends);

      ChannelFuture one = client.writeAndFlush(Source.REGISTERED.of(client.alloc(), bytes));
      ChannelFuture other = accepted.writeAndFlush(Source.HEAP.of(client.alloc(), bytes));

      await()
          .atMost(Ends.LIMIT)
          .until(() -> atServer.bytes() == bytes.length && atClient.bytes() == bytes.length);
      // The acknowledgement may arrive after the bytes.
      one.syncUninterruptibly();
      other.syncUninterruptibly();
      assertThat(atServer.sum()).isEqualTo(sent.getValue());
      assertThat(atClient.sum()).isEqualTo(sent.getValue());
    }
  }

  private static SocketChannel acceptedBy(Ends ends) {
    try {
      SocketChannel accepted = ends.accepted();
      await().atMost(Ends.LIMIT).until(accepted::isActive);
      return accepted;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
