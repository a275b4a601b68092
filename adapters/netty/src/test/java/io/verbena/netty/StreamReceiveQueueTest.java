// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaOptions;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.core.receive.ReceiveFrames;
import io.verbena.core.receive.Receives;
import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsProviders;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how a stream handles its receives; the test provides their pool. */
@SuppressWarnings("deprecation") // RecvByteBufAllocator.Handle, which the pipeline still passes
@Tag("once")
class StreamReceiveQueueTest {
  private static final int LENGTH = 8192;
  private static final int FIRST = 4;
  private static final int MOST = 32;

  private final Device device;
  private final ProtectionDomain domain;
  private final RegisteredMemory memory;
  private final ReceiveFrames frames;
  private final Pool pool = new Pool();
  private final StreamReceiveQueue receives;

  /** Keeps returned frames, as if they were posted. */
  private static final class Pool implements Receives {
    private final ArrayDeque<ByteBuf> posted = new ArrayDeque<>();
    private int extra;
    private int available = Integer.MAX_VALUE;
    private boolean contended;
    private boolean refuses;

    @Override
    public int grow(int wanted) {
      int granted = Math.min(wanted, available - extra);
      extra += granted;
      return granted;
    }

    @Override
    public void shrink(int count) {
      extra -= count;
    }

    @Override
    public boolean hasMoreThanItsPart() {
      return contended;
    }

    @Override
    public void giveBack(ByteBuf frame) {
      if (refuses) {
        frame.release();
        throw new PostException(VerbsError.NO_MEMORY, 0, "refused by a test");
      }
      posted.add(frame);
    }

    @Override
    public void post() {}

    @Override
    public int completed() {
      return 0;
    }

    @Override
    public void halt() {}

    @Override
    public Flush flushed() {
      return Flush.DONE;
    }

    @Override
    public void release() {
      posted.forEach(ByteBuf::release);
      posted.clear();
    }
  }

  StreamReceiveQueueTest() {
    URI address = URI.create("emulated://receive-buffers");
    device = VerbsProviders.find(address).open(address);
    domain = device.allocateProtectionDomain();
    memory =
        new RegisteredMemory(
            domain, RdmaOptions.builder().maxRegisteredBytes(32L * LENGTH).build());
    frames = new ReceiveFrames(memory, LENGTH);
    receives = new StreamReceiveQueue(pool, frames, FIRST, MOST);
  }

  @AfterEach
  void close() {
    receives.release();
    memory.close();
    domain.close();
    device.close();
  }

  @Test
  void releaseTheBufferThatTheyCopyInto() {
    fill(2);
    pool.refuses = true;
    ByteBuf into = Unpooled.buffer(20, 20);
    ByteBufAllocator allocator = onlyOf(into);

    assertThatThrownBy(() -> receives.read(handle(20), allocator, false))
        .isInstanceOf(PostException.class);

    assertThat(into.refCnt()).isZero();
    pool.refuses = false;
  }

  @Test
  void releaseTheBufferThatTheyCopyIntoIfTheProgramsAllocatorFails() {
    receives.arrived(frames.allocate(), 10, false);
    ByteBuf into = Unpooled.buffer(10, 10);
    RecvByteBufAllocator.Handle failing =
        new RecvByteBufAllocator.DelegatingHandle(handle(10)) {
          @Override
          public void lastBytesRead(int bytes) {
            throw new OutOfMemoryError("test");
          }
        };

    assertThatThrownBy(() -> receives.read(failing, onlyOf(into), false))
        .isInstanceOf(OutOfMemoryError.class);

    assertThat(into.refCnt()).isZero();
  }

  @Test
  void releaseTheFrameThatTheyHandOut() {
    receives.arrived(frames.allocate(), LENGTH, false);
    pool.refuses = true;

    // The leak detector checks that the frame was released.
    assertThatThrownBy(() -> receives.read(handle(LENGTH), ByteBufAllocator.DEFAULT, false))
        .isInstanceOf(PostException.class);
  }

  @Test
  void giveTheFirstFrameOfADutyCycleBackAfterTheProgramHasAnswered() {
    pool.available = 0;
    ByteBuf first = frames.allocate();
    ByteBuf second = frames.allocate();
    receives.arrived(first, 10, false);
    receives.arrived(second, 10, false);

    ByteBuf read = receives.read(handle(20), ByteBufAllocator.DEFAULT, false);
    assertThat(read).isNotNull();
    read.release();

    assertThat(pool.posted).containsExactly(second);
    assertThat(receives.takeOwed()).isEqualTo(1);
    receives.giveBackFirst();
    assertThat(pool.posted).containsExactly(second, first);
    assertThat(receives.takeOwed()).isEqualTo(1);
  }

  @Test
  void discardAllThoughTheHcaTakesNothingBack() {
    fill(2);
    pool.refuses = true;

    assertThatThrownBy(receives::discard).isInstanceOf(PostException.class);

    assertThat(receives.isReadable()).isFalse();
  }

  @Test
  void keepNoFrameForShortMessagesThatNobodyReads() {
    ByteBuf frame = frames.allocate();
    receives.arrived(frame.setByte(0, 42), 1, false);

    receives.keepUnread();

    assertThat(pool.posted).containsExactly(frame);
    ByteBuf read = receives.read(handle(10), ByteBufAllocator.DEFAULT, false);
    assertThat(read).isNotNull();
    assertThat(read.readByte()).isEqualTo((byte) 42);
    read.release();
  }

