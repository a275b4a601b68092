// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.Fault;
import java.io.PrintWriter;

/** Prints one human-readable line for each packet and each event of a run. */
public final class Trace {
  private final PrintWriter out;
  private final RocePacket copy = new RocePacket();

  /** Creates a trace that prints immediately. */
  public Trace(PrintWriter out) {
    this.out = out;
  }

  /** Prints an event of the program. */
  public void event(long now, String what, Object who, Object about) {
    out.printf("%10d  %-6s %-14s %s%n", now, who, what, about);
  }

  /** Prints a packet that was sent. */
  public void sent(long now, int source, int destination, RocePacket packet) {
    out.printf("%10d  %d -> %d  %s%n", now, source, destination, text(packet));
  }

  /** Prints a fault that the wire injected. */
  public void fault(long now, Fault fault) {
    out.printf("%10d  *** %s%n", now, fault.kind());
  }

  /** Prints a packet that arrives damaged. Intact packets were printed when they were sent. */
  public void arrived(long now, int source, int destination, RocePacket packet) {
    PacketFault error = copy.copyFrom(packet).parse();
    if (error != PacketFault.NONE) {
      out.printf("%10d  %d -> %d  dropped: %s%n", now, source, destination, error);
    }
  }

  private static String text(RocePacket packet) {
    StringBuilder text = new StringBuilder();
    text.append(packet.opcode());
    text.append(String.format(" qp %06x psn %06x", packet.destinationQueuePair(), packet.psn()));
    if (packet.payloadLength() > 0) {
      text.append(' ').append(packet.payloadLength()).append(" B");
    }
    if (packet.opcode().has(ExtendedHeader.RETH)) {
      text.append(String.format(" dma %d at %x", packet.dmaLength(), packet.remoteAddress()));
    }
    if (packet.opcode().has(ExtendedHeader.AETH)) {
      text.append(syndrome(packet.syndrome())).append(" msn ").append(packet.messageSequence());
    }
    if (packet.ackRequested()) {
      text.append(" ack?");
    }
    return text.toString();
  }

  private static String syndrome(int syndrome) {
    if (Aeth.isRnrNak(syndrome)) {
      return " RNR NAK " + Aeth.value(syndrome);
    }
    return Aeth.isAck(syndrome) ? "" : String.format(" NAK %02x", syndrome);
  }
}
