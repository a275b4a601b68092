// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/**
 * A registration of a foreign buffer's memory, with a weak reference to the buffer. Guarded by the
 * lock of its cache.
 */
final class CachedRegistration extends WeakReference<ByteBuf> {
  private final Span span;
  private final ByteBuffer memory;
  private final Registration registration;

  /** The number of leases. */
  int pins;

  /** Whether the cache keeps it; if not, it is closed with its last lease. */
  boolean kept;

  /**
   * @param span where the memory is
   * @param memory the memory
   * @param buffer owns the memory, as long as it is accessible
   * @param abandoned gets this when the buffer is garbage
   * @param registration of all of the memory
   */
  CachedRegistration(
      Span span,
      ByteBuffer memory,
      ByteBuf buffer,
      ReferenceQueue<ByteBuf> abandoned,
      Registration registration) {
    super(buffer, abandoned);
    this.span = span;
    this.memory = memory;
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

  /** Returns whether its memory is certainly that of this buffer. */
  boolean belongsTo(ByteBuf owner) {
    return refersTo(owner) && isAccessible();
  }

  /** On newer JDKs a freed buffer's memory cannot be touched; that tells that it is another's. */
  private boolean isAccessible() {
    try {
      byte unused = memory.get(0);
      return true;
    } catch (IllegalStateException freed) {
      return false;
    }
  }

  void close() {
    registration.close();
  }
}
