// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendOpcode;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A work request from its post until its completion is polled. */
final class Posted {
  final long token = WatchedDevice.nextToken();
  final long id;
  final CallSite place;

  /** The operation, or null for a receive. */
  final @Nullable SendOpcode opcode;

  /** The queue pair that it was posted to, or null for a shared receive queue. */
  final @Nullable WatchedQueuePair queuePair;

  /** The receive queue that it was posted to, or null for a send. */
  final @Nullable WatchedReceives receives;

  final boolean signaled;
  final Piece[] pieces;

  /** The key that a LOCAL_INV invalidates. */
  final int key;

  /** True while it is outstanding in its queue. */
  boolean outstanding = true;

  /** True if it waits for the READs and atomics before it. */
  boolean fenced;

  /** True if it was counted as a message to the peer. */
  boolean counted;

  /** The completion queue that counts its completion among those to come, or null. */
  @Nullable WatchedCompletionQueue awaitedBy;

  /** The window that a BIND_MW binds, or null. */
  @Nullable MemoryWindow window;

  /** The key that the window had before. */
  int replacedKey;

  /** True if its queue pair was closed in RTS or SQD. */
  boolean abandoned;

  /**
   * The number of completion queues that may have its completion, after its queue was closed or
   * reset.
   */
  private int candidates;

  private long checksum;

  private Posted(
      long id,
      CallSite place,
      @Nullable SendOpcode opcode,
      @Nullable WatchedQueuePair queuePair,
      @Nullable WatchedReceives receives,
      boolean signaled,
      int key,
      ScatterGatherList buffers,
      WatchedDomain domain) {
    this.id = id;
    this.place = place;
    this.opcode = opcode;
    this.queuePair = queuePair;
    this.receives = receives;
    this.signaled = signaled;
    this.key = key;
    pieces = new Piece[buffers.size()];
    for (int i = 0; i < pieces.length; i++) {
      long address = buffers.address(i);
      int length = buffers.length(i);
      WatchedRegion region = domain.device.byLocalKey(buffers.lkey(i));
      boolean inside =
          region != null && region.domain() == domain && region.contains(address, length);
      pieces[i] = new Piece(this, address, length, buffers.lkey(i), inside ? region : null);
    }
  }

  static Posted send(
      long id,
      CallSite place,
      SendOpcode opcode,
      WatchedQueuePair queuePair,
      boolean signaled,
      int key,
      ScatterGatherList buffers,
      WatchedDomain domain) {
    return new Posted(id, place, opcode, queuePair, null, signaled, key, buffers, domain);
  }

  static Posted receive(
      long id,
      CallSite place,
      @Nullable WatchedQueuePair queuePair,
      WatchedReceives receives,
      ScatterGatherList buffers,
      WatchedDomain domain) {
    return new Posted(id, place, null, queuePair, receives, true, 0, buffers, domain);
  }

  boolean isReceive() {
    return opcode == null;
  }

  /** Returns whether it sends payload from its buffers. */
  boolean isOutbound() {
    return opcode != null
        && switch (opcode) {
          case SEND, SEND_WITH_IMM, SEND_WITH_INV, RDMA_WRITE, RDMA_WRITE_WITH_IMM -> true;
          case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, LOCAL_INV, BIND_MW -> false;
        };
  }

  /** Returns whether it receives a message or an answer into its buffers. */
  boolean isInbound() {
    return opcode == null
        || switch (opcode) {
          case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> true;
          case SEND, SEND_WITH_IMM, SEND_WITH_INV -> false;
          case RDMA_WRITE, RDMA_WRITE_WITH_IMM, LOCAL_INV, BIND_MW -> false;
        };
  }

  /** Returns whether it is a bind that leaves the window without memory. */
  boolean showsNothing() {
    return pieces.length == 0 || pieces[0].length == 0;
  }

  /** Returns whether it takes one of the peer's receives. */
  boolean takesReceive() {
    return opcode != null
        && switch (opcode) {
          case SEND, SEND_WITH_IMM, SEND_WITH_INV, RDMA_WRITE_WITH_IMM -> true;
          case RDMA_WRITE, RDMA_READ, ATOMIC_CMP_AND_SWP -> false;
          case ATOMIC_FETCH_AND_ADD, LOCAL_INV, BIND_MW -> false;
        };
  }

  /**
   * Returns whether its fence makes it wait for {@code other}, a READ or atomic of its queue pair.
   */
  boolean awaits(Posted other) {
    return fenced && !other.isReceive() && other.isInbound() && other.queuePair == queuePair;
  }

  /** Returns the total length of its buffers. */
  int length() {
    int sum = 0;
    for (Piece piece : pieces) {
      sum += piece.length;
    }
    return sum;
  }

  /**
   * Fills the buffers of the device's copy: with the addresses and keys of twins for the pieces
   * that have one.
   */
  void translate(ScatterGatherList buffers) {
    buffers.clear();
    for (Piece piece : pieces) {
      WatchedRegion region = piece.region;
      if (region == null) {
        buffers.add(piece.address, piece.length, piece.key);
      } else {
        buffers.add(region.deviceAddress(piece), piece.length, region.deviceKey(piece));
      }
    }
  }

  /**
   * Sets the number of completion queues that may have its completion; its queue was closed or
   * reset.
   */
  synchronized void candidates(int count) {
    candidates = count;
  }

  /** Notes that one of these queues does not have its completion; returns whether none is left. */
  synchronized boolean ruleOutCandidate() {
    return --candidates == 0;
  }

  /** Returns whether the device may still access its buffers. */
  boolean mayRun() {
    return queuePair == null || queuePair.mayRun();
  }

  void remember() {
    checksum = currentChecksum();
  }

  boolean isUnchanged() {
    return checksum == currentChecksum();
  }

  private long currentChecksum() {
    CRC32C crc = new CRC32C();
    for (Piece piece : pieces) {
      WatchedRegion region = piece.region;
      if (region != null) {
        ByteBuffer bytes = region.bytes(piece);
        crc.update(bytes);
      }
    }
    return crc.getValue();
  }

  /** Returns its operation and id, for messages. */
  @Override
  public String toString() {
    return (opcode == null ? "RECV" : opcode.name()) + " " + id;
  }
}
