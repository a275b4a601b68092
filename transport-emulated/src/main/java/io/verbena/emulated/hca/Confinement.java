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
 * Tells memory that only one thread may touch: buffers of a confined {@code Arena}, which JDK 22
 * has brought. Whoever posts or drives copies, on any thread, so an emulated HCA cannot use them.
 *
 * <p>The JVM is asked through {@code java.lang.foreign.MemorySegment}, by name, as the oldest JDK
 * does not have it. What a buffer does not tell here is found out by the copy that fails: that its
 * arena was closed since, or that its file was truncated.
 */
final class Confinement {
  /** For a buffer and a thread, whether the thread can reach it; null on an older JDK. */
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
   * @throws VerbsException {@code INVALID} if only one thread can reach it
   */
  static void check(ByteBuffer buffer) {
    if (REACHABLE != null && !isReachable(REACHABLE, buffer)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "register memory: buffer: of a confined arena, which one thread alone can reach"
              + " (expected: of Arena.ofShared(), Arena.ofAuto() or ByteBuffer.allocateDirect)");
    }
  }

  private static boolean isReachable(MethodHandle reachable, ByteBuffer buffer) {
    // It is never started; what it would inherit is nobody's to keep.
    Thread stranger = new Thread(null, () -> {}, "stranger", 0, /* inheritThreadLocals= */ false);
    try {
      return (boolean) reachable.invokeExact(buffer, stranger);
    } catch (Throwable e) {
      // Memory that cannot even be asked cannot be copied either.
      return false;
    }
  }
}
