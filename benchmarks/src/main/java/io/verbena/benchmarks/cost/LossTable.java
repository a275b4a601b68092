// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Formats the share of the bandwidth that remains with packet loss, and the retransmissions. */
final class LossTable {
  private static final String FORMAT = "%-14s %10s  %-22s %9s %12s %13s\n";

  private LossTable() {}

  /** Returns one figure of each participant. */
  static Map<String, Samples> of(
      Map<String, List<Loss>> participants, ToDoubleFunction<Loss> figure) {
    Map<String, Samples> samples = new LinkedHashMap<>();
    participants.forEach((name, losses) -> samples.put(name, samples(losses, figure)));
    return samples;
  }

  private static Samples samples(List<Loss> losses, ToDoubleFunction<Loss> figure) {
    return new Samples(losses.stream().mapToDouble(figure).boxed().toList());
  }

  /** Returns the lines of all participants. */
  static String of(Map<String, List<Loss>> participants) {
    StringBuilder text = new StringBuilder();
    text.append("\nthe same of each turn: with loss / without\n");
    text.append(
        String.format(
            Locale.ROOT,
            FORMAT,
            "",
            "median",
            "(min .. max)",
            "lost",
            "again/lost",
            "sent/answer"));
    participants.forEach(
        (name, losses) -> {
          Samples share = samples(losses, Loss::share);
          text.append(
              String.format(
                  Locale.ROOT,
                  FORMAT,
                  name,
                  number(share.median()),
                  "(" + number(share.least()) + " .. " + number(share.most()) + ")",
                  String.format(Locale.ROOT, "%.0f", samples(losses, Loss::lost).median()),
                  number(samples(losses, Loss::again).median()),
                  number(samples(losses, Loss::spacing).median())));
        });
    return text.toString();
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
