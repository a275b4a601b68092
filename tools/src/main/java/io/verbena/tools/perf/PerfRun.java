// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.End;
import io.verbena.tools.end.QueuePairAddress;
import io.verbena.tools.end.SourceGid;
import io.verbena.tools.end.TestQueuePair;
import io.verbena.tools.end.ToolFailure;
import io.verbena.tools.end.UnmanagedQueuePair;
import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One end of a test, from the exchange of addresses to the last report. One thread. */
final class PerfRun {
  private static final int CACHE_LINE = 64;

  /** The default number of READs and atomics under way at once, if the HCA supports more. */
  private static final int MOST_OUTSTANDING = 128;

  private final PerfPlan plan;
  private final URI device;
  private final boolean client;
  private final boolean gbits;
  private final @Nullable Output output;
  private int largest;

  /**
   * @param device the URI of this end's device
   * @param gbits whether the table is in Gb/s
   * @param output prints the results, or null
   */
  PerfRun(PerfPlan plan, URI device, boolean client, boolean gbits, @Nullable Output output) {
    this.plan = plan;
    this.device = device;
    this.client = client;
    this.gbits = gbits;
    this.output = output;
  }

  /**
   * Runs it to its end.
   *
   * @param socket to the other end; null if the ends exchange their parameters over a queue pair
   * @param listening called when the client may connect that queue pair
   */
  void run(@Nullable Socket socket, Runnable listening)
      throws IOException, ToolFailure, InterruptedException {
    int coming = (plan.size() + CACHE_LINE - 1) & -CACHE_LINE;
    int header = plan.type() == QueuePairType.UD ? GlobalRoute.LENGTH : 0;
    Set<Access> remote = remoteAccess();
    Set<Access> access = EnumSet.of(Access.LOCAL_WRITE);
    access.addAll(remote);
    int room = Math.max(PerftestExchange.CYCLE_BUFFER, plan.size() + Long.BYTES);
    int numbers = (coming + header + room + Long.BYTES - 1) & -Long.BYTES;
    int bytes = numbers + ReceiveCredits.bytes(plan.pairs());
    int credit = ReceiveCredits.mayBeNeeded(plan) ? 1 : 0;
    int sends = plan.pairs() * (plan.txDepth() + credit) + 1;
    int receives = plan.pairs() * plan.rxDepth() + 1;
    try (End end = End.open(device, bytes, access, sends, receives, plan.events())) {
      DeviceAttributes has = end.device().attributes();
      if (plan.verb() == Verb.ATOMIC) {
        has.require(Capability.ATOMICS);
      }
      Mtu mtu = plan.mtu() != null ? plan.mtu() : end.device().port().activeMtu();
      largest = plan.size();
      if (plan.type() == QueuePairType.UD && plan.all()) {
        largest = Math.min(largest, mtu.bytes());
      } else if (plan.type() == QueuePairType.UD && largest > mtu.bytes()) {
        throw new ToolFailure(
            "-s: " + plan.size() + " (expected: <= " + mtu.bytes() + ", the MTU)",
            "give both ends -s " + mtu.bytes());
      }
      int gid = SourceGid.index(end.device().port(), device, plan.gid());
      ManagedQueuePairs managed = managed(end, gid);
      listening.run();
      PerftestChannel channel =
          managed == null ? new TcpChannel(Objects.requireNonNull(socket)) : managed.meet();
      PerftestExchange exchange = PerftestExchange.agree(channel, client, mtu);
      int outstanding = outstanding(has);
      List<? extends TestQueuePair> pairs =
          managed == null ? bare(end, gid, remote) : connected(managed, outstanding, exchange);
      boolean needsCredits = ReceiveCredits.areNeeded(plan, has);
      List<PerftestAddress> ours = new ArrayList<>();
      for (TestQueuePair pair : pairs) {
        int written = ReceiveCredits.written(numbers, plan.pairs(), ours.size());
        long memory = end.address(needsCredits ? written : coming);
        ours.add(new PerftestAddress(pair.here(), outstanding, end.region().rkey(), memory));
      }
      List<PerftestAddress> theirs = exchange.shakeHands(ours);
      for (int i = 0; i < plan.pairs(); i++) {
        if (pairs.get(i) instanceof UnmanagedQueuePair bare) {
          bare.connect(
              theirs.get(i).peer(),
              exchange.mtu(),
              plan.timeout(),
              Math.max(1, Math.min(outstanding, theirs.get(i).outstanding())),
              outstanding);
        }
      }
      if (output != null) {
        output.begin(plan, facts(has, exchange, gid, ours, theirs), titles());
      }
      ReceiveCredits credits =
          needsCredits ? new ReceiveCredits(end, pairs, theirs, plan, numbers) : null;
      PerfConnection connection =
          new PerfConnection(end, pairs, plan, exchange, theirs, coming, header, credits);
      if (plan.verb() == Verb.SEND) {
        connection.postReceives();
      }
      meet(exchange);
      if (plan.verb() != Verb.SEND && (plan.both() || !client)) {
        // The other end may measure for any time without a message: one that dies
        // closes the connection.
        exchange.waitAtMost(PerftestExchange.WITHOUT_LIMIT);
      }
      if (plan.both()) {
        runBothWays(connection, exchange);
      } else if (client) {
        runAsClient(connection, exchange);
      } else {
        runAsServer(connection, exchange);
      }
      if (managed != null) {
        managed.disconnect();
      }
      if (output != null) {
        output.end();
      }
    }
  }

