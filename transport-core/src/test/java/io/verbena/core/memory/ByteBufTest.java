// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A registered buffer behaves like Netty's own under the same random calls, chosen by a seed. */
class ByteBufTest {
  private static final int STEPS = 3000;
  private static final int MAX_CAPACITY = 4000;

  private final RegisteredMemory memory = Memories.of(new RecordingDomain());

  @AfterEach
  void closes() {
    memory.close();
  }

  /** A call that returns its result; a buffer stands for its contents. */
  private interface Call extends Function<ByteBuf, Object> {}

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
  void behavesAsNettysOwn(long seed) {
    Random random = new Random(seed);
    ByteBuf ours = memory.allocator().directBuffer(100, MAX_CAPACITY);
    ByteBuf nettys = new Reference(100);
    List<ByteBuf> ourParts = new ArrayList<>(List.of(ours));
    List<ByteBuf> nettysParts = new ArrayList<>(List.of(nettys));
    for (int step = 0; step < STEPS; step++) {
      int part = random.nextInt(ourParts.size());
      int capacity = ours.capacity();
      ByteBuf our = ourParts.get(part);
      ByteBuf netty = nettysParts.get(part);
      if (random.nextInt(40) == 0 && ourParts.size() < 6) {
        int kind = random.nextInt(5);
        int index = random.nextInt(our.capacity() + 1);
        int length = random.nextInt(our.capacity() - index + 1);
        ourParts.add(part(our, kind, index, length));
        nettysParts.add(part(netty, kind, index, length));
        if (kind < 3) {
          our.retain();
          netty.retain();
        }
      } else if (random.nextInt(60) == 0 && part > 0) {
        ourParts.remove(part).release();
        nettysParts.remove(part).release();
        continue;
      } else {
        Call call = call(random, netty.capacity(), ourParts.size() == 1);
        String ourAnswer = answer(call, our);
        assertThat(ourAnswer).as("seed %d, step %d", seed, step).isEqualTo(answer(call, netty));
      }
      // The content of grown capacity is undefined, so both get zeros.
      int growth = Math.max(0, ours.capacity() - capacity);
      ours.setZero(ours.capacity() - growth, growth);
      nettys.setZero(ours.capacity() - growth, growth);
      assertThat(state(our)).as("seed %d, step %d", seed, step).isEqualTo(state(netty));
    }
    ourParts.forEach(ByteBuf::release);
    nettysParts.forEach(ByteBuf::release);
    assertThat(ours.refCnt()).isZero();
    assertThat(nettys.refCnt()).isZero();
  }

  private static ByteBuf part(ByteBuf of, int kind, int index, int length) {
    return switch (kind) {
      case 0 -> of.slice(index, length);
      case 1 -> of.duplicate();
      case 2 -> of.asReadOnly();
      case 3 -> of.retainedSlice(index, length);
      default -> of.retainedDuplicate();
    };
  }

  private static String state(ByteBuf buf) {
    return buf.readerIndex()
        + ".."
        + buf.writerIndex()
        + "/"
        + buf.capacity()
        + "/"
        + buf.maxCapacity()
        + " "
        + buf.readableBytes()
        + " "
        + buf.isWritable()
        + " "
        + answer(b -> ByteBufUtil.hexDump(b, 0, b.capacity()), buf);
  }

  private static String answer(Call call, ByteBuf buf) {
    try {
      Object answer = call.apply(buf);
      if (answer instanceof ByteBuf derived && derived != (Object) buf) {
        String dump = ByteBufUtil.hexDump(derived);
        derived.release();
        return dump;
      }
      return answer instanceof ByteBuf ? "itself" : String.valueOf(answer);
    } catch (IndexOutOfBoundsException e) {
      return "IndexOutOfBoundsException";
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName();
    }
  }

