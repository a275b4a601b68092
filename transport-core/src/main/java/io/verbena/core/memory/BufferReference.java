// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.netty.buffer.ByteBuf;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** A reference that is enqueued when the buffer that uses a registration is garbage. */
final class BufferReference extends WeakReference<ByteBuf> {
  private final CachedRegistration registration;

  /**
   * @param abandoned gets this when the buffer is garbage
   */
  BufferReference(
      ByteBuf buffer, ReferenceQueue<ByteBuf> abandoned, CachedRegistration registration) {
    super(buffer, abandoned);
    this.registration = registration;
  }

  CachedRegistration registration() {
    return registration;
  }

  /** Returns whether no other buffer has used the registration since. */
  boolean isCurrent() {
    return registration.user() == this;
  }
}
