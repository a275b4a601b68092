// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.netty.SocketWorld.Medium;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The answers of each medium to each row, as a Markdown page. */
final class SocketTable {
  /** A row and its answers. */
  record Answered(SocketRow row, Map<Medium, String> answers) {
    boolean differs() {
      return answers.values().stream().distinct().count() > 1;
    }

    @Override
    public String toString() {
      return row.key() + ": " + answers;
    }
  }

  private final List<Answered> rows = new ArrayList<>();

  private SocketTable() {}

  /** Runs all rows on all media. */
  static SocketTable run() {
    List<SocketRow> all = new ArrayList<>();
    all.addAll(IdentityRows.all());
    all.addAll(BufferRows.all());
    all.addAll(LivenessRows.all());
    all.addAll(ErrorRows.all());
    all.addAll(OptionRows.all());
    all.addAll(LifeCycleRows.all());
    SocketTable table = new SocketTable();
    for (SocketRow row : all) {
      table.rows.add(new Answered(row, new EnumMap<>(Medium.class)));
    }
    for (Medium medium : Medium.values()) {
      try (SocketWorld world = new SocketWorld(medium)) {
        for (Answered each : table.rows) {
          each.answers.put(medium, ask(each.row, world));
        }
      }
    }
    return table;
  }

  private static String ask(SocketRow row, SocketWorld world) {
    try {
      return row.probe().ask(world);
    } catch (Exception | AssertionError e) {
      e.printStackTrace(System.out);
      return "cannot be asked: " + e;
    } finally {
      world.closeChannels();
    }
  }

  /** Returns the rows that differ without a reason in {@link SocketDifference}. */
  List<Answered> unexplained() {
    return rows.stream()
        .filter(each -> each.differs() && SocketDifference.of(each.row.key()) == null)
        .toList();
  }

  /** Returns the rows of {@link SocketDifference} that do not differ or do not exist. */
  List<String> unseen() {
    List<String> unseen = new ArrayList<>(SocketDifference.rows());
    rows.stream().filter(Answered::differs).forEach(each -> unseen.remove(each.row.key()));
    return unseen;
  }

  String markdown() {
    StringBuilder page = new StringBuilder();
    long differing = rows.stream().filter(Answered::differs).count();
    page.append(
        """
        # Netty's channels beside sockets

        Written by the tests (`io.verbena.netty.SocketTableTest`): the same program on `NioSocketChannel` and on
        `RdmaSocketChannel`, on an emulated HCA and between two HCAs of loopback that talk by UDP.
        [What differs from sockets](../differs-from-sockets.md) tells what it means for a program.

        """);
    page.append(
        "%d rows, %d alike, %d different.%n%n## Different%n%n"
            .formatted(rows.size(), rows.size() - differing, differing));
    for (SocketDifference difference : SocketDifference.values()) {
      page.append("**").append(difference.title()).append(".** ");
      page.append(difference.reason()).append(".\n\n");
      append(
          page,
          rows.stream().filter(each -> SocketDifference.of(each.row.key()) == difference).toList());
    }
    String subject = "";
    page.append("## All rows\n");
    List<Answered> section = new ArrayList<>();
    for (Answered each : rows) {
      if (!each.row.subject().equals(subject)) {
        flush(page, section);
        subject = each.row.subject();
        page.append("\n### ").append(Character.toUpperCase(subject.charAt(0)));
        page.append(subject.substring(1)).append("\n\n");
      }
      section.add(each);
    }
    flush(page, section);
    return page.toString().stripTrailing() + "\n";
  }

  private static void flush(StringBuilder page, List<Answered> section) {
    if (!section.isEmpty()) {
      append(page, section);
      page.setLength(page.length() - 1);
      section.clear();
    }
  }

  private static void append(StringBuilder page, List<Answered> rows) {
    page.append("| |");
    for (Medium medium : Medium.values()) {
      page.append(' ').append(medium.title()).append(" |");
    }
    page.append("\n| --- | --- | --- | --- |\n");
    for (Answered each : rows) {
      page.append("| ").append(each.row.name()).append(" |");
      for (Medium medium : Medium.values()) {
        String answer = each.answers.get(medium);
        boolean differs = !answer.equals(each.answers.get(Medium.NIO));
        page.append(' ').append(differs ? "**" + answer + "**" : answer).append(" |");
      }
      page.append('\n');
    }
    page.append('\n');
  }
}