  private static Call call(Random random, int capacity, boolean mayShrink) {
    int least = mayShrink ? capacity - 100 : capacity;
    int index = random.nextInt(capacity + 12) - 2;
    int length = random.nextInt(random.nextBoolean() ? 16 : capacity + 4);
    long value = random.nextLong();
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return switch (random.nextInt(62)) {
      case 0 -> b -> b.getByte(index);
      case 1 -> b -> b.getShort(index);
      case 2 -> b -> b.getShortLE(index);
      case 3 -> b -> b.getMedium(index);
      case 4 -> b -> b.getUnsignedMediumLE(index);
      case 5 -> b -> b.getInt(index);
      case 6 -> b -> b.getIntLE(index);
      case 7 -> b -> b.getLong(index);
      case 8 -> b -> b.getLongLE(index);
      case 9 -> b -> b.setByte(index, (int) value);
      case 10 -> b -> b.setShort(index, (int) value);
      case 11 -> b -> b.setShortLE(index, (int) value);
      case 12 -> b -> b.setMedium(index, (int) value);
      case 13 -> b -> b.setMediumLE(index, (int) value);
      case 14 -> b -> b.setInt(index, (int) value);
      case 15 -> b -> b.setIntLE(index, (int) value);
      case 16 -> b -> b.setLong(index, value);
      case 17 -> b -> b.setLongLE(index, value);
      case 18 -> b -> b.setDouble(index, (double) value).getFloat(index);
      case 19 -> ByteBuf::readByte;
      case 20 -> ByteBuf::readUnsignedShort;
      case 21 -> ByteBuf::readMediumLE;
      case 22 -> ByteBuf::readIntLE;
      case 23 -> ByteBuf::readLong;
      case 24 -> b -> b.writeByte((int) value);
      case 25 -> b -> b.writeShortLE((int) value);
      case 26 -> b -> b.writeMedium((int) value);
      case 27 -> b -> b.writeInt((int) value);
      case 28 -> b -> b.writeLongLE(value);
      case 29 -> b -> b.writeBytes(bytes);
      case 30 -> b -> b.setBytes(index, bytes);
      case 31 -> b -> get(b, index, bytes);
      case 32 -> b -> b.setBytes(index, ByteBuffer.wrap(bytes));
      case 33 -> b -> b.setBytes(index, direct(bytes));
      case 34 -> b -> getInto(b, index, ByteBuffer.allocate(length));
      case 35 -> b -> getInto(b, index, ByteBuffer.allocateDirect(length));
      case 36 -> b -> b.setBytes(index, Unpooled.wrappedBuffer(bytes));
      case 37 -> b -> setFromDirect(b, index, bytes);
      case 38 -> b -> setFromComposite(b, index, bytes);
      case 39 -> b -> getIntoBuf(b, index, Unpooled.buffer(length, length), length);
      case 40 -> b -> getIntoBuf(b, index, pooled(length), length);
      case 41 -> b -> b.setBytes(index, b, index >> 1, length);
      case 42 -> b -> b.copy(index, length);
      case 43 -> b -> b.readBytes(length);
      case 44 -> b -> b.readSlice(length).retain();
      case 45 -> b -> b.readRetainedSlice(length);
      case 46 -> b -> b.capacity(Math.min(MAX_CAPACITY + 1, least + (int) (value & 255)));
      case 47 -> b -> b.ensureWritable(length);
      case 48 -> ByteBuf::discardReadBytes;
      case 49 -> ByteBuf::clear;
      case 50 -> b -> b.readerIndex(index);
      case 51 -> b -> b.writerIndex(index);
      case 52 -> b -> b.setZero(index, length);
      case 53 -> b -> b.indexOf(0, b.capacity(), (byte) value);
      case 54 -> b -> b.nioBuffer(index, length).hashCode();
      case 55 -> b -> b.internalNioBuffer(index, length).hashCode();
      case 56 -> b -> b.toString(StandardCharsets.ISO_8859_1);
      case 57 -> b -> b.writeCharSequence("gr\u00fc\u00df", StandardCharsets.UTF_8);
      case 58 -> b -> streamIn(b, index, bytes);
      case 59 -> b -> streamOut(b, index, length);
      case 60 -> b -> b.skipBytes(length);
      default -> b -> b.hashCode() + b.forEachByte(each -> each != (byte) value);
    };
  }

