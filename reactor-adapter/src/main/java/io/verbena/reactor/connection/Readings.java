package io.verbena.reactor.connection;

import io.verbena.core.stat.QueuePairUser;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.Credit;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a meter or a person may ask of a connection at any moment, from any thread. */
final class Readings implements ConnectionState, QueuePairUser {
  private final int limit;
  private @Nullable SendQueue sends;
  private @Nullable Outbound outbound;

  Readings(int limit) {
    this.limit = limit;
  }

  void sends(SendQueue queue) {
    sends = queue;
  }

  void outbound(Outbound out) {
    outbound = out;
  }

  @Override
  public int sendQueueDepth() {
    SendQueue queue = sends;
    // Its two ends are read one after the other.
    return queue == null ? 0 : Math.min(limit, Math.max(0, queue.depth()));
  }

  @Override
  public int sendQueueLimit() {
    return limit;
  }

  @Override
  public int credits(Credit kind) {
    Outbound out = outbound;
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
