// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.killed;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Statistics of a run of kills, for people; the test asserts nothing on them. Thread-safe. */
final class KillRecord {
  private static final double NANOS_PER_MILLI = 1e6;

  private final long seed;
  private final Map<Moment, Integer> killed = new EnumMap<>(Moment.class);
  private final Map<Moment, List<Notice>> noticed = new EnumMap<>(Moment.class);

  /** Nanoseconds since the kill, and since the parent saw the process end. */
  private record Notice(long sinceKill, long sinceEnd) {}

  /** What the victim and the survivor were doing. */
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

  /** Records a kill. */
  synchronized void killed(Moment moment) {
    killed.merge(moment, 1, Integer::sum);
  }

  /**
   * Records that the survivor noticed the end of the victim.
   *
   * @param sinceKill nanoseconds since the parent killed the victim
   * @param sinceEnd nanoseconds since the parent saw the process end, which takes the kernel some
   *     time; negative if the survivor noticed it first
   */
  synchronized void noticed(Moment moment, long sinceKill, long sinceEnd) {
    noticed
        .computeIfAbsent(moment, first -> new ArrayList<>())
        .add(new Notice(sinceKill, sinceEnd));
  }

  /** Returns the number of kills. */
  synchronized int kills() {
    return killed.values().stream().mapToInt(count -> count).sum();
  }

  /** Returns the statistics as a table. */
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
