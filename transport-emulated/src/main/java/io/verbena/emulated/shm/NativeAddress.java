// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the address of a direct buffer in this process, by classes of the JVM that are looked up by
 * name: memory segments since JDK 22, {@code sun.misc.Unsafe} before.
 */
final class NativeAddress {
  private static final int SEGMENTS_SINCE = 22;

  /**
   * Returns the address of a direct buffer's byte at its position; null if the JVM lacks the
   * classes.
   */
  private static final @Nullable MethodHandle ADDRESS;

  /** Whether {@link #ADDRESS} returns the address of index 0 instead. */
  private static final boolean OF_START = Runtime.version().feature() < SEGMENTS_SINCE;

  static {
    MethodHandle address = null;
    try {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      if (OF_START) {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field only = unsafe.getDeclaredField("theUnsafe");
        only.setAccessible(true);
        Object instance = only.get(null);
        Object offset =
            unsafe
                .getMethod("objectFieldOffset", Field.class)
                .invoke(instance, Buffer.class.getDeclaredField("address"));
        MethodHandle read =
            lookup
                .findVirtual(
                    unsafe, "getLong", MethodType.methodType(long.class, Object.class, long.class))
                .bindTo(instance);
        address =
            MethodHandles.insertArguments(read, 1, offset)
                .asType(MethodType.methodType(long.class, ByteBuffer.class));
      } else {
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        MethodHandle of =
            lookup.findStatic(segments, "ofBuffer", MethodType.methodType(segments, Buffer.class));
        MethodHandle read =
            lookup.findVirtual(segments, "address", MethodType.methodType(long.class));
        address =
            MethodHandles.filterReturnValue(of, read)
                .asType(MethodType.methodType(long.class, ByteBuffer.class));
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      address = null;
    }
    ADDRESS = address;
  }

  private NativeAddress() {}

  /** Returns whether addresses can be found. */
  static boolean isKnown() {
    return ADDRESS != null;
  }

  /** Returns the address of a direct buffer's first byte, at index 0. */
  static long of(ByteBuffer direct) {
    if (ADDRESS == null) {
      throw new AssertionError("no addresses");
    }
    ByteBuffer atStart = OF_START ? direct : direct.duplicate().clear();
    try {
      return (long) ADDRESS.invokeExact(atStart);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("address of a buffer", e);
    }
  }
}
