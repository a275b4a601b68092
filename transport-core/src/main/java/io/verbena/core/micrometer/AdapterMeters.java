// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.verbena.RejectReason;
import io.verbena.meters.Backlog;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters.Watch;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendOpcode;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one adapter on one provider. A lock guards the open connections and the totals of
 * closed ones. Connections take it when they open and close, readers of a gauge when they read.
 */
final class AdapterMeters {
  private static final String CONNECTIONS = "connections";
  private static final String COMPLETIONS = "completions";
  private static final String RECEIVES = "receives";
  private static final String REQUESTS = "requests";
  private static final String CAMEL = "(?<=[a-z])(?=[A-Z])";

  private final MeterRegistration registration;
  private final Tags tags;
  private final Operations operations;
  private final Set<MicrometerHca> hcas = new HashSet<>();
  private final Set<MicrometerConnection> connections = new HashSet<>();
  private final Set<Watched> backlogs = new HashSet<>();
  private final Set<Credit> credits = ConcurrentHashMap.newKeySet();
  private final Totals closed = new Totals();
  private final AtomicBoolean metered = new AtomicBoolean();
  private final AtomicBoolean watching = new AtomicBoolean();

  AdapterMeters(MeterRegistration registration, String adapter, String provider) {
    this.registration = registration;
    tags = Tags.of("adapter", adapter, "provider", provider);
    operations = new Operations(registration, tags);
  }

  Operations operations() {
    return operations;
  }

  // ---- opening and closing

  HcaMeter open(MeteredHca hca, DeviceMeters counters) {
    DistributionSummary polls =
        registration.summary(
            "verbena.completion.queue.depth",
            COMPLETIONS,
            "Completions that a poll found, where it found any, up to 64",
            tags);
    MicrometerHca opened = new MicrometerHca(this, counters, polls, hca);
    synchronized (this) {
      hcas.add(opened);
    }
    // Outside of the lock, which readers of gauges take: a registry has locks of its own.
    if (metered.compareAndSet(false, true)) {
      enterTraffic();
      enterQueues();
    }
    for (Credit credit : hca.credits()) {
      if (credits.add(credit)) {
        gauge(
            "verbena.credits",
            "credits",
            "Credits of the peers that are not used",
            tags.and("credit", credit.name().toLowerCase(Locale.ROOT)),
            meters -> meters.sum(connection -> connection.state.credits(credit)));
      }
    }
    return opened;
  }

  synchronized void closed(MicrometerHca hca) {
    hcas.remove(hca);
  }

  synchronized ConnectionMeter connection(ConnectionState state, int slots) {
    MicrometerConnection connection = new MicrometerConnection(this, state, slots);
    connections.add(connection);
    return connection;
  }

  synchronized void closed(MicrometerConnection connection) {
    if (connections.remove(connection)) {
      closed.add(connection.totals);
    }
  }

  Watch watch(Backlog backlog) {
    Watched watched = new Watched(backlog);
    synchronized (this) {
      backlogs.add(watched);
    }
    if (watching.compareAndSet(false, true)) {
      enterBacklogs();
    }
    return watched;
  }

  private synchronized void unwatch(Watched watched) {
    backlogs.remove(watched);
  }

  /** One watch of a backlog: a backlog that is watched twice counts twice. */
  private final class Watched implements Watch {
    private final Backlog backlog;

    Watched(Backlog backlog) {
      this.backlog = backlog;
    }

    @Override
    public void close() {
      unwatch(this);
    }
  }

  // ---- events

  void failed(String operation, @Nullable CompletionStatus status, Throwable why) {
    registration
        .counter(
            "verbena.errors",
            "errors",
            "Failures that the program has received",
            tags.and(
                "operation",
                String.join("_", operation.split(CAMEL)).toLowerCase(Locale.ROOT),
                "status",
                status == null ? "none" : Operations.name(status),
                "exception",
                why.getClass().getSimpleName()))
        .increment();
  }

  void loopStalled() {
    registration
        .counter("verbena.loop.stalls", "stalls", "Completion loops found held up", tags)
        .increment();
  }

  void refused(int code) {
    String name =
        switch (code) {
          case RejectReason.CONNECTION_LIMIT -> "connection_limit";
          case RejectReason.PEER_LIMIT -> "peer_limit";
          case RejectReason.HOOK_FAILED -> "hook_failed";
          default -> "program";
        };
    registration
        .counter(
            "verbena.connections.refused",
            CONNECTIONS,
            "Connections that a limit or an accept hook of a server refused",
            tags.and("reason", name))
        .increment();
  }

  void mediumChosen(String medium) {
    registration
        .counter(
            "verbena.connections.chosen",
            CONNECTIONS,
            "Connections that could be over RDMA or TCP",
            tags.and("medium", medium))
        .increment();
  }

  void peerAsked() {
    registration
        .counter("verbena.keep.alive.questions", "questions", "Silent peers asked", tags)
        .increment();
  }

  void peerFoundDead() {
    registration
        .counter("verbena.keep.alive.dead", "peers", "Peers that did not answer", tags)
        .increment();
  }

  // ---- gauges and totals