  @Test
  void postAnotherFrameForALongMessageThatNobodyReads() {
    ByteBuf frame = frames.allocate();
    receives.arrived(frame, LENGTH, false);

    receives.keepUnread();

    assertThat(pool.posted).hasSize(1).doesNotContain(frame);
    ByteBuf read = receives.read(handle(LENGTH), ByteBufAllocator.DEFAULT, false);
    assertThat(read).isSameAs(frame);
    frame.release();
  }

  @Test
  void promiseNoMoreThanTheyWereGranted() {
    pool.available = 2;
    for (int i = 0; i < FIRST; i++) {
      assertThat(receives.arrived(frames.allocate(), 1, false)).isTrue();
    }

    assertThat(receives.arrived(frames.allocate(), 1, false)).isFalse();
    assertThat(receives.takeOwed()).isEqualTo(2);
  }

  @Test
  void giveUpWhatOthersWaitFor() {
    fill(FIRST);
    assertThat(receives.takeOwed()).isPositive();
    int extra = pool.extra;
    pool.contended = true;

    ByteBuf read = receives.read(handle(LENGTH), ByteBufAllocator.DEFAULT, true);

    assertThat(read).isNotNull();
    read.release();
    assertThat(pool.extra).isLessThan(extra).isGreaterThanOrEqualTo(0);
  }

  @Test
  void takeBackWhatThePeerDoesNotUseButNotMore() {
    fill(FIRST);
    receives.discard();
    int owed = receives.takeOwed();

    assertThat(receives.givenBack(0)).isFalse();
    assertThat(receives.givenBack(owed)).isFalse();
    assertThat(receives.givenBack(owed - FIRST)).isTrue();
    assertThat(pool.extra).isZero();
    assertThat(receives.givenBack(1)).isFalse();
  }

  /** No byte and no frame is lost, in any order of events, with memory and without. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void handOnWhatCameInItsOrder(long seed) {
    Random random = new Random(seed);
    byte[] numbers = new byte[256 + 2 * LENGTH];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = (byte) i;
    }
    int credits = FIRST;
    byte next = 0;
    byte expected = 0;
    int unread = 0;
    List<ByteBuf> hoard = new ArrayList<>();
    for (int step = 0; step < 5_000; step++) {
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> {
          if (credits > 0) {
            ByteBuf frame = pool.posted.isEmpty() ? memoryOrNull() : pool.posted.remove();
            if (frame != null) {
              int length = 1 + random.nextInt(random.nextBoolean() ? 20 : LENGTH);
              frame.setBytes(0, numbers, next & 0xff, length);
              next += (byte) length;
              assertThat(receives.arrived(frame, length, false)).isTrue();
              credits--;
              unread += length;
            }
          }
        }
        case 3, 4 -> {
          ByteBuf read =
              receives.read(
                  handle(1 + random.nextInt(2 * LENGTH)),
                  ByteBufAllocator.DEFAULT,
                  random.nextBoolean());
          assertThat(read == null).isEqualTo(unread == 0);
          if (read != null) {
            unread -= read.readableBytes();
            byte[] bytes = new byte[read.readableBytes()];
            read.readBytes(bytes);
            int first = expected & 0xff;
            assertThat(bytes).isEqualTo(Arrays.copyOfRange(numbers, first, first + bytes.length));
            expected += (byte) bytes.length;
            read.release();
          }
        }
        case 5 -> receives.keepUnread();
        case 6 -> credits += receives.takeOwed();
        default -> {
          pool.contended = random.nextInt(4) == 0;
          pool.available = random.nextInt(MOST) + pool.extra;
          if (random.nextBoolean() && receives.givenBack(1)) {
            credits--;
          }
          hoard(hoard, random);
        }
      }
      assertThat(credits).isBetween(0, MOST);
    }
    hoard.forEach(ByteBuf::release);
  }

  private void hoard(List<ByteBuf> hoard, Random random) {
    if (random.nextBoolean()) {
      hoard.forEach(ByteBuf::release);
      hoard.clear();
    } else {
      for (ByteBuf more = memoryOrNull(); more != null; more = memoryOrNull()) {
        hoard.add(more);
      }
    }
  }

  private @Nullable ByteBuf memoryOrNull() {
    try {
      return frames.allocate();
    } catch (MemoryLimitException e) {
      return null;
    }
  }

  private void fill(int count) {
    for (int i = 0; i < count; i++) {
      assertThat(receives.arrived(frames.allocate(), 10, false)).isTrue();
    }
  }

  private static ByteBufAllocator onlyOf(ByteBuf buffer) {
    return (ByteBufAllocator)
        Proxy.newProxyInstance(
            StreamReceiveQueueTest.class.getClassLoader(),
            new Class<?>[] {ByteBufAllocator.class},
            (proxy, method, arguments) -> buffer);
  }

  private static RecvByteBufAllocator.Handle handle(int bytes) {
    return new FixedRecvByteBufAllocator(bytes).newHandle();
  }
}