  /** Connects the queue pairs of the test, with a barrier of both ends before and after. */
  private static List<TestQueuePair> connected(
      ManagedQueuePairs managed, int outstanding, PerftestExchange exchange)
      throws IOException, ToolFailure, InterruptedException {
    exchange.barrier();
    List<TestQueuePair> pairs = managed.connect(outstanding);
    exchange.barrier();
    return pairs;
  }

  /** Starts to listen at the server: the client may connect once the ends have agreed. */
  private @Nullable ManagedQueuePairs managed(End end, int gid) {
    URI address = plan.managed();
    return address == null
        ? null
        : new ManagedQueuePairs(end, address, SourceGid.of(end.device().port(), gid), client, plan);
  }

  private List<UnmanagedQueuePair> bare(End end, int gid, Set<Access> remote) {
    List<UnmanagedQueuePair> pairs = new ArrayList<>();
    while (pairs.size() < plan.pairs()) {
      pairs.add(
          UnmanagedQueuePair.create(
              end, plan.type(), plan.txDepth(), plan.rxDepth(), plan.inline(), gid, remote));
    }
    return pairs;
  }

  private Set<Access> remoteAccess() {
    return switch (plan.verb()) {
      // On iWARP perftest's receiver writes its number of receives, as no message waits for one.
      case SEND ->
          plan.managed() == null ? EnumSet.noneOf(Access.class) : EnumSet.of(Access.REMOTE_WRITE);
      case WRITE -> EnumSet.of(Access.REMOTE_WRITE);
      case READ -> EnumSet.of(Access.REMOTE_READ);
      case ATOMIC -> EnumSet.of(Access.REMOTE_ATOMIC);
    };
  }

  private int outstanding(DeviceAttributes has) throws ToolFailure {
    int most = Math.min(has.maxReadAtomicAsInitiator(), has.maxReadAtomicAsResponder());
    Integer asked = plan.outstanding();
    if (asked == null) {
      return Math.min(MOST_OUTSTANDING, most);
    }
    if (asked > most) {
      throw new ToolFailure(
          "-o: " + asked + " (expected: 1.." + most + ")", "`verbena device URI` has the limits");
    }
    return asked;
  }

  private String titles() {
    if (plan.measure() == Measure.BW) {
      return gbits ? Bandwidth.TITLES_IN_GBITS : Bandwidth.TITLES;
    }
    return plan.isTimed() ? Latency.TITLES_BY_TIME : Latency.TITLES;
  }

  private List<String> facts(
      DeviceAttributes has,
      PerftestExchange exchange,
      int gid,
      List<PerftestAddress> ours,
      List<PerftestAddress> theirs) {
    List<String> facts = new ArrayList<>();
    facts.add(
        String.format(
            "%-15s : %-12s Device         : %s", "Connection type", plan.type(), has.name()));
    facts.add(fact("Number of qps", plan.pairs()));
    facts.add(fact("rdma_cm QPs", plan.managed() == null ? "OFF" : "ON"));
    facts.add(fact("TX depth", plan.txDepth()));
    if (plan.verb() == Verb.SEND) {
      facts.add(fact("RX depth", plan.rxDepth()));
    }
    if (plan.measure() == Measure.BW) {
      facts.add(fact("CQ Moderation", Math.min(plan.cqModeration(), plan.txDepth())));
    }
    facts.add(fact("Mtu", exchange.mtu().bytes() + "[B]"));
    if (gid != SourceGid.NONE) {
      facts.add(fact("GID index", gid));
    }
    if (plan.verb().isFetch()) {
      facts.add(
          fact("Outstand reads", Math.min(ours.get(0).outstanding(), theirs.get(0).outstanding())));
    } else {
      facts.add(fact("Max inline data", plan.inline() + "[B]"));
    }
    ours.forEach(each -> facts.add(where("local", each)));
    theirs.forEach(each -> facts.add(where("remote", each)));
    return facts;
  }

