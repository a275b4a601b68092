package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Latency of one size. Messages go to and fro, and count half; what is fetched goes to and fro by
 * itself. One thread.
 */
final class LatencyRun {
  /** Bytes have no atomic access of their own. */
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private final Wire wire;
  private final boolean client;
  private final Rounds rounds;

  LatencyRun(Wire wire, boolean client) {
    this.wire = wire;
    this.client = client;
    PerfPlan plan = wire.plan();
    rounds = new Rounds(plan.iterations(), plan.duration(), plan.verb().isFetch() ? 1 : 2);
  }

  /** Runs it. */
  Latency run() throws ToolFailure, IOException, InterruptedException {
    switch (wire.plan().verb()) {
      case SEND -> send();
      case WRITE -> write();
      case READ, ATOMIC -> fetch();
    }
    return rounds.latency(wire.size());
  }

  /** Who serves by time goes on until the client has enough. */
  private boolean hasNext() {
    return (!client && wire.plan().isTimed()) || rounds.hasNext();
  }

  private void send() throws ToolFailure, IOException, InterruptedException {
    while (hasNext()) {
      if (!client && !awaitMessage()) {
        return;
      }
      rounds.begin();
      wire.post(0, 0, true);
      if (client && !awaitMessage()) {
        return;
      }
      wire.awaitSent();
    }
  }

  private boolean awaitMessage() throws ToolFailure, IOException, InterruptedException {
    int count = wire.pollReceived();
    while (count == 0) {
      if (wire.isOver(client)) {
        return false;
      }
      count = wire.pollReceived();
    }
    wire.repostReceives(count);
    return true;
  }

  /** Here it is the server that begins. */
  private void write() throws ToolFailure, IOException, InterruptedException {
    ByteBuffer memory = wire.memory();
    int last = wire.size() - 1;
    for (int round = 1; hasNext(); round++) {
      if (client && !awaitByte(memory, last, round)) {
        return;
      }
      rounds.begin();
      memory.put(last, (byte) round);
      wire.post(0, 0, true);
      if (!client && !awaitByte(memory, last, round)) {
        return;
      }
      wire.awaitSent();
    }
  }

  /** The peer writes the number of the round into the last byte, which lands behind all others. */
  private boolean awaitByte(ByteBuffer memory, int last, int round)
      throws ToolFailure, IOException, InterruptedException {
    int at = wire.coming() + last;
    int word = at & -Integer.BYTES;
    int shift = Byte.SIZE * (Integer.BYTES - 1 - (at - word));
    while ((byte) ((int) WORDS.getVolatile(memory, word) >>> shift) != (byte) round) {
      if (wire.isOver(client)) {
        return false;
      }
    }
    wire.seen();
    return true;
  }

  private void fetch() throws ToolFailure, InterruptedException {
    while (rounds.hasNext()) {
      rounds.begin();
      wire.post(0, 0, true);
      wire.awaitSent();
    }
  }
}
