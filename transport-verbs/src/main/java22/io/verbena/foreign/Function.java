// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;

/**
 * A C function that is not on the data path. Takes numbers and pointers as {@code long}, and
 * returns 0 or more, or a negative {@code errno}.
 */
final class Function {
  static final int EIO = 5;

  /** The way in which a function reports failure. */
  enum Failure {
    /** Returns NULL; errno has the reason. */
    NULL,
    /** Returns -1; errno has the reason. */
    MINUS_ONE,
    /** Returns anything but 0; errno has the reason. */
    NOT_ZERO,
    /** Returns an errno, a negative errno, or -1 with errno set: providers differ. */
    STATUS,
    /** Never fails, and returns nothing. */
    NONE
  }

  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO =
      STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  /** Returns the address of errno of the calling thread. */
  private static final MethodHandle ERRNO_LOCATION = errnoLocation();

  private final Failure failure;
  private final MethodHandle handle;

  private Function(Failure failure, MethodHandle handle) {
    this.failure = failure;
    this.handle = handle;
  }

  /**
   * Returns a function.
   *
   * @param address the address of its code
   * @param failure how it reports failure; except with {@link Failure#NULL} it returns an int, or
   *     nothing
   * @param types the types of its parameters, a letter each: P for 64 bits, I for 32, B for 8
   */
  static Function of(MemorySegment address, Failure failure, String types) {
    return of(address, failure, types, Linker.Option.captureCallState("errno"));
  }

  /** Returns a variadic function, whose variadic arguments begin at index {@code from}. */
  static Function variadic(MemorySegment address, Failure failure, String types, int from) {
    return of(
        address,
        failure,
        types,
        Linker.Option.captureCallState("errno"),
        Linker.Option.firstVariadicArg(from));
  }

  @SuppressWarnings("restricted") // --enable-native-access is the program's to give.
  private static Function of(
      MemorySegment address, Failure failure, String types, Linker.Option... options) {
    MemoryLayout[] parameters =
        types.chars().mapToObj(Function::layout).toArray(MemoryLayout[]::new);
    FunctionDescriptor descriptor =
        switch (failure) {
          case NULL -> FunctionDescriptor.of(ValueLayout.JAVA_LONG, parameters);
          case MINUS_ONE, NOT_ZERO, STATUS -> FunctionDescriptor.of(JAVA_INT, parameters);
          case NONE -> FunctionDescriptor.ofVoid(parameters);
        };
    Class<?>[] longs = new Class<?>[parameters.length];
    Arrays.fill(longs, long.class);
    MethodHandle exact = LINKER.downcallHandle(address, descriptor, options);
    MethodType wide =
        MethodType.methodType(long.class, longs).insertParameterTypes(0, MemorySegment.class);
    return new Function(
        failure,
        MethodHandles.explicitCastArguments(exact, wide)
            .asSpreader(1, long[].class, parameters.length));
  }

  @SuppressWarnings("restricted") // --enable-native-access is the program's to give.
  private static MethodHandle errnoLocation() {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().find("__errno_location").orElseThrow(),
        FunctionDescriptor.of(ValueLayout.JAVA_LONG),
        Linker.Option.critical(false));
  }

  private static MemoryLayout layout(int type) {
    return switch (type) {
      case 'P' -> ValueLayout.JAVA_LONG;
      case 'I' -> JAVA_INT;
      case 'B' -> ValueLayout.JAVA_BYTE;
      default -> throw new AssertionError((char) type);
    };
  }

  long call(long... arguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      // Some functions (of libsiw) fail without setting errno, which would still be that of an
      // earlier call.
      Memory.putInt((long) ERRNO_LOCATION.invokeExact(), 0);
      long result = (long) handle.invokeExact(state, arguments);
      int errno = state.get(JAVA_INT, ERRNO);
      return switch (failure) {
        case NULL -> result == 0 ? -orEio(errno) : result;
        case MINUS_ONE -> result == -1 ? -orEio(errno) : result;
        case NOT_ZERO -> result == 0 ? 0 : -orEio(errno);
        case STATUS -> result == -1 ? -orEio(errno) : -Math.abs(result);
        case NONE -> 0;
      };
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  int status(long... arguments) {
    return (int) call(arguments);
  }

  private static int orEio(int errno) {
    return errno > 0 ? errno : EIO;
  }

  /**
   * Returns an error for a throwable of a native call, which only the JVM can have thrown; throws
   * an {@link Error} itself.
   */
  static Error thrown(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    return new AssertionError(thrown);
  }
}
