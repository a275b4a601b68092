// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Measures the latency of one size. A message counts half of a round trip; a READ or an atomic is a
 * whole round trip by itself. One thread.
 */
final class LatencyRun {
  /** Bytes have no atomic access of their own. */
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private final PerfConnection connection;
  private final boolean client;
  private final Rounds rounds;

  LatencyRun(PerfConnection connection, boolean client) {
    this.connection = connection;
    this.client = client;
    PerfPlan plan = connection.plan();
    rounds = new Rounds(plan.iterations(), plan.duration(), plan.verb().isFetch() ? 1 : 2);
  }

  /** Runs it. */
  Latency run() throws ToolFailure, IOException, InterruptedException {
    switch (connection.plan().verb()) {
      case SEND -> send();
      case WRITE -> write();
      case READ, ATOMIC -> fetch();
    }
    return rounds.latency(connection.size());
  }

  /** In a timed test the server goes on until the client ends it. */
  private boolean hasNext() {
    return (!client && connection.plan().isTimed()) || rounds.hasNext();
  }

  private void send() throws ToolFailure, IOException, InterruptedException {
    while (hasNext()) {
      if (!client && !awaitMessage()) {
        return;
      }
      rounds.begin();
      connection.post(0, 0, true);
      if (client && !awaitMessage()) {
        return;
      }
      connection.awaitSent();
    }
  }

  private boolean awaitMessage() throws ToolFailure, IOException, InterruptedException {
    int count = connection.pollReceived();
    while (count == 0) {
      if (connection.isOver(client)) {
        return false;
      }
      count = connection.pollReceived();
    }
    connection.repostReceives(count);
    return true;
  }

  /** Measures WRITEs. The server begins. */
  private void write() throws ToolFailure, IOException, InterruptedException {
    ByteBuffer memory = connection.memory();
    int last = connection.size() - 1;
    for (int round = 1; hasNext(); round++) {
      if (client && !awaitByte(memory, last, round)) {
        return;
      }
      rounds.begin();
      memory.put(last, (byte) round);
      connection.post(0, 0, true);
      if (!client && !awaitByte(memory, last, round)) {
        return;
      }
      connection.awaitSent();
    }
  }

  /** The peer writes the number of the round into the last byte, which lands after all others. */
  private boolean awaitByte(ByteBuffer memory, int last, int round)
      throws ToolFailure, IOException, InterruptedException {
    int at = connection.coming() + last;
    int word = at & -Integer.BYTES;
    int shift = Byte.SIZE * (Integer.BYTES - 1 - (at - word));
    while ((byte) ((int) WORDS.getVolatile(memory, word) >>> shift) != (byte) round) {
      if (connection.isOver(client)) {
        return false;
      }
    }
    connection.seen();
    return true;
  }

  private void fetch() throws ToolFailure, InterruptedException {
    while (rounds.hasNext()) {
      rounds.begin();
      connection.post(0, 0, true);
      connection.awaitSent();
    }
  }
}
