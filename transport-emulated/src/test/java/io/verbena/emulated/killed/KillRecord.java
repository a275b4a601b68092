// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.killed;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a run of kills saw, for people; nothing here is asserted on. Thread-safe. */
final class KillRecord {
  private static final double NANOS_PER_MILLI = 1e6;

  private final long seed;
  private final Map<Moment, Integer> killed = new EnumMap<>(Moment.class);
  private final Map<Moment, List<Notice>> noticed = new EnumMap<>(Moment.class);

  /** Nanoseconds after the kill, and after the parent has seen the process end. */
  private record Notice(long sinceKill, long sinceEnd) {}

  /** What was going on between victim and survivor. */
  enum Moment {
    STARTING("the victim opens its HCA, or is about to"),
    CONNECTING("the survivor connects"),
    TALKING("messages, WRITEs, READs and atomics; the survivor polls"),
    ASLEEP("requests are out; the survivor waits for events");

    private final String text;

    Moment(String text) {
      this.text = text;
    }
  }

  KillRecord(long seed) {
    this.seed = seed;
  }

  /** A victim was killed. */
  synchronized void killed(Moment moment) {
    killed.merge(moment, 1, Integer::sum);
  }

  /**
   * The survivor was told.
   *
   * @param sinceKill nanoseconds since the parent has killed the victim
   * @param sinceEnd nanoseconds since it has seen its end, which the kernel takes some time to come
   *     to; negative if the survivor saw it first
   */
  synchronized void noticed(Moment moment, long sinceKill, long sinceEnd) {
    noticed
        .computeIfAbsent(moment, first -> new ArrayList<>())
        .add(new Notice(sinceKill, sinceEnd));
  }

  /** How many were killed. */
  synchronized int kills() {
    return killed.values().stream().mapToInt(count -> count).sum();
  }

  /** As a table. */
  synchronized String table() {
    StringBuilder text = new StringBuilder();
    text.append(
            "| when the victim is killed | kills | of a connection | told after the kill: p50, ms |")
        .append(" p90, ms | p99, ms | most, ms | later than 100 ms |")
        .append(" told after its end: p50, ms | p99, ms | most, ms |\n")
        .append("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (Moment each : Moment.values()) {
      row(text, each.text, killed.getOrDefault(each, 0), noticed.getOrDefault(each, List.of()));
    }
    List<Notice> all = noticed.values().stream().flatMap(List::stream).toList();
    row(text, "all, seed " + seed, kills(), all);
    return text.toString();
  }

  private static void row(StringBuilder text, String name, int kills, List<Notice> notices) {
    text.append(String.format(Locale.ROOT, "| %s | %d | %d |", name, kills, notices.size()));
    if (notices.isEmpty()) {
      text.append(" | | | | | | | |\n");
      return;
    }
    List<Long> killed = notices.stream().map(Notice::sinceKill).sorted().toList();
    List<Long> ended = notices.stream().map(Notice::sinceEnd).sorted().toList();
    text.append(
        String.format(
            Locale.ROOT,
            " %.1f | %.1f | %.1f | %.1f | %d | %.1f | %.1f | %.1f |%n",
            at(killed, 0.5),
            at(killed, 0.9),
            at(killed, 0.99),
            at(killed, 1),
            killed.stream().filter(each -> each > 100 * NANOS_PER_MILLI).count(),
            at(ended, 0.5),
            at(ended, 0.99),
            at(ended, 1)));
  }

  private static double at(List<Long> sorted, double share) {
    int index = (int) Math.ceil(share * sorted.size()) - 1;
    return sorted.get(Math.max(0, index)) / NANOS_PER_MILLI;
  }
}
