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

  /** Whether the cache keeps it; if not, it is closed with its last lease. */
  boolean kept;

  /**
   * @param span where the memory is
   * @param memory a view of the memory
   * @param wrapped whether the memory is not freed while there is a view of it
   * @param registration of all of the memory
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

  /** Returns the HCA's address of a native address. */
  long translate(long nativeAddress) {
    return registration.region().address() + (nativeAddress - span.address());
  }

  /** Sets the buffer that uses the registration: nothing uses it once that buffer is garbage. */
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
   * Returns whether its memory is certainly that of this buffer, whose memory has the same span.
   *
   * @param wraps whether the buffer does not own its memory
   */
  boolean isOf(ByteBuf buffer, boolean wraps) {
    return (isUsedBy(buffer) || (wrapped && wraps)) && isAccessible();
  }

  /**
   * Returns false once the memory was freed, which newer JDKs show: what lies there then is
   * another's.
   */
  private boolean isAccessible() {
    try {
      byte unused = memory.get(0);
      return true;
    } catch (IllegalStateException freed) {
      return false;
    }
  }

  /** Deregisters it, or leaves that to the end of the device if the HCA refuses. */
  void close() {
    registration.closeOrLeave();
  }
}
