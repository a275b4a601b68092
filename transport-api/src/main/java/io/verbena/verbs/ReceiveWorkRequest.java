// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A receive: the buffers for an incoming message ({@code ibv_recv_wr}). A flyweight: fill it, post
 * it, use it again; posting copies it. Not thread-safe.
 */
public final class ReceiveWorkRequest {
  private final ScatterGatherList buffers;
  private long id;
  private @Nullable ReceiveWorkRequest next;

  /** A request of one buffer. */
  public ReceiveWorkRequest() {
    this(1);
  }

  /** A request of up to {@code maxScatterGather} buffers. */
  public ReceiveWorkRequest(int maxScatterGather) {
    buffers = new ScatterGatherList(maxScatterGather);
  }

  /** Returns the id, which the completion returns. */
  public long id() {
    return id;
  }

  /** Sets the id. */
  public ReceiveWorkRequest id(long id) {
    this.id = id;
    return this;
  }

  /** Returns the buffers, which an incoming message fills in order. */
  public ScatterGatherList buffers() {
    return buffers;
  }

  /** Replaces the buffers by this one; the length is in bytes. */
  public ReceiveWorkRequest buffer(long address, int length, int lkey) {
    buffers.clear();
    buffers.add(address, length, lkey);
    return this;
  }

  /** Returns the request to post behind this one in the same call, or null. */
  public @Nullable ReceiveWorkRequest next() {
    return next;
  }

  /** Links a request to be posted behind this one in the same call. */
  public ReceiveWorkRequest next(@Nullable ReceiveWorkRequest next) {
    // As in SendWorkRequest: skipping the store also skips the garbage collector's barrier.
    if (this.next != next) {
      this.next = next;
    }
    return this;
  }
}
