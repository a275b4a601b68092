// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Compares the emulated HCA on UDP sockets with the kernel's, in turns, over the guest's switch, by
 * round trips of 64 B, and by RDMA WRITEs of 64 KiB without and with packet loss.
 */
@Command(
    name = "cost --wire",
    mixinStandardHelpOptions = true,
    description = "Measures roce:// beside the kernel's rxe, also where packets are lost.")
public final class WireCost implements Callable<Integer> {
  private static final String PERFTEST = "perftest";
  private static final String NOTHING = "0";
  private static final int PERFTEST_ATTEMPTS = 3;
  private static final int LOSSY_PART = 4;
  static final List<Job> JOBS = List.of(Job.PING_PONG, Job.WRITE);

  /** Packets of a block at the largest MTU, which the guest's links carry. */
  private static final int PACKETS = Job.BLOCK / 4096;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--repetitions",
      converter = Count.class,
      paramLabel = "N",
      description = "Turns of everybody (default: ${DEFAULT-VALUE}).")
  private int repetitions = 5;

  @Option(
      names = "--rounds",
      converter = Count.class,
      paramLabel = "N",
      description = "Round trips of a turn (default: ${DEFAULT-VALUE}).")
  private int rounds = 2000;

  @Option(
      names = "--writes",
      converter = Count.class,
      paramLabel = "N",
      description = {
        "Writes of a turn, of which a fourth where packets are lost (default: ${DEFAULT-VALUE})."
      })
  private int writes = 1000;

  @Option(
      names = "--loss",
      converter = Percent.class,
      paramLabel = "PERCENT",
      description = "Packets that the switch loses, either way (default: ${DEFAULT-VALUE}).")
  private String loss = "1";

  @Option(
      names = "--warm-up",
      converter = Count.class,
      paramLabel = "N",
      description = {
        "Seconds of writes before the first turn for each route on which roce:// is, a quarter of"
            + " it for the other; a third of that with loss, and half of it of round trips"
            + " (default: ${DEFAULT-VALUE})."
      })
  private int warmUpSeconds = 90;

  @Option(
      names = "--routes",
      split = ",",
      paramLabel = "ROUTE",
      description = "Whose packets go to whom (default: all): ${COMPLETION-CANDIDATES}.")
  private List<Route> routes = List.of(Route.values());

  private final Map<Host, EndProcess> processes = new EnumMap<>(Host.class);
  private final Map<String, Samples> pings = new LinkedHashMap<>();
  private final Map<String, List<Loss>> losses = new LinkedHashMap<>();
  private int port = 18_515;

  /** Writes {@code count} blocks and returns MiB per second. */
  private interface Writes {
    double rate(int count) throws Exception;
  }

  /** Runs the command and exits with its code; see {@code --help}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new WireCost()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    PrintWriter out = commandLine().getOut();
    try {
      for (Host host : Host.values()) {
        processes.put(host, new EndProcess(host.there(), WireMain.class));
      }
      // Set from the beginning, so that packets take the same path without loss.
      Switch.lose(NOTHING);
      for (Route route : routes) {
        warmUp(route);
      }
      for (int i = 1; i <= repetitions; i++) {
        pingPongs("turn " + i + " of " + repetitions);
        writes("turn " + i + " of " + repetitions);
      }
    } finally {
      processes.values().forEach(EndProcess::close);
    }
    out.println("JVM: " + Runtime.version());
    out.print(
        CostTable.of(
            Job.MESSAGE + " B ping-pong: half a round trip, median of " + rounds + ", us",
            pings,
            PERFTEST));
    String job = "64 KiB RDMA WRITE, " + Job.DEPTH + " under way, ";
    out.print(
        CostTable.of(job + writes + " times: MiB/s", LossTable.of(losses, Loss::whole), PERFTEST));
    out.print(
        CostTable.of(
            job + lossyWrites() + " times, " + loss + " % lost: MiB/s",
            LossTable.of(losses, Loss::lossy),
            PERFTEST));
    out.print(LossTable.of(losses));
    out.flush();
    return 0;
  }

  private void warmUp(Route route) throws Exception {
    Duration time = Duration.ofSeconds(warmUpSeconds);
    if (!route.isEmulated()) {
      time = time.dividedBy(4);
    }
    for (Job job : JOBS) {
      pin(route, job);
      try (WireSession session = session(route)) {
        if (job == Job.PING_PONG) {
          session.warmUp(job, time.dividedBy(2));
        } else {
          session.warmUp(job, time);
          // The code that handles lost packets has to be compiled, too.
          Switch.lose(loss);
          session.warmUp(job, time.dividedBy(3));
          Switch.lose(NOTHING);
        }
      }
      say("warm: " + route.title + ", " + job);
    }
  }

  private void pingPongs(String turn) throws Exception {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(PERFTEST, perftest().roundTrips(rounds));
    for (Route route : routes) {
      pin(route, Job.PING_PONG);
      try (WireSession session = session(route)) {
        session.warmUp(Job.PING_PONG, Duration.ZERO);
        figures.put(route.title, session.roundTrips(rounds));
      }
    }
    say(turn + ", us: " + figures);
    figures.forEach((name, figure) -> pings.computeIfAbsent(name, n -> new Samples()).add(figure));
  }

  private void writes(String turn) throws Exception {
    Loss ofPerftest = perftestWrites();
    say(turn + ", " + PERFTEST + ": " + ofPerftest);
    losses.computeIfAbsent(PERFTEST, n -> new ArrayList<>()).add(ofPerftest);
    for (Route route : routes) {
      pin(route, Job.WRITE);
      try (WireSession session = session(route)) {
        session.warmUp(Job.WRITE, Duration.ZERO);
        String before = session.counts();
        Loss figures = compare(route, session::writes);
        say(turn + ", " + route.title + ": " + figures);
        say("  before " + before);
        say("  after  " + session.counts());
        losses.computeIfAbsent(route.title, n -> new ArrayList<>()).add(figures);
      }
    }
  }

  /**
   * Measures perftest, and repeats after a failure: with packet loss, rxe sometimes rejects a valid
   * request, which ends perftest.
   */
  private Loss perftestWrites() throws Exception {
    for (int left = PERFTEST_ATTEMPTS - 1; ; left--) {
      try {
        return compare(Route.RXE_TO_RXE, count -> perftest().writes(count));
      } catch (IOException e) {
        if (left == 0) {
          throw e;
        }
        say(e.getMessage() + PERFTEST + ": once more");
      }
    }
  }

  private Loss compare(Route route, Writes job) throws Exception {
    double whole = job.rate(writes);
    Switch.lose(loss);
    try {
      long sent = Switch.from(route.near);
      long answers = Switch.from(route.far);
      long lost = Switch.lostTo(route.near) + Switch.lostTo(route.far);
      double lossy = job.rate(lossyWrites());
      return new Loss(
          whole,
          lossy,
          (long) lossyWrites() * PACKETS,
          Switch.from(route.near) - sent,
          Switch.from(route.far) - answers,
          Switch.lostTo(route.near) + Switch.lostTo(route.far) - lost);
    } finally {
      Switch.lose(NOTHING);
    }
  }

  /** Fewer writes with loss, because rxe waits for timeouts of seconds after many lost packets. */
  private int lossyWrites() {
    return (writes + LOSSY_PART - 1) / LOSSY_PART;
  }

  private WireSession session(Route route) throws IOException {
    String address = route.far.address();
    ConnectionAddress connects =
        new ConnectionAddress(route.near.scheme, route.near.address(), address, port);
    ConnectionAddress listens = new ConnectionAddress(route.far.scheme, "", address, port);
    port++;
    return new WireSession(process(route.near), connects, process(route.far), listens);
  }

  private Perftest perftest() {
    return new Perftest(
        new ConnectionAddress(
            ConnectionAddress.RXE, Host.NODE1.address(), Host.NODE2.address(), port++));
  }

  private void pin(Route route, Job job) throws IOException, InterruptedException {
    Cpu.NEAR.pin(job, process(route.near).pid());
    Cpu.FAR.pin(job, process(route.far).pid());
  }

  private EndProcess process(Host host) {
    EndProcess process = processes.get(host);
    if (process == null) {
      throw new IllegalStateException("process: none at " + host);
    }
    return process;
  }

  private CommandLine commandLine() {
    if (spec == null) {
      throw new IllegalStateException("cost: not run by a command line");
    }
    return spec.commandLine();
  }

  private void say(String line) {
    PrintWriter progress = commandLine().getErr();
    progress.println(line);
    progress.flush();
  }
}