  private static String get(ByteBuf from, int index, byte[] into) {
    from.getBytes(index, into);
    return ByteBufUtil.hexDump(into);
  }

  private static String getInto(ByteBuf from, int index, ByteBuffer into) {
    from.getBytes(index, into);
    return into.flip() + " " + into.hashCode();
  }

  private static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  private static ByteBuf pooled(int length) {
    return PooledByteBufAllocator.DEFAULT.directBuffer(length, length);
  }

  private static Object setFromDirect(ByteBuf into, int index, byte[] bytes) {
    ByteBuf from = pooled(bytes.length).writeBytes(bytes);
    try {
      return into.setBytes(index, from);
    } finally {
      from.release();
    }
  }

  private static Object setFromComposite(ByteBuf into, int index, byte[] bytes) {
    int half = bytes.length / 2;
    CompositeByteBuf from =
        Unpooled.compositeBuffer()
            .addComponent(true, Unpooled.copiedBuffer(bytes, 0, half))
            .addComponent(true, Unpooled.copiedBuffer(bytes, half, bytes.length - half));
    try {
      return into.setBytes(index, from);
    } finally {
      from.release();
    }
  }

  private static Object getIntoBuf(ByteBuf from, int index, ByteBuf into, int length) {
    try {
      from.getBytes(index, into, length);
      return ByteBufUtil.hexDump(into);
    } finally {
      into.release();
    }
  }

  private static Object streamIn(ByteBuf into, int index, byte[] bytes) {
    try {
      byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
      return into.setBytes(index, new ByteArrayInputStream(longer), bytes.length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Object streamOut(ByteBuf from, int index, int length) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      from.getBytes(index, out, length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return ByteBufUtil.hexDump(out.toByteArray());
  }

  @Test
  void readsAndWritesChannelsAndFiles(@TempDir Path folder) throws IOException {
    byte[] bytes = new byte[20_000];
    new Random(1).nextBytes(bytes);
    ByteBuf buf = memory.allocator().directBuffer(bytes.length).writeBytes(bytes);
    ByteBuf read = memory.allocator().directBuffer(bytes.length).writeZero(bytes.length);
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    try (FileChannel file =
        FileChannel.open(
            folder.resolve("bytes"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      assertThat(buf.getBytes(5, file, 7, 1000)).isEqualTo(1000);
      assertThat(read.setBytes(100, file, 7, 1000)).isEqualTo(1000);
      assertThat(read.slice(100, 1000)).isEqualTo(buf.slice(5, 1000));
      assertThat(read.setBytes(0, file, 2000, 10)).isEqualTo(-1);
    }
    buf.getBytes(0, out, bytes.length);
    assertThat(out.toByteArray()).isEqualTo(bytes);
    assertThat(read.setBytes(0, new ByteArrayInputStream(bytes), bytes.length))
        .isEqualTo(bytes.length);
    assertThat(read).isEqualTo(buf);
    assertThat(read.setBytes(0, new ByteArrayInputStream(new byte[0]), 5)).isEqualTo(-1);

    buf.release();
    read.release();
  }

  /** Netty's buffer, with the same number of fast writable bytes as ours. */
  private static final class Reference extends UnpooledHeapByteBuf {
    private int block = SizeClasses.SMALLEST;

    Reference(int initialCapacity) {
      super(UnpooledByteBufAllocator.DEFAULT, initialCapacity, MAX_CAPACITY);
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
      super.capacity(newCapacity);
      block = Math.max(block, SizeClasses.length(SizeClasses.of(newCapacity)));
      return this;
    }

    @Override
    public int maxFastWritableBytes() {
      return Math.min(block, maxCapacity()) - writerIndex();
    }
  }
}
