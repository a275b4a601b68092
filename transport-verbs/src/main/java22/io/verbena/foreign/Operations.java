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
 * The operations that the driver does itself, by the table in its context, as the inline functions
 * of {@code infiniband/verbs.h} do. Allocates nothing.
 */
@SuppressWarnings("restricted") // --enable-native-access is the program's to give.
final class Operations {
  private static final Linker LINKER = Linker.nativeLinker();

  /** An object, an int and a pointer. */
  private static final MethodHandle POLL =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));

  private static final MethodHandle ARM =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));

  /** An object and two pointers. */
  private static final MethodHandle POST =
      LINKER.downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

  /** The operations that were called, five of each driver: a segment made for a call is garbage. */
  private static volatile MemorySegment[] known = {};

  private Operations() {}

  /**
   * {@code ibv_poll_cq}: how many, or -EIO; drivers say no more than that the queue is broken, mlx4
   * and mlx5 by -2 ({@code CQ_POLL_ERR}).
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

  /** {@code ibv_post_send}: 0 or a negative errno; the refused request goes to {@code bad}. */
  static int postSend(long pair, long requests, long bad) {
    return post(
        operation(pair + Structures.QP_CONTEXT, Structures.OPS_POST_SEND), pair, requests, bad);
  }

  /** {@code ibv_post_recv}: likewise. */
  static int postReceive(long pair, long requests, long bad) {
    return post(
        operation(pair + Structures.QP_CONTEXT, Structures.OPS_POST_RECV), pair, requests, bad);
  }

  /** {@code ibv_post_srq_recv}: likewise. */
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
   * Returns 0 or more, or a negative errno. Drivers return the errno, or the negative errno; -1
   * stands for the one in C's errno, and becomes {@code -EIO}.
   */
  private static int status(int result) {
    return result == -1 ? -Function.EIO : result > 0 ? -result : result;
  }
}
