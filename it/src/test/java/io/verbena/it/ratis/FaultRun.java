// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.awaitility.core.ThrowingRunnable;

/**
 * Applies faults to {@link RegisterServer}s one after the other while a {@link RegisterClient}
 * calls them, and waits after each for a leader and for answers. Used by one thread.
 *
 * @param <S> the test's type of a server
 */
public final class FaultRun<S> {
  /**
   * A deposed server does not stand for election again for Ratis's step-down wait time, even if
   * only its log is long enough. A round takes at most three of Ratis's election timeouts: to miss
   * the leader, to ask whether the others would vote, and to get their votes. Some rounds are
   * split, or late on a busy machine: the limit allows twenty.
   */
  private static final Duration LEADER_LIMIT =
      Duration.ofMillis(
          RaftServerConfigKeys.LeaderElection.LEADER_STEP_DOWN_WAIT_TIME_DEFAULT.toLong(
                  TimeUnit.MILLISECONDS)
              + 20
                  * 3
                  * RaftServerConfigKeys.Rpc.TIMEOUT_MAX_DEFAULT.toLong(TimeUnit.MILLISECONDS));

  /**
   * A client waits for an unresponsive server for Ratis's request timeout, and then asks another
   * one, which may not be the leader either.
   */
  private static final Duration ANSWERS_LIMIT =
      LEADER_LIMIT.plusMillis(
          3 * RaftClientConfigKeys.Rpc.REQUEST_TIMEOUT_DEFAULT.toLong(TimeUnit.MILLISECONDS));

  private static final Duration POLL = Duration.ofMillis(200);

  /**
   * The number of characters that are shown of each program's output after a failed wait: enough
   * for the stacks of its threads.
   */
  private static final int SHOWN = 100_000;

  /** HotSpot prints this behind the stacks of all threads. */
  private static final String END_OF_THREADS = "JNI global refs";

  private static final Duration THREADS_LIMIT = Duration.ofSeconds(10);

  private static final int MORE_WRITES = 100;
  private static final int MORE_READS = 20;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final Pattern LEADS = Pattern.compile(RegisterServer.LEADS + "(\\d+)");
  private static final Pattern INSTALLED = Pattern.compile(RegisterServer.INSTALLED + "\\d+");
  private static final Pattern COUNT = Pattern.compile("(\\w+)=(\\d+)");

  /** A fault of servers. */
  @FunctionalInterface
  public interface Fault {
    /** Applies the fault; returns once it has happened. */
    void befall() throws Exception;
  }

  /**
   * A fault that was applied.
   *
   * @param at the time, by {@link System#nanoTime}
   * @param newLeader the time at which there was another leader, if the fault deposed the old one
   */
  private record Passed(String name, long at, OptionalLong newLeader) {}

  private final List<S> servers;
  private final Function<S, String> output;
  private final Supplier<String> clientOutput;
  private final ThrowingRunnable printThreads;
  private final List<Passed> passed = new ArrayList<>();

  /** The number of snapshots that a server has reported as installed since its last start. */
  private final Map<S, Long> installedBy = new HashMap<>();

  private long installed;

  /**
   * @param output returns the output of a server so far
   * @param clientOutput returns the output of the client so far
   * @param printThreads has the servers and the client print the stacks of their threads to their
   *     output, after a failed wait; need not wait
   */
  public FaultRun(
      List<S> servers,
      Function<S, String> output,
      Supplier<String> clientOutput,
      ThrowingRunnable printThreads) {
    this.servers = servers;
    this.output = output;
    this.clientOutput = clientOutput;
    this.printThreads = printThreads;
  }

  /** Returns the server that became the leader last; waits for the first leader. */
  public S leader() {
    await(
        "a leader",
        LEADER_LIMIT,
        () ->
            assertThat(servers).anySatisfy(each -> assertThat(leads(each).findAny()).isPresent()));
    return servers.stream()
        .max(Comparator.comparingLong(each -> leads(each).max().orElse(Long.MIN_VALUE)))
        .orElseThrow();
  }

  /** Returns whether a server is the one that became the leader last. */
  public boolean isLeader(S server) {
    return leader() == server;
  }

  private LongStream leads(S server) {
    return LEADS
        .matcher(output.apply(server))
        .results()
        .mapToLong(each -> Long.parseLong(each.group(1)));
  }

  /**
   * Applies a fault that deposes the leader, and waits for another leader and for answers to
   * writes.
   */
  public void depose(String name, S leader, Fault fault) throws Exception {
    long at = System.nanoTime();
    fault.befall();
    await(
        name + ": another leader",
        LEADER_LIMIT,
        () -> assertThat(newLeader(leader, at)).isPresent());
    passed.add(new Passed(name, at, newLeader(leader, at)));
    awaitMore(name, Map.of(RegisterClient.WRITES, MORE_WRITES));
    countInstalled();
  }

  private OptionalLong newLeader(S old, long since) {
    return servers.stream()
        .filter(each -> each != old)
        .flatMapToLong(this::leads)
        .filter(each -> each > since)
        .min();
  }

