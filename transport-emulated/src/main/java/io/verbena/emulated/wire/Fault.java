// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

/**
 * A fault that a wire inflicts on packets, as data. It concerns packets of one direction, or of
 * all, that are sent within a window of time; it strikes each of those with a certain probability,
 * or the one with a certain number.
 *
 * <p>Whether it strikes a packet depends on its own salt and on the number of packets it has looked
 * at, on no other fault: removing one from a schedule leaves the others as they are.
 *
 * @param kind the effect on the packet
 * @param source number of the sending port, or {@link #ANY}
 * @param destination number of the receiving port, or {@link #ANY}
 * @param from the first moment, in nanoseconds
 * @param until the moment at which it is over
 * @param ordinal the one packet that it strikes, counted from 0 for each pair of source and
 *     destination; or {@link #ANY}
 * @param perMillion the number of packets in a million that it strikes
 * @param amount nanoseconds of DELAY and REORDER and between the two of DUPLICATE; bits to flip for
 *     CORRUPTION; of RESET, 0 if both ends see an error, else the receiver sees an end of stream
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
    /** The packet and all behind it in its direction come later. */
    DELAY,
    /** The packet comes later; others overtake it. */
    REORDER,
    /** The packet comes twice. */
    DUPLICATE,
    /** Bits are flipped, anywhere in the packet. */
    CORRUPTION,
    /** Nothing passes between source and destination, in either direction. */
    PARTITION,
    /** The port named by source neither sends nor receives. */
    STOP,
    /** A connection of TCP ends in the middle; packets pass. */
    RESET
  }

  /** Returns a fault that strikes packets of any direction at any time. */
  public static Fault always(Kind kind, int perMillion, long amount, long salt) {
    return new Fault(kind, ANY, ANY, 0, Long.MAX_VALUE, ANY, perMillion, amount, salt);
  }

  /** Returns whether it applies to a packet, before chance is drawn. */
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
