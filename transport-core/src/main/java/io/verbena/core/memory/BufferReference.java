// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** A weak reference to the buffer that uses a registration; enqueued when the buffer is garbage. */
final class BufferReference extends WeakReference<ByteBuf> {
  private final CachedRegistration registration;

  /**
   * @param abandoned the queue that gets this reference when the buffer is garbage
   */
  BufferReference(
      ByteBuf buffer, ReferenceQueue<ByteBuf> abandoned, CachedRegistration registration) {
    super(buffer, abandoned);
    this.registration = registration;
  }

  CachedRegistration registration() {
    return registration;
  }

  /** Returns whether no other buffer uses the registration now. */
  boolean isCurrent() {
    return registration.user() == this;
  }
}
