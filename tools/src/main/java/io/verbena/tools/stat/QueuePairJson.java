// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import io.verbena.verbs.stat.QueuePairsMXBean.View;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A JSON object on a line of its own for each queue pair, with when it was read. */
final class QueuePairJson implements QueuePairOutput {
  private final PrintWriter out;

  QueuePairJson(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void print(List<View> pairs) {
    Instant now = Instant.now();
    for (View pair : pairs) {
      // With digits of the default locale it would be no JSON.
      out.println(
          String.format(
              Locale.ROOT,
              "{\"time\": \"%s\", \"device\": \"%s\", \"lqpn\": %d, \"rqpn\": %d, \"type\": \"%s\", \"state\": \"%s\", \"user\": \"%s\", \"figures\": %s, \"credits\": %s}",
              now,
              pair.getDevice(),
              pair.getNumber(),
              pair.getPeer(),
              pair.getType(),
              pair.getState(),
              pair.getUser(),
              object(pair.getFigures()),
              object(pair.getCredits())));
    }
    out.flush();
  }

  private static String object(Map<String, ? extends Number> numbers) {
    return new TreeMap<>(numbers)
        .entrySet().stream()
            .map(each -> "\"" + each.getKey().toLowerCase(Locale.ROOT) + "\": " + each.getValue())
            .collect(Collectors.joining(", ", "{", "}"));
  }
}
