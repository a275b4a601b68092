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

/** One line with a JSON object for each queue pair, with the time of its reading. */
final class QueuePairJson implements QueuePairOutput {
  private final PrintWriter out;

  QueuePairJson(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void print(List<View> pairs) {
    Instant now = Instant.now();
    for (View pair : pairs) {
      // Digits of the default locale may not be valid JSON.
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
