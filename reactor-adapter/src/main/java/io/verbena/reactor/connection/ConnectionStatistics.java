// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.core.stat.QueuePairUser;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.Credit;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.reactor.send.MessageSender;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Current figures of a connection, for meters and tools; from any thread. */
final class ConnectionStatistics implements ConnectionState, QueuePairUser {
  private final int limit;
  private @Nullable SendSlots sends;
  private @Nullable MessageSender sender;

  ConnectionStatistics(int limit) {
    this.limit = limit;
  }

  void sends(SendSlots slots) {
    sends = slots;
  }

  void sender(MessageSender out) {
    sender = out;
  }

  @Override
  public int sendQueueDepth() {
    SendSlots slots = sends;
    // depth() reads two counters, one after the other: the loop may change them meanwhile.
    return slots == null ? 0 : Math.min(limit, Math.max(0, slots.depth()));
  }

  @Override
  public int sendQueueLimit() {
    return limit;
  }

  @Override
  public int credits(Credit kind) {
    MessageSender out = sender;
    return out == null ? 0 : Math.max(0, out.credits(kind));
  }

  @Override
  public String name() {
    return "reactor";
  }

  @Override
  public Map<String, Integer> credits() {
    Map<String, Integer> credits = new TreeMap<>();
    for (Credit kind : Credit.values()) {
      credits.put(kind.name().toLowerCase(Locale.ROOT), credits(kind));
    }
    return credits;
  }
}
