// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * The driver's operations of the data path, called through the table in the context, as the inline
 * functions of {@code infiniband/verbs.h} call them. Calls allocate nothing.
 */
@SuppressWarnings("restricted") // The program decides about --enable-native-access.
final class Operations {
  private static final Linker LINKER = Linker.nativeLinker();

  /** Parameters: an object, an int and a pointer. */
  private static final MethodHandle POLL =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));

  private static final MethodHandle ARM =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));

  /** Parameters: an object and two pointers. */
  private static final MethodHandle POST =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  /** The operations called so far, at most five per driver, so that a call allocates no segment. */
  private static volatile MemorySegment[] known = {};

  private Operations() {}

  /**
   * Calls {@code ibv_poll_cq}: returns the number polled, or -EIO. A driver's negative result means
   * only that the queue is broken (mlx4 and mlx5 return -2, {@code CQ_POLL_ERR}).
   */
  static int poll(long queue, int count, long completions) {
    MemorySegment operation = operation(queue + Structures.CQ_CONTEXT, Structures.OPS_POLL_CQ);
    try {
      int polled = (int) POLL.invokeExact(operation, queue, count, completions);
      return polled < 0 ? -Function.EIO : polled;
    } catch (Throwable e) {
      throw Function.thrown(e);
    }
  }

  /** {@code ibv_req_notify_cq}: 0 or a negative errno. */
  static int arm(long queue, int solicitedOnly) {
    MemorySegment operation =
        operation(queue + Structures.CQ_CONTEXT, Structures.OPS_REQ_NOTIFY_CQ);
    try {
      return status((int) ARM.invokeExact(operation, queue, solicitedOnly));
    } catch (Throwable e) {
      throw Function.thrown(e);
    }
  }

  /**
   * {@code ibv_post_send}: 0 or a negative errno; writes the address of the refused request to
   * {@code bad}.
   */
  static int postSend(long pair, long requests, long bad) {
    return post(
        operation(pair + Structures.QP_CONTEXT, Structures.OPS_POST_SEND), pair, requests, bad);
  }

  /** {@code ibv_post_recv}, see {@link #postSend}. */
  static int postReceive(long pair, long requests, long bad) {
    return post(
        operation(pair + Structures.QP_CONTEXT, Structures.OPS_POST_RECV), pair, requests, bad);
  }

  /** {@code ibv_post_srq_recv}, see {@link #postSend}. */
  static int postSharedReceive(long queue, long requests, long bad) {
    return post(
        operation(queue + Structures.SRQ_CONTEXT, Structures.OPS_POST_SRQ_RECV),
        queue,
        requests,
        bad);
  }

  /** {@code ops.bind_mw}: 0 or a negative errno. */
  static int bind(long pair, long window, long bind) {
    return post(
        operation(window + Structures.MW_CONTEXT, Structures.OPS_BIND_MW), pair, window, bind);
  }

  private static MemorySegment operation(long contextOf, int offset) {
    long address = Memory.getLong(Memory.getLong(contextOf) + offset);
    for (MemorySegment each : known) {
      if (each.address() == address) {
        return each;
      }
    }
    return add(address);
  }

  private static synchronized MemorySegment add(long address) {
    MemorySegment added = MemorySegment.ofAddress(address);
    MemorySegment[] more = Arrays.copyOf(known, known.length + 1);
    more[known.length] = added;
    known = more;
    return added;
  }

  private static int post(MemorySegment operation, long object, long first, long second) {
    try {
      return status((int) POST.invokeExact(operation, object, first, second));
    } catch (Throwable e) {
      throw Function.thrown(e);
    }
  }

  /**
   * Returns 0 or a negative errno. Drivers return an errno, a negative errno, or -1 with C's errno
   * set; -1 becomes {@code -EIO} here.
   */
  private static int status(int result) {
    return result == -1 ? -Function.EIO : result > 0 ? -result : result;
  }
}