  private void enterTraffic() {
    for (boolean out : List.of(true, false)) {
      Tags direction = tags.and("direction", out ? "out" : "in");
      count(
          "verbena.messages",
          "messages",
          "Messages",
          direction,
          totals -> out ? totals.sentMessages : totals.receivedMessages);
      count(
          "verbena.data",
          BaseUnits.BYTES,
          "Bytes of messages",
          direction,
          totals -> out ? totals.sentBytes : totals.receivedBytes);
    }
    Map<String, EnumSet<SendOpcode>> byName = new TreeMap<>();
    for (SendOpcode opcode : SendOpcode.values()) {
      byName
          .computeIfAbsent(Operations.name(opcode), name -> EnumSet.noneOf(SendOpcode.class))
          .add(opcode);
    }
    byName.forEach(
        (name, opcodes) ->
            count(
                "verbena.operations.data",
                BaseUnits.BYTES,
                "Bytes that work requests have moved",
                tags.and("operation", name),
                totals -> {
                  long sum = 0;
                  for (SendOpcode opcode : opcodes) {
                    sum += totals.movedBytes[opcode.code()];
                  }
                  return sum;
                }));
  }

  private void enterQueues() {
    gauge(
        "verbena.connections",
        CONNECTIONS,
        "Connections, from their queue pair's making to its end",
        tags,
        meters -> meters.sum(connection -> 1));
    gauge(
        "verbena.send.queue.depth",
        REQUESTS,
        "Work requests in send queues",
        tags,
        meters -> meters.sum(connection -> connection.state.sendQueueDepth()));
    gauge(
        "verbena.send.queue.limit",
        REQUESTS,
        "Work requests that send queues hold at the most",
        tags,
        meters -> meters.sum(connection -> connection.state.sendQueueLimit()));
    gauge(
        "verbena.completion.queue.reserved",
        COMPLETIONS,
        "Entries of completion queues that are kept for connections",
        tags,
        meters -> meters.total(MicrometerHca::completionsReserved));
    gauge(
        "verbena.completion.queue.limit",
        COMPLETIONS,
        "Entries of completion queues",
        tags,
        meters -> meters.total(MicrometerHca::completionEntries));
    gauge(
        "verbena.receive.pool.size",
        RECEIVES,
        "Receives that shared receive queues keep posted",
        tags,
        meters -> meters.total(MicrometerHca::receives));
    gauge(
        "verbena.receive.pool.promised",
        RECEIVES,
        "Receives of shared receive queues that peers have credits for",
        tags,
        meters -> meters.total(MicrometerHca::receivesPromised));
    gauge(
        "verbena.memory.registered",
        BaseUnits.BYTES,
        "Registered memory",
        tags,
        meters -> meters.total(hca -> hca.hca.registeredBytes().getAsLong()));
    gauge(
        "verbena.memory.limit",
        BaseUnits.BYTES,
        "The limit on registered memory",
        tags,
        meters -> meters.total(hca -> hca.hca.maxRegisteredBytes()));
  }

  private void enterBacklogs() {
    gauge(
        "verbena.backlog",
        BaseUnits.BYTES,
        "Bytes that wait for the peers' credits",
        tags,
        AdapterMeters::backlogBytes);
    gauge(
        "verbena.backlog.most",
        BaseUnits.BYTES,
        "Bytes that wait on the connection where most wait",
        tags,
        AdapterMeters::mostBacklogBytes);
    gauge(
        "verbena.backlog.limit",
        BaseUnits.BYTES,
        "Bytes at which a connection fails, where that is the least",
        tags,
        AdapterMeters::backlogLimit);
    gauge(
        "verbena.backlog.queues",
        CONNECTIONS,
        "Connections with such a queue",
        tags,
        AdapterMeters::backlogCount);
  }

  private void gauge(
      String name, String unit, String text, Tags with, ToDoubleFunction<AdapterMeters> value) {
    registration.gauge(name, unit, text, with, this, value);
  }

  private void count(
      String name, String unit, String text, Tags with, ToLongFunction<Totals> value) {
    registration.count(name, unit, text, with, this, meters -> meters.total(value, 0));
  }

  private synchronized double sum(ToIntFunction<MicrometerConnection> value) {
    long sum = 0;
    for (MicrometerConnection connection : connections) {
      sum += value.applyAsInt(connection);
    }
    return sum;
  }

  private synchronized double total(ToLongFunction<MicrometerHca> value) {
    double sum = 0;
    for (MicrometerHca hca : hcas) {
      sum += value.applyAsLong(hca);
    }
    return sum;
  }

  private synchronized double total(ToLongFunction<Totals> value, long from) {
    long sum = from + value.applyAsLong(closed);
    for (MicrometerConnection connection : connections) {
      sum += value.applyAsLong(connection.totals);
    }
    return sum;
  }

  private synchronized double backlogBytes() {
    long sum = 0;
    for (Watched each : backlogs) {
      sum += each.backlog.bytes();
    }
    return sum;
  }

  private synchronized double mostBacklogBytes() {
    long most = 0;
    for (Watched each : backlogs) {
      most = Math.max(most, each.backlog.bytes());
    }
    return most;
  }

  private synchronized double backlogLimit() {
    long least = 0;
    for (Watched each : backlogs) {
      long limit = each.backlog.limit();
      least = least == 0 ? limit : Math.min(least, limit);
    }
    return least;
  }

  private synchronized double backlogCount() {
    return backlogs.size();
  }
}
