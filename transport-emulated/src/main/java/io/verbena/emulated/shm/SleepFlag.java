// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Whether a host sleeps, in memory that its peers have mapped.
 *
 * <p>The sleeper sets it and then looks once more whether there is something to read; a writer
 * publishes and then looks at it. Both put a full fence between the two, so that one of them sees
 * the other's: no wake-up is lost. Of many writers one takes the flag, and wakes. If that is
 * stopped before it does, or writes here what it likes, nobody wakes: so sleeps are short.
 */
final class SleepFlag {
  static final int LENGTH = 4096;

  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
  private static final int AT = 64;
  private static final int AWAKE = 0;
  private static final int ASLEEP = 1;

  private final Mapping mapping;
  private final ByteBuffer memory;

  SleepFlag(Mapping mapping) {
    this.mapping = mapping;
    memory = mapping.bytes();
  }

  /** Nobody looks at it any more. */
  void unmap() {
    mapping.close();
  }

  /** Sleeper: from now on it is woken. */
  void sleeps() {
    INT.setVolatile(memory, AT, ASLEEP);
    VarHandle.fullFence();
  }

  /** Sleeper: it is awake. */
  void awakes() {
    INT.setRelease(memory, AT, AWAKE);
  }

  /** Writer, after it has published: whether it is to wake the sleeper. */
  boolean takeIfAsleep() {
    VarHandle.fullFence();
    return (int) INT.getOpaque(memory, AT) == ASLEEP
        && INT.compareAndSet(memory, AT, ASLEEP, AWAKE);
  }
}
