// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.End;
import io.verbena.tools.end.TestQueuePair;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.SendWorkRequest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Credits for messages on devices without RNR, such as iWARP, as in perftest: the receiver WRITEs
 * into the sender's memory the number of messages of the present size that it has received on a
 * queue pair, which is the number of receives that it has posted again. Allocates nothing. One
 * thread.
 *
 * <p>The memory has two numbers of 4 bytes for each queue pair, in the host's byte order:
 *
 * <pre>
 *   this end's numbers, to be written | the numbers that the peer writes
 * </pre>
 */
final class ReceiveCredits {
  private static final VarHandle NUMBERS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  /** Part of its receives after which a receiver writes. */
  private static final int PART = 3;

  private final End end;
  private final List<? extends TestQueuePair> pairs;
  private final List<PerftestAddress> peers;
  private final int depth;
  private final int every;
  private final int offset;
  private final SendWorkRequest request = new SendWorkRequest();
  private final int[] received;
  private final boolean[] due;
  private final boolean[] underWay;
  private int writes;

  /**
   * @param peers of the queue pairs, in their order
   * @param offset of its numbers in the memory, a multiple of 4
   */
  ReceiveCredits(
      End end,
      List<? extends TestQueuePair> pairs,
      List<PerftestAddress> peers,
      PerfPlan plan,
      int offset) {
    this.end = end;
    this.pairs = pairs;
    this.peers = peers;
    this.offset = offset;
    depth = plan.rxDepth();
    // A sender of perftest assumes no more receives than there are messages.
    int counted = plan.isTimed() ? depth : Math.min(depth, plan.iterations());
    every = Math.max(1, counted / PART);
    received = new int[pairs.size()];
    due = new boolean[pairs.size()];
    underWay = new boolean[pairs.size()];
  }

  /** Returns whether a test needs credits on a device without RNR. */
  static boolean mayBeNeeded(PerfPlan plan) {
    return plan.verb() == Verb.SEND && plan.measure() == Measure.BW && plan.managed() != null;
  }

  /** Returns whether a test needs credits on a device. */
  static boolean areNeeded(PerfPlan plan, DeviceAttributes device) {
    return mayBeNeeded(plan) && !device.supports(Capability.REQUEST_STATUS);
  }

  /** Returns the bytes of memory for the numbers of this many queue pairs. */
  static int bytes(int pairs) {
    return 2 * pairs * Integer.BYTES;
  }

  /** Returns the offset in the memory of the number that the peer of a queue pair writes. */
  static int written(int offset, int pairs, int index) {
    return offset + (pairs + index) * Integer.BYTES;
  }

  /** Begins another size; the peer does so before the barrier of that size. */
  void reset() {
    for (int i = 0; i < received.length; i++) {
      received[i] = 0;
      due[i] = false;
      NUMBERS.setVolatile(end.memory(), written(offset, received.length, i), 0);
    }
  }

  /** Returns whether the peer has a receive for another message after {@code posted}. */
  boolean allows(int index, long posted) {
    int known = (int) NUMBERS.getVolatile(end.memory(), written(offset, received.length, index));
    // A number above the posted messages belongs to the previous size.
    int done = Integer.compareUnsigned(known, (int) posted) > 0 ? 0 : known;
    return Integer.compareUnsigned((int) posted - done, depth) < 0;
  }

  /** Counts a message whose receive was posted again. */
  void received(int index) {
    due[index] |= ++received[index] % every == 0;
  }

  /** Writes the numbers that are due, one at a time on each queue pair. */
  void give() {
    for (int i = 0; i < due.length; i++) {
      if (due[i] && !underWay[i]) {
        int at = offset + i * Integer.BYTES;
        NUMBERS.setVolatile(end.memory(), at, received[i]);
        PerftestAddress peer = peers.get(i);
        pairs
            .get(i)
            .pair()
            .postSend(
                request
                    .id(-1 - i)
                    .write(peer.memory(), peer.rkey())
                    .buffer(end.address(at), Integer.BYTES, end.region().lkey())
                    .signaled());
        due[i] = false;
        underWay[i] = true;
        writes++;
      }
    }
  }

  /** Returns whether a completed request was one of {@link #give}; counts it if it was. */
  boolean isGiven(long id) {
    if (id >= 0) {
      return false;
    }
    underWay[(int) (-1 - id)] = false;
    writes--;
    return true;
  }

  boolean areUnderWay() {
    return writes > 0;
  }
}