  /** Applies a fault that leaves a majority, or ends one, and waits until all servers answer. */
  public void pass(String name, Fault fault) throws Exception {
    long at = System.nanoTime();
    fault.befall();
    passed.add(new Passed(name, at, OptionalLong.empty()));
    awaitAllAnswer(name);
    countInstalled();
  }

  /**
   * Adds the new snapshots to the total. The output of a restarted server starts again from
   * nothing.
   */
  private void countInstalled() {
    for (S each : servers) {
      long now = INSTALLED.matcher(output.apply(each)).results().count();
      long before = installedBy.getOrDefault(each, 0L);
      installed += now < before ? now : now - before;
      installedBy.put(each, now);
    }
  }

  /** Returns how many snapshots servers have installed. */
  public long installed() {
    return installed;
  }

  /** Waits for further answers to writes, and to reads at each server. */
  public void awaitAllAnswer(String name) {
    Map<String, Integer> more =
        counts().keySet().stream().collect(Collectors.toMap(each -> each, each -> MORE_READS));
    more.put(RegisterClient.WRITES, MORE_WRITES);
    awaitMore(name, more);
  }

  private void awaitMore(String name, Map<String, Integer> more) {
    Map<String, Long> before = counts();
    await(
        name + ": answers",
        ANSWERS_LIMIT,
        () -> {
          Map<String, Long> now = counts();
          assertThat(more)
              .allSatisfy(
                  (what, count) ->
                      assertThat(now.get(what)).as(what).isGreaterThan(before.get(what) + count));
        });
  }

  private void await(String what, Duration limit, ThrowingRunnable asserted) {
    try {
      Awaitility.await(what).atMost(limit).pollInterval(POLL).untilAsserted(asserted);
    } catch (ConditionTimeoutException e) {
      awaitThreads(e);
      throw new AssertionError(
          outputs()
              .map(FaultRun::end)
              .collect(Collectors.joining("\n--\n", e.getMessage() + "\n--\n", "")),
          e);
    }
  }

  /** Has all programs print their threads, and waits until each has, or some have not. */
  private void awaitThreads(ConditionTimeoutException failure) {
    try {
      printThreads.run();
      Awaitility.await("stacks of all threads")
          .atMost(THREADS_LIMIT)
          .until(() -> outputs().allMatch(each -> each.contains(END_OF_THREADS)));
    } catch (Throwable e) {
      failure.addSuppressed(e);
    }
  }

  private Stream<String> outputs() {
    return Stream.concat(servers.stream().map(output), Stream.of(clientOutput.get()));
  }

  private static String end(String output) {
    return output.substring(Math.max(0, output.length() - SHOWN));
  }

  /** Returns the counts in the last complete line with counts. */
  private Map<String, Long> counts() {
    String all = clientOutput.get();
    int end = all.lastIndexOf('\n');
    int start = all.lastIndexOf(RegisterClient.ANSWERED, end);
    Map<String, Long> counts = new HashMap<>();
    Matcher matcher =
        COUNT.matcher(start < 0 ? "" : all.substring(start, all.indexOf('\n', start)));
    while (matcher.find()) {
      counts.put(matcher.group(1), Long.valueOf(matcher.group(2)));
    }
    return counts;
  }

  /** Checks the history of the run after the client's end; returns the lines of a report. */
  public List<String> check(Path file) {
    List<Operation> history = Operation.history(file);
    assertThat(Linearizability.violations(history)).isEmpty();
    List<String> report = new ArrayList<>();
    report.add(
        "| fault | another leader after, ms | longest time without an answer to a write, ms |");
    report.add("| --- | --- | --- |");
    for (int i = 0; i < passed.size(); i++) {
      Passed fault = passed.get(i);
      long until = i + 1 < passed.size() ? passed.get(i + 1).at : Long.MAX_VALUE;
      report.add(
          String.format(
              Locale.ROOT,
              "| %s | %s | %.0f |",
              fault.name,
              fault.newLeader.isEmpty()
                  ? ""
                  : Math.round((fault.newLeader.getAsLong() - fault.at) / NANOS_PER_MILLI),
              longestPause(history, fault.at, until) / NANOS_PER_MILLI));
    }
    long writes = history.stream().filter(each -> each.isWrite() && each.isAnswered()).count();
    long lost = history.stream().filter(each -> each.isWrite() && !each.isAnswered()).count();
    long reads = history.stream().filter(each -> !each.isWrite() && each.isAnswered()).count();
    report.add("");
    report.add(
        "%d writes and %d reads were answered, %d writes were not: linearizable. %d snapshots were installed."
            .formatted(writes, reads, lost, installed));
    return report;
  }

  private static long longestPause(List<Operation> history, long from, long until) {
    long[] ends =
        LongStream.concat(
                LongStream.of(from),
                history.stream()
                    .filter(each -> each.isWrite() && each.isAnswered())
                    .mapToLong(Operation::ended)
                    .filter(each -> each > from && each < until))
            .sorted()
            .toArray();
    long longest = 0;
    for (int i = 1; i < ends.length; i++) {
      longest = Math.max(longest, ends[i] - ends[i - 1]);
    }
    return longest;
  }
}
