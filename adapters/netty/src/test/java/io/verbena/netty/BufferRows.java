// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.SocketWorld.eventually;
import static io.verbena.netty.SocketWorld.name;
import static io.verbena.netty.SocketWorld.outcome;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.verbena.netty.SocketWorld.Pair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;

/** The rows about bytes and their buffers. */
final class BufferRows {
  private static final String SUBJECT = "buffers";
  private static final int LARGE = 200_000;

  private BufferRows() {}

  static List<SocketRow> all() {
    return List.of(
        row("a direct buffer is filled again after its write", world -> refill(world, true)),
        row(
            "the channel's own buffer is filled again after its write",
            world -> refill(world, false)),
        row(
            "references left after a write",
            world -> {
              Pair pair = world.pair();
              ByteBuf buffer = pair.client().alloc().directBuffer(LARGE).writeZero(LARGE);
              // Without this reference Netty's recycler could reuse the object for another buffer.
              buffer.retain();
              pair.client().writeAndFlush(buffer).syncUninterruptibly();
              int left = buffer.refCnt() - 1;
              buffer.release();
              return "" + left;
            }),
        row(
            "references left after a write that fails",
            world -> {
              Pair pair = world.pair();
              pair.client().close().syncUninterruptibly();
              ByteBuf buffer = Unpooled.directBuffer(LARGE).writeZero(LARGE);
              pair.client().writeAndFlush(buffer).awaitUninterruptibly();
              return "" + buffer.refCnt();
            }),
        row(
            "a write that is not flushed as the channel closes",
            world -> {
              Pair pair = world.pair();
              ByteBuf buffer = Unpooled.directBuffer(LARGE).writeZero(LARGE);
              ChannelFuture write = pair.client().write(buffer);
              pair.client().close().syncUninterruptibly();
              return outcome(write) + ", references: " + buffer.refCnt();
            }),
        row(
            "a write of a heap buffer",
            world -> arrives(world, Unpooled.wrappedBuffer(bytes(LARGE)))),
        row(
            "a write of a composite buffer",
            world ->
                arrives(
                    world,
                    Unpooled.wrappedBuffer(
                        Unpooled.copiedBuffer(bytes(10)),
                        Unpooled.directBuffer(LARGE).writeBytes(bytes(LARGE)),
                        Unpooled.wrappedBuffer(bytes(3000))))),
        row("a write of a slice", world -> arrives(world, slice())),
        row("a write of a read-only buffer", world -> arrives(world, slice().asReadOnly())),
        row("a write of a file", BufferRows::file),
        row(
            "a write of nothing",
            world -> outcome(world.pair().client().writeAndFlush(Unpooled.EMPTY_BUFFER))),
        row(
            "a write of something that is no bytes",
            world -> outcome(world.pair().client().writeAndFlush("text"))),
        row("many writes before a flush, order of their promises", BufferRows::order),
        row("the peer does not read and then does, writability", BufferRows::writability),
        row(
            "64 MiB of the channel's buffers, with 4 MiB to register",
            world -> {
              try (SocketWorld small =
                  world.another(SocketWorld.options().maxRegisteredBytes(4 << 20))) {
                Pair pair = small.pair();
                List<ByteBuf> buffers = new ArrayList<>();
                try {
                  for (int i = 0; i < 64; i++) {
                    buffers.add(pair.client().alloc().directBuffer(1 << 20));
                  }
                  return "allocated";
                } catch (RuntimeException e) {
                  return name(e);
                } finally {
                  buffers.forEach(ByteBuf::release);
                }
              }
            }),
        row(
            "a buffer that has come",
            world -> {
              Keeper keeper = new Keeper();
              Channel server = world.listen(world.server(keeper));
              SocketChannel client = SocketWorld.connect(world.client(new Sink()), server);
              client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100])).syncUninterruptibly();
              ByteBuf kept = keeper.take();
              String answer =
                  "references: "
                      + kept.refCnt()
                      + (kept.isReadOnly() ? ", read-only" : ", writable");
              kept.setByte(0, 7);
              kept.release();
              return answer;
            }),
        row(
            "8 MiB in random pieces",
            world -> {
              Pair pair = world.pair();
              Random random = new Random(3);
              CRC32 sum = new CRC32();
              long total = 0;
              while (total < 8 << 20) {
                byte[] piece = bytes(1 + random.nextInt(LARGE));
                sum.update(piece);
                total += piece.length;
                ChannelFuture unused =
                    pair.client().write(Unpooled.directBuffer(piece.length).writeBytes(piece));
              }
              pair.client().flush();
              long all = total;
              eventually(() -> pair.atServer().bytes() == all);
              return intact(pair, sum);
            }));
  }

  private static SocketRow row(String name, SocketRow.Probe probe) {
    return new SocketRow(SUBJECT, name, probe);
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private static ByteBuf slice() {
    return Unpooled.directBuffer(LARGE).writeBytes(bytes(LARGE)).slice(1000, LARGE - 2000);
  }

  private static String intact(Pair pair, CRC32 sum) {
    return pair.atServer().sum() == sum.getValue() ? "intact" : "corrupt";
  }

  private static String refill(SocketWorld world, boolean foreign) throws InterruptedException {
    Pair pair = world.pair();
    ByteBuf buffer =
        foreign ? Unpooled.directBuffer(LARGE) : pair.client().alloc().directBuffer(LARGE);
    CRC32 sum = new CRC32();
    for (int i = 1; i <= 20; i++) {
      byte[] piece = bytes(LARGE - i);
      sum.update(piece);
      buffer.clear().writeBytes(piece);
      pair.client().writeAndFlush(buffer.retainedSlice()).syncUninterruptibly();
    }
    buffer.setZero(0, LARGE).release();
    eventually(() -> pair.atServer().bytes() == 20L * LARGE - 210);
    return intact(pair, sum);
  }

  private static String arrives(SocketWorld world, ByteBuf buffer) throws InterruptedException {
    Pair pair = world.pair();
    byte[] bytes = new byte[buffer.readableBytes()];
    buffer.getBytes(buffer.readerIndex(), bytes);
    CRC32 sum = new CRC32();
    sum.update(bytes);
    pair.client().writeAndFlush(buffer).syncUninterruptibly();
    eventually(() -> pair.atServer().bytes() == bytes.length);
    return intact(pair, sum) + ", references: " + buffer.refCnt();
  }

  private static String file(SocketWorld world) throws Exception {
    Pair pair = world.pair();
    Path file = Files.createTempFile("sockets", null);
    try {
      byte[] bytes = bytes(LARGE);
      Files.write(file, bytes);
      CRC32 sum = new CRC32();
      sum.update(bytes, 500, LARGE - 1000);
      DefaultFileRegion region = new DefaultFileRegion(file.toFile(), 500, LARGE - 1000);
      pair.client().writeAndFlush(region).syncUninterruptibly();
      eventually(() -> pair.atServer().bytes() == LARGE - 1000);
      return intact(pair, sum) + ", references: " + region.refCnt();
    } finally {
      Files.delete(file);
    }
  }

  private static String order(SocketWorld world) throws InterruptedException {
    Pair pair = world.pair();
    List<Integer> order = new ArrayList<>();
    ChannelFuture last = pair.client().newSucceededFuture();
    for (int i = 0; i < 100; i++) {
      int index = i;
      int length = i % 3 == 0 ? 30_000 : i;
      last = pair.client().write(Unpooled.directBuffer(30_000).writeZero(length));
      last.addListener(done -> order.add(index));
    }
    pair.client().flush();
    last.syncUninterruptibly();
    for (int i = 0; i < order.size(); i++) {
      if (order.get(i) != i) {
        return "not in order";
      }
    }
    return "in order";
  }

  private static String writability(SocketWorld world) throws InterruptedException {
    Collector received = new Collector();
    Channel server =
        world.listen(world.server(received).childOption(ChannelOption.AUTO_READ, false));
    SocketChannel client =
        SocketWorld.connect(
            world
                .client(new Sink())
                .option(
                    ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1000, 2000)),
            server);
    SocketChannel accepted = world.accepted();
    long written = 0;
    while (client.isWritable() && written < 1L << 30) {
      ChannelFuture write = client.writeAndFlush(Unpooled.directBuffer(LARGE).writeZero(LARGE));
      written += LARGE;
      // The system's socket buffers may take much at once.
      boolean unused = SocketWorld.isDoneSoon(write);
    }
    String full = client.isWritable() ? "stays" : "ends";
    accepted.config().setAutoRead(true);
    long all = written;
    eventually(() -> received.bytes() == all && client.isWritable());
    return full + ", comes back";
  }
}
