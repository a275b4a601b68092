// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import org.jspecify.annotations.Nullable;

/**
 * Ends mappings by classes of the JVM that are looked up by name: arenas since JDK 22, {@code
 * sun.misc.Unsafe} before. If there is neither, as in a native image without shared arenas, a
 * mapping ends when its buffer is garbage-collected.
 */
final class Unmapper {
  private static final int ARENAS_SINCE = 22;

  /** Opens an arena; null before JDK 22. */
  private static final @Nullable MethodHandle ARENA;

  /** Maps a file as a buffer for as long as an arena is open; null before JDK 22. */
  private static final @Nullable MethodHandle MAP;

  /** Unmaps a buffer; null since JDK 22, which warns about it. */
  private static final @Nullable MethodHandle CLEANER;

  static {
    MethodHandle arena = null;
    MethodHandle map = null;
    MethodHandle cleaner = null;
    try {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      if (Runtime.version().feature() >= ARENAS_SINCE) {
        Class<?> arenas = Class.forName("java.lang.foreign.Arena");
        Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
        arena =
            lookup
                .findStatic(arenas, "ofShared", MethodType.methodType(arenas))
                .asType(MethodType.methodType(AutoCloseable.class));
        // Throws if there are no shared arenas.
        ((AutoCloseable) arena.invokeExact()).close();
        MethodHandle mapSegment =
            lookup.findVirtual(
                FileChannel.class,
                "map",
                MethodType.methodType(segments, MapMode.class, long.class, long.class, arenas));
        MethodHandle asBuffer =
            lookup.findVirtual(segments, "asByteBuffer", MethodType.methodType(ByteBuffer.class));
        map =
            MethodHandles.filterReturnValue(mapSegment, asBuffer)
                .asType(
                    MethodType.methodType(
                        ByteBuffer.class,
                        FileChannel.class,
                        MapMode.class,
                        long.class,
                        long.class,
                        AutoCloseable.class));
      } else {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field only = unsafe.getDeclaredField("theUnsafe");
        only.setAccessible(true);
        cleaner =
            lookup
                .findVirtual(
                    unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
                .bindTo(only.get(null));
      }
    } catch (Throwable e) {
      arena = null;
      map = null;
      cleaner = null;
    }
    ARENA = arena;
    MAP = map;
    CLEANER = cleaner;
  }

  static final boolean HAS_ARENAS = ARENA != null && MAP != null;

  private Unmapper() {}

  /** With arenas: maps the first bytes of a file. */
  static Mapping map(FileChannel file, int length) throws IOException {
    if (ARENA == null || MAP == null) {
      throw new AssertionError("no arenas");
    }
    AutoCloseable arena = null;
    try {
      arena = (AutoCloseable) ARENA.invokeExact();
      ByteBuffer bytes =
          (ByteBuffer) MAP.invokeExact(file, MapMode.READ_WRITE, 0L, (long) length, arena);
      return Mapping.of(bytes, arena::close);
    } catch (IOException | RuntimeException | Error e) {
      closeAfter(e, arena);
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("map", e);
    }
  }

  private static void closeAfter(Throwable failure, @Nullable AutoCloseable arena) {
    try {
      if (arena != null) {
        arena.close();
      }
    } catch (Exception e) {
      failure.addSuppressed(e);
    }
  }

  /** Without arenas: unmaps a buffer that {@link FileChannel#map} returned. */
  static void unmap(ByteBuffer mapped) {
    if (CLEANER == null) {
      return;
    }
    try {
      CLEANER.invokeExact(mapped);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("unmap", e);
    }
  }
}
