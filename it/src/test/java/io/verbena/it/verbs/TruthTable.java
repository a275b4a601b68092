// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The answers of the emulated HCA and of rxe in each test of the TCK, as a Markdown page. */
final class TruthTable {

  /** A test and the answers of both HCAs. */
  private record Row(String test, String emulated, String rxe) {
    boolean differs() {
      return !emulated.equals(rxe);
    }
  }

  private static final String NOT_RUN = "did not run";

  private final List<Row> rows = new ArrayList<>();

  TruthTable(Map<String, SortedSet<String>> emulated, Map<String, SortedSet<String>> rxe) {
    TreeMap<String, SortedSet<String>> all = new TreeMap<>(emulated);
    all.putAll(rxe);
    for (String test : all.keySet()) {
      rows.add(new Row(test, text(emulated.get(test)), text(rxe.get(test))));
    }
  }

  private static String text(@Nullable SortedSet<String> answers) {
    if (answers == null) {
      return NOT_RUN;
    }
    TreeSet<String> telling = new TreeSet<>(answers);
    if (telling.size() > 1) {
      telling.remove("as claimed");
    }
    return String.join(", ", telling);
  }

  /** Returns the tests in which the HCAs differ without a reason in {@link Difference}. */
  List<String> unexplained() {
    return rows.stream()
        .filter(row -> row.differs() && Difference.of(row.test) == null)
        .map(row -> row.test + ": emulated: " + row.emulated + "; rxe: " + row.rxe)
        .toList();
  }

  /** Returns the differences that no test shows. */
  List<Difference> unseen() {
    List<Difference> unseen = new ArrayList<>(List.of(Difference.values()));
    for (Row row : rows) {
      if (row.differs()) {
        unseen.remove(Difference.of(row.test));
      }
    }
    return unseen;
  }

  String markdown() {
    StringBuilder page = new StringBuilder();
    long differing = rows.stream().filter(Row::differs).count();
    page.append(
        """
        # The emulated HCA beside the kernel's rxe

        Written by the tests (`io.verbena.it.verbs.TruthTableTest`): what each test of the TCK saw on `emulated://` and on
        `disni://` over Soft-RoCE (rdma_rxe of Linux 6.1, rdma-core 44) in the guest. "as claimed" is a test that passed
        and expected no failed completion; else the statuses that it saw stand there. Where the two differ, the
        specification supports the emulated HCA, and the reason says how.

        """);
    page.append(
        "%d tests, %d alike, %d different.%n%n## Different%n%n"
            .formatted(rows.size(), rows.size() - differing, differing));
    for (Difference difference : Difference.values()) {
      page.append("### ")
          .append(difference.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
      page.append("\n\n").append(difference.reason()).append(".\n\n");
      appendTable(
          page, rows.stream().filter(row -> Difference.of(row.test) == difference).toList());
    }
    page.append(
        """
        ## Seen outside the TCK

        - `retry_cnt` 7 is for ever (rxe_comp.c): work on a dead link ends by disconnect, close or a deadline of the layer
          above, not by RETRY_EXC_ERR. Specified: seven retries. `io.verbena.it.faults.LinkDownTest` asks for one.
        - A receive posted in ERR is flushed only when something makes the kernel look: the post itself stays in user space.
          The provider goes to ERR once more, from ERR, so that it is flushed as on any HCA.
        - A receive that invalidated a key does not say so (no IBV_WC_WITH_INV in user space); the key is dead all the same.
        - Receives of connected queue pairs carry the flag IBV_WC_GRH and a source queue pair, which mean something for UD
          only; the provider leaves them out.
        - A queue pair that fails by a peer's bad request raises no asynchronous event (later kernels raise IB_EVENT_QP_ACCESS_ERR).
          An end that sends nothing learns of it by a disconnect or its keep-alive.

        """);
    page.append("## All tests\n\n");
    appendTable(page, rows);
    return page.toString().stripTrailing() + "\n";
  }

  private static void appendTable(StringBuilder page, List<Row> rows) {
    page.append("| test | emulated | rxe |\n| --- | --- | --- |\n");
    for (Row row : rows) {
      page.append("| ").append(row.test).append(" | ").append(row.emulated).append(" | ");
      page.append(row.differs() ? "**" + row.rxe + "**" : row.rxe).append(" |\n");
    }
    page.append('\n');
  }
}
