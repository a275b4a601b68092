// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import static io.verbena.verbs.QueuePairReading.Figure.RECEIVES_DONE;
import static io.verbena.verbs.QueuePairReading.Figure.RECEIVES_POSTED;
import static io.verbena.verbs.QueuePairReading.Figure.RECEIVE_COMPLETIONS_SIZE;
import static io.verbena.verbs.QueuePairReading.Figure.RECEIVE_COMPLETIONS_WAITING;
import static io.verbena.verbs.QueuePairReading.Figure.RECEIVE_QUEUE_SIZE;
import static io.verbena.verbs.QueuePairReading.Figure.RETRANSMISSIONS;
import static io.verbena.verbs.QueuePairReading.Figure.RNR_RECEIVED;
import static io.verbena.verbs.QueuePairReading.Figure.RNR_SENT;
import static io.verbena.verbs.QueuePairReading.Figure.SENDS_DONE;
import static io.verbena.verbs.QueuePairReading.Figure.SENDS_POSTED;
import static io.verbena.verbs.QueuePairReading.Figure.SEND_COMPLETIONS_SIZE;
import static io.verbena.verbs.QueuePairReading.Figure.SEND_COMPLETIONS_WAITING;
import static io.verbena.verbs.QueuePairReading.Figure.SEND_QUEUE_SIZE;

import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.stat.QueuePairsMXBean.View;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A line for each queue pair, under one header. */
final class QueuePairTable implements QueuePairOutput {
  private static final String ROW =
      "%-12s %8s %8s %4s %5s %-8s %12s %12s %11s %11s %11s %11s %9s %9s %9s  %s%n";
  private static final String NONE = "-";

  private final PrintWriter out;
  private boolean begun;

  QueuePairTable(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void print(List<View> pairs) {
    if (!begun) {
      begun = true;
      out.printf(
          ROW,
          "device",
          "lqpn",
          "rqpn",
          "type",
          "state",
          "user",
          "sends",
          "recvs",
          "sq",
          "rq",
          "scq",
          "rcq",
          "rnr_sent",
          "rnr_recv",
          "retrans",
          "credits");
    }
    pairs.forEach(this::print);
    out.flush();
  }

  private void print(View pair) {
    Map<String, Long> figures = pair.getFigures();
    out.printf(
        ROW,
        pair.getDevice(),
        pair.getNumber(),
        pair.getPeer() < 0 ? NONE : pair.getPeer(),
        pair.getType(),
        pair.getState(),
        orNone(pair.getUser()),
        cell(figures, SENDS_DONE),
        cell(figures, RECEIVES_DONE),
        held(figures, SENDS_POSTED, SENDS_DONE, SEND_QUEUE_SIZE),
        held(figures, RECEIVES_POSTED, RECEIVES_DONE, RECEIVE_QUEUE_SIZE),
        cell(figures, SEND_COMPLETIONS_WAITING) + "/" + cell(figures, SEND_COMPLETIONS_SIZE),
        cell(figures, RECEIVE_COMPLETIONS_WAITING) + "/" + cell(figures, RECEIVE_COMPLETIONS_SIZE),
        cell(figures, RNR_SENT),
        cell(figures, RNR_RECEIVED),
        cell(figures, RETRANSMISSIONS),
        orNone(credits(pair.getCredits())));
  }

  private static String held(Map<String, Long> figures, Figure posted, Figure done, Figure size) {
    Long all = figures.get(posted.name());
    Long over = figures.get(done.name());
    Long most = figures.get(size.name());
    if (all == null || over == null || most == null) {
      return NONE;
    }
    // The figures were read one after the other, while requests were posted and done.
    return Math.max(0, Math.min(most, all - over)) + "/" + most;
  }

  private static String cell(Map<String, Long> figures, Figure figure) {
    @Nullable Long value = figures.get(figure.name());
    return value == null ? NONE : value.toString();
  }

  private static String credits(Map<String, Integer> credits) {
    StringBuilder text = new StringBuilder();
    new TreeMap<>(credits)
        .forEach(
            (kind, count) ->
                text.append(text.isEmpty() ? "" : " ").append(kind).append('=').append(count));
    return text.toString();
  }

  private static String orNone(String text) {
    return text.isEmpty() ? NONE : text;
  }
}
