// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

/**
 * A fault that a wire inflicts on packets. It concerns the packets of one direction, or of all
 * directions, that are sent within a window of time. It strikes each of these with a given
 * probability, or only the one with a given number.
 *
 * <p>Whether a fault strikes a packet depends only on its own salt and on the number of packets
 * that it has concerned so far. So removing one fault from a schedule does not change the others.
 *
 * @param kind the effect on the packet
 * @param source the number of the sending port, or {@link #ANY}
 * @param destination the number of the receiving port, or {@link #ANY}
 * @param from the start of the window in nanoseconds, inclusive
 * @param until the end of the window in nanoseconds, exclusive
 * @param ordinal the number of the only packet to strike, counted from 0 for each pair of source
 *     and destination; or {@link #ANY}
 * @param perMillion the number of packets in a million to strike
 * @param amount for DELAY and REORDER, the delay in nanoseconds; for DUPLICATE, the nanoseconds
 *     between both packets; for CORRUPTION, the bits to flip; for RESET, 0 if both ends see an
 *     error, else the receiver sees an end of stream
 * @param salt the seed of its random draws
 */
public record Fault(
    Kind kind,
    int source,
    int destination,
    long from,
    long until,
    int ordinal,
    int perMillion,
    long amount,
    long salt) {

  /** Any port, or any packet. */
  public static final int ANY = -1;

  /** The {@link #perMillion} of a fault that always strikes. */
  public static final int ALWAYS = 1_000_000;

  /** The kinds of faults. */
  public enum Kind {
    /** The packet is lost. */
    LOSS,
    /** The packet and all packets after it in its direction arrive later. */
    DELAY,
    /** The packet arrives later, and others overtake it. */
    REORDER,
    /** The packet arrives twice. */
    DUPLICATE,
    /** Bits are flipped, anywhere in the packet. */
    CORRUPTION,
    /** Nothing passes between source and destination, in either direction. */
    PARTITION,
    /** The port {@code source} neither sends nor receives. */
    STOP,
    /** A TCP connection ends in the middle; packets of other protocols pass. */
    RESET
  }

  /** Returns a fault for packets of any direction at any time. */
  public static Fault always(Kind kind, int perMillion, long amount, long salt) {
    return new Fault(kind, ANY, ANY, 0, Long.MAX_VALUE, ANY, perMillion, amount, salt);
  }

  /**
   * Returns whether the fault concerns a packet; {@link FaultDraw} then draws whether it strikes.
   */
  public boolean concerns(int sender, int receiver, int number, long now) {
    if (now < from || now >= until || (ordinal != ANY && ordinal != number)) {
      return false;
    }
    return switch (kind) {
      case PARTITION ->
          (is(source, sender) && is(destination, receiver))
              || (is(source, receiver) && is(destination, sender));
      case STOP -> is(source, sender) || is(source, receiver);
      case LOSS, DELAY, REORDER, DUPLICATE, CORRUPTION, RESET ->
          is(source, sender) && is(destination, receiver);
    };
  }

  private static boolean is(int wanted, int port) {
    return wanted == ANY || wanted == port;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(kind.name());
    if (kind == Kind.STOP) {
      text.append(" of port ").append(source);
    } else if (source != ANY || destination != ANY) {
      text.append(' ').append(port(source));
      text.append(kind == Kind.PARTITION ? " <-> " : " -> ").append(port(destination));
    }
    if (ordinal != ANY) {
      text.append(" packet ").append(ordinal);
    } else {
      text.append(" from ").append(from).append(" ns");
      if (until != Long.MAX_VALUE) {
        text.append(" until ").append(until).append(" ns");
      }
      if (perMillion != ALWAYS) {
        text.append(", ").append(perMillion).append(" of a million");
      }
    }
    switch (kind) {
      case DELAY, REORDER, DUPLICATE -> text.append(" by ").append(amount).append(" ns");
      case CORRUPTION -> text.append(", ").append(amount).append(" bits");
      case RESET -> text.append(amount == 0 ? " with an error" : " with an end");
      case LOSS, PARTITION, STOP -> {}
    }
    return text.toString();
  }

  private static String port(int number) {
    return number == ANY ? "any" : Integer.toString(number);
  }
}
