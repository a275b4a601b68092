// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests which memory holds the bytes that a channel received. */
class CopyReadsTest {
  private static final int LENGTH = 1 << 20;

  @Test
  void largeMessagesComeInRegisteredMemory() throws Exception {
    assertThat(allocatorsOfReads(false)).anyMatch(each -> each != PooledByteBufAllocator.DEFAULT);
  }

  @Test
  void allIsCopiedIntoBuffersOfTheChannelsAllocatorIfAsked() throws Exception {
    assertThat(allocatorsOfReads(true)).containsExactly(PooledByteBufAllocator.DEFAULT);
  }

  private static Set<ByteBufAllocator> allocatorsOfReads(boolean copies) throws Exception {
    Reads reads = new Reads();
    try (Ends ends = new Ends(Ends.options().eagerSize(64 << 10))) {
      ServerBootstrap server =
          ends.server(() -> reads)
              .option(RdmaChannelOption.COPY_READS, copies)
              .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
              .childOption(
                  ChannelOption.RECVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(64 << 10));
      Channel client = Ends.connect(ends.client(new Collector()), Ends.bind(server));

      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[LENGTH])).syncUninterruptibly();

      assertThat(reads.all.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }
    return reads.allocators;
  }

  private static final class Reads extends ChannelInboundHandlerAdapter {
    final Set<ByteBufAllocator> allocators = ConcurrentHashMap.newKeySet();
    final CountDownLatch all = new CountDownLatch(1);
    private int length;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf read = (ByteBuf) message;
      allocators.add(read.alloc());
      length += read.readableBytes();
      read.release();
      if (length == LENGTH) {
        all.countDown();
      }
    }
  }
}
