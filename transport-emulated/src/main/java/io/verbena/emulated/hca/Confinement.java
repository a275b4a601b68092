// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Detects memory that only one thread may access: buffers of a confined {@code Arena}, which JDK 22
 * introduced. An emulated HCA cannot use them, since any posting or driving thread may copy.
 *
 * <p>The check calls {@code java.lang.foreign.MemorySegment} by reflection, since the oldest
 * supported JDK does not have it. It does not detect that an arena is closed later, or that its
 * file is truncated: then a copy fails.
 */
final class Confinement {
  /**
   * Takes a buffer and a thread, and returns whether the thread can access the buffer; null on an
   * older JDK.
   */
  private static final @Nullable MethodHandle REACHABLE = reachable();

  private Confinement() {}

  private static @Nullable MethodHandle reachable() {
    try {
      Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      MethodHandle of =
          lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class));
      MethodHandle accessible =
          lookup.findVirtual(
              segment, "isAccessibleBy", MethodType.methodType(boolean.class, Thread.class));
      return MethodHandles.filterArguments(accessible, 0, of)
          .asType(MethodType.methodType(boolean.class, ByteBuffer.class, Thread.class));
    } catch (ReflectiveOperationException | RuntimeException e) {
      return null;
    }
  }

  /**
   * Checks a buffer that is to be registered.
   *
   * @throws VerbsException {@code INVALID} if only one thread can access it
   */
  static void check(ByteBuffer buffer) {
    if (REACHABLE != null && !isReachable(REACHABLE, buffer)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "register memory: buffer: of a confined arena, which only one thread can access"
              + " (expected: of Arena.ofShared(), Arena.ofAuto() or ByteBuffer.allocateDirect)");
    }
  }

  private static boolean isReachable(MethodHandle reachable, ByteBuffer buffer) {
    // The thread is never started, and must not inherit thread-locals.
    Thread stranger = new Thread(null, () -> {}, "stranger", 0, /* inheritThreadLocals= */ false);
    try {
      return (boolean) reachable.invokeExact(buffer, stranger);
    } catch (Throwable e) {
      // Memory that cannot even be queried cannot be copied either.
      return false;
    }
  }
}
