// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.roce.PacketFault;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.EnumMap;
import java.util.Objects;
import java.util.StringJoiner;

/**
 * Counts of the packets that a port sent, received and dropped, by reason. The driver counts; any
 * thread may read.
 */
public final class PacketCounters {
  /** Reasons for dropping a packet that has no {@link PacketFault}. */
  public enum Reason {
    /** It came for another address. */
    ADDRESS,
    /** It has another partition key. */
    PARTITION,
    /** No queue pair has the number. */
    QUEUE_PAIR,
    /** The queue pair is not connected to the sender. */
    SENDER,
    /** It is sealed where the queue pair has no lock, or not sealed where it has one. */
    UNPROTECTED,
    /** It was to be sent, but there is no route to its GID. */
    NO_WAY,
    /** It was to be sent, but the wire did not take it. */
    NOT_SENT,
    /** It is for the connection managers, but is not a valid message. */
    MANAGEMENT
  }

  private final EnumMap<PacketFault, Count> faults = new EnumMap<>(PacketFault.class);
  private final EnumMap<Reason, Count> reasons = new EnumMap<>(Reason.class);
  private final Count sent = new Count();
  private final Count received = new Count();

  /** One count, with one writer. */
  private static final class Count {
    private static final VarHandle VALUE;

    static {
      try {
        VALUE = MethodHandles.lookup().findVarHandle(Count.class, "value", long.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private long value;

    void add() {
      VALUE.setOpaque(this, value + 1);
    }

    long get() {
      return (long) VALUE.getOpaque(this);
    }
  }

  PacketCounters() {
    for (PacketFault fault : PacketFault.values()) {
      faults.put(fault, new Count());
    }
    for (Reason reason : Reason.values()) {
      reasons.put(reason, new Count());
    }
  }

  void count(PacketFault fault) {
    of(faults, fault).add();
  }

  /** Counts one more packet that was dropped. */
  public void count(Reason reason) {
    of(reasons, reason).add();
  }

  void sent() {
    sent.add();
  }

  void received() {
    received.add();
  }

  long of(PacketFault fault) {
    return of(faults, fault).get();
  }

  long of(Reason reason) {
    return of(reasons, reason).get();
  }

  private static <K extends Enum<K>> Count of(EnumMap<K, Count> counts, K key) {
    return Objects.requireNonNull(counts.get(key), "count");
  }

  /** Returns the number of packets that the wire took. */
  long packetsSent() {
    return sent.get();
  }

  /** Returns the number of packets that were let in. */
  long packetsReceived() {
    return received.get();
  }

  @Override
  public String toString() {
    StringJoiner text = new StringJoiner(", ", "sent " + packetsSent() + ", received ", "");
    text.add(Long.toString(packetsReceived()));
    for (PacketFault fault : PacketFault.values()) {
      if (of(fault) > 0) {
        text.add("dropped for " + fault + " " + of(fault));
      }
    }
    for (Reason reason : Reason.values()) {
      if (of(reason) > 0) {
        text.add("dropped for " + reason + " " + of(reason));
      }
    }
    return text.toString();
  }
}