  private static String fact(String name, Object value) {
    return String.format("%-15s : %s", name, value);
  }

  private static String where(String whose, PerftestAddress at) {
    return String.format(
        Locale.ROOT,
        "%s address: %sQPN 0x%04x PSN 0x%06x RKey 0x%06x VAddr 0x%016x GID %s",
        whose,
        at.peer().lid() == 0 ? "" : String.format(Locale.ROOT, "LID 0x%04x ", at.peer().lid()),
        at.peer().queuePair(),
        at.peer().psn(),
        at.rkey(),
        at.memory(),
        QueuePairAddress.text(at.peer().gid()));
  }

  private void runAsClient(PerfConnection connection, PerftestExchange exchange)
      throws IOException, ToolFailure, InterruptedException {
    PerftestReport report = PerftestReport.NONE;
    for (int size = plan.firstSize(); size <= largest; size *= 2) {
      connection.size(size);
      if (plan.verb() == Verb.SEND) {
        exchange.barrier();
      }
      if (plan.measure() == Measure.LAT) {
        print(new LatencyRun(connection, true).run());
      } else {
        Bandwidth bandwidth = new BandwidthRun(connection, gbits).send(false);
        report = bandwidth.report();
        print(bandwidth);
      }
      if (plan.all() && plan.verb() == Verb.SEND && plan.measure() == Measure.BW) {
        exchange.barrier();
      }
    }
    if (plan.measure() == Measure.BW && plan.verb() != Verb.SEND) {
      exchange.barrier();
      exchange.report(report);
    }
    exchange.end();
  }

  /** Runs the barriers of perftest's programs between their first message and their test. */
  private void meet(PerftestExchange exchange)
      throws IOException, ToolFailure, InterruptedException {
    if (plan.verb() == Verb.SEND) {
      exchange.barrier();
      exchange.shakeHands();
      return;
    }
    exchange.shakeHands();
    exchange.barrier();
    if (plan.measure() == Measure.LAT) {
      exchange.barrier();
    }
  }

  /** Runs the test in both directions at the same time, and exchanges the results. */
  private void runBothWays(PerfConnection connection, PerftestExchange exchange)
      throws IOException, ToolFailure, InterruptedException {
    boolean sends = plan.verb() == Verb.SEND;
    for (int size = plan.firstSize(); size <= largest; size *= 2) {
      connection.size(size);
      exchange.barrier();
      Bandwidth bandwidth = new BandwidthRun(connection, gbits).send(sends);
      if (plan.all() && !sends) {
        exchange.barrier();
      }
      print(bandwidth.plus(exchange.report(bandwidth.report())));
      if (plan.all() && sends) {
        exchange.barrier();
      }
    }
    if (client) {
      exchange.end();
    } else {
      exchange.endsAfter(1);
      exchange.answerToTheEnd();
    }
  }

  private void runAsServer(PerfConnection connection, PerftestExchange exchange)
      throws IOException, ToolFailure, InterruptedException {
    exchange.endsAfter(addressesOfClient());
    boolean takesPart =
        plan.verb() == Verb.SEND || (plan.verb() == Verb.WRITE && plan.measure() == Measure.LAT);
    for (int size = plan.firstSize(); takesPart && size <= largest; size *= 2) {
      connection.size(size);
      print(
          plan.measure() == Measure.LAT
              ? new LatencyRun(connection, false).run()
              : new BandwidthRun(connection, gbits).receive());
    }
    PerftestReport peers = exchange.answerToTheEnd();
    if (peers != null) {
      print(Bandwidth.of(peers, gbits));
    }
  }

  /** Returns how many addresses {@link #runAsClient} sends. */
  private int addressesOfClient() {
    boolean bandwidth = plan.measure() == Measure.BW;
    if (plan.verb() != Verb.SEND) {
      return bandwidth ? 2 : 1;
    }
    int sizes = 0;
    for (int size = plan.firstSize(); size <= largest; size *= 2) {
      sizes++;
    }
    return (plan.all() && bandwidth ? 2 * sizes : sizes) + 1;
  }

  private void print(Result result) {
    if (output != null) {
      output.result(result);
    }
  }
}
