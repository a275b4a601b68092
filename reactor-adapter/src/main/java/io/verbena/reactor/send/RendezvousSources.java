// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.verbena.core.memory.Exposure;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.reactor.credit.CreditShares;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.wire.ProtocolException;
import java.util.ArrayDeque;

/**
 * The messages of one connection that the peer may READ, in the order of their ids. Only on the
 * loop.
 */
final class RendezvousSources {
  /** The bytes that a connection may always expose to its peer. */
  private static final int LEAST_BYTES = 256 << 10;

  /**
   * The most bytes that a connection exposes: those in flight at 10 GB/s and a round trip of 0.1
   * ms.
   */
  private static final int MOST_BYTES = 1 << 20;

  /** Once the connections of a loop expose so many bytes, each may expose the least only. */
  private static final int LOOP_BYTES = 4 << 20;

  private final LoopResources resources;
  private final ArrayDeque<RendezvousSource> sources = new ArrayDeque<>(1);
  private int firstId;
  private long bytes;

  RendezvousSources(LoopResources resources) {
    this.resources = resources;
  }

  boolean isEmpty() {
    return sources.isEmpty();
  }

  /**
   * Returns whether the peer has enough long messages to READ: more would only take memory, and
   * push others out of caches.
   */
  boolean isEnough() {
    return bytes >= LEAST_BYTES
        && sources.size() >= CreditShares.MOST_LONG_AT_ONCE
        && (bytes >= MOST_BYTES || resources.exposedBytes() >= LOOP_BYTES);
  }

  /**
   * Exposes a message to the peer, and takes ownership of it.
   *
   * @throws RuntimeException if it cannot be read or exposed, or if its methods throw; it was
   *     released then
   */
  Exposure add(SendOperation send, ByteBuf message, int length) {
    ByteBuf source = message;
    try {
      source = registrable(message, length);
      Exposure exposure = resources.memory().expose(source, source.readerIndex(), length);
      sources.add(new RendezvousSource(send, source, exposure, length));
      count(length);
      return exposure;
    } catch (Throwable e) {
      ReferenceCountUtil.safeRelease(source);
      throw e;
    }
  }

  /** Returns the id of the message that was added last. */
  int lastId() {
    return firstId + sources.size() - 1;
  }

  /**
   * Returns the message itself if the HCA can READ from it at no disadvantage, or else a copy in
   * its place.
   */
  private ByteBuf registrable(ByteBuf message, int length) {
    RegisteredMemory memory = resources.memory();
    if (memory.locate(message, message.readerIndex(), length, resources.location())
        || (!memory.paysToCopy(length)
            && message.isDirect()
            && message.nioBufferCount() == 1
            && !message.isReadOnly())) {
      return message;
    }
    ByteBuf copy = memory.copy(message, message.readerIndex(), length);
    ReferenceCountUtil.safeRelease(message);
    return copy;
  }

  /**
   * Releases all messages up to {@code id}, which the peer has read.
   *
   * @throws ProtocolException if there is no such message
   */
  void done(int id) {
    int count = id - firstId + 1;
    if (count < 1 || count > sources.size()) {
      throw ProtocolException.malformed("done", id, firstId + ".." + lastId());
    }
    for (int i = 0; i < count; i++) {
      RendezvousSource first = sources.remove();
      firstId++;
      count(-first.length());
      first.close();
      first.send().read();
    }
  }

  /** Ends the peer's access to all, once the queue pair is destroyed. */
  void free(FailureGuard guard) {
    for (RendezvousSource each : sources) {
      guard.guarded(each::close);
    }
    sources.clear();
    count(-bytes);
  }

  private void count(long more) {
    bytes += more;
    resources.exposed(more);
  }
}
