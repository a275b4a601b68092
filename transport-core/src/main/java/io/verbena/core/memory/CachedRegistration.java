// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A registration of a foreign buffer's memory. Guarded by the lock of its cache. */
final class CachedRegistration {
  private final Span span;
  private final ByteBuffer memory;
  private final boolean wrapped;
  private final Registration registration;
  private @Nullable BufferReference user;

  /** The number of leases. */
  int pins;

  /** Whether the cache keeps the registration; if not, the end of the last lease closes it. */
  boolean kept;

  /**
   * @param span the span of the memory
   * @param memory a view of the memory
   * @param wrapped whether the memory is not freed while a view of it exists
   * @param registration the registration of all of the memory
   */
  CachedRegistration(Span span, ByteBuffer memory, boolean wrapped, Registration registration) {
    this.span = span;
    this.memory = memory;
    this.wrapped = wrapped;
    this.registration = registration;
  }

  Span span() {
    return span;
  }

  int lkey() {
    return registration.region().lkey();
  }

  /** Returns the HCA's address for a native address. */
  long translate(long nativeAddress) {
    return registration.region().address() + (nativeAddress - span.address());
  }

  /** Sets the buffer that uses the registration, which is unused once that buffer is garbage. */
  void user(BufferReference newUser) {
    user = newUser;
  }

  @Nullable BufferReference user() {
    return user;
  }

  boolean isUsedBy(ByteBuf buffer) {
    BufferReference reference = user;
    return reference != null && reference.refersTo(buffer);
  }

  /**
   * Returns whether this is certainly the memory of a buffer with the same span.
   *
   * @param wraps whether the buffer does not own its memory
   */
  boolean isOf(ByteBuf buffer, boolean wraps) {
    return (isUsedBy(buffer) || (wrapped && wraps)) && isAccessible();
  }

  /**
   * Returns false if the memory was freed, as far as the JDK detects that: other memory may have
   * the address then.
   */
  private boolean isAccessible() {
    try {
      byte unused = memory.get(0);
      return true;
    } catch (IllegalStateException freed) {
      return false;
    }
  }

  /**
   * Deregisters the memory; if the HCA refuses, the memory stays registered until the device is
   * closed.
   */
  void close() {
    registration.closeOrLeave();
  }
}
