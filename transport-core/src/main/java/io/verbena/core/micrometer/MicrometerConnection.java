// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Times and counts the requests and messages of one connection. */
final class MicrometerConnection extends ConnectionMeter {
  private static final byte NOTHING = -1;

  private final AdapterMeters adapter;
  private final Operations operations;
  private final long[] postedAt;
  private final long[] lengths;
  private final byte[] opcodes;

  final ConnectionState state;
  final Totals totals = new Totals();

  MicrometerConnection(AdapterMeters adapter, ConnectionState state, int slots) {
    this.adapter = adapter;
    this.state = state;
    operations = adapter.operations();
    postedAt = new long[slots];
    lengths = new long[slots];
    opcodes = new byte[slots];
    Arrays.fill(opcodes, NOTHING);
  }

  @Override
  public void posted(int slot, SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    lengths[slot] = inline == null ? request.buffers().totalLength() : inline.remaining();
    opcodes[slot] = (byte) request.opcode().code();
    postedAt[slot] = System.nanoTime();
  }

  @Override
  public void forget(int slot) {
    opcodes[slot] = NOTHING;
  }

  @Override
  public void completed(int slot, CompletionStatus status) {
    byte opcode = opcodes[slot];
    if (opcode == NOTHING) {
      return;
    }
    opcodes[slot] = NOTHING;
    operations.record(opcode, status, System.nanoTime() - postedAt[slot]);
    if (status == CompletionStatus.SUCCESS) {
      totals.movedBytes[opcode] += lengths[slot];
    }
  }

  @Override
  public void sent(int bytes) {
    totals.sentMessages++;
    totals.sentBytes += bytes;
  }

  @Override
  public void received(int bytes) {
    totals.receivedMessages++;
    totals.receivedBytes += bytes;
  }

  @Override
  public void close() {
    adapter.closed(this);
  }
}
