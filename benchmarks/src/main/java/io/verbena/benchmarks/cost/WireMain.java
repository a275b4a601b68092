// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.DeviceCounters.Counter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.StringJoiner;

/**
 * One end of a connection at the verbs SPI, as a process on a host of its own. Executes the orders
 * on its standard input and answers each with one line; sleeps in between, and ends with its input.
 *
 * <pre>
 *   listen SCHEME ADDRESS PORT                    target of the writes
 *   accept                                        waits for the other end
 *   pong COUNT                                    answers messages
 *   connect SCHEME NEAR FAR PORT ADDRESS KEY
 *   ping COUNT                                    half a round trip in microseconds, the median
 *   write COUNT LENGTH                            seconds
 *   count                                         what the device has counted
 *   close                                         checksum of what is or was written
 * </pre>
 */
final class WireMain {
  private final BufferedReader orders =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final PrintStream answers = System.out;

  private WireMain() {}

  /** Executes orders until the end of the standard input. */
  public static void main(String[] arguments) throws Exception {
    WireMain main = new WireMain();
    String line = main.orders.readLine();
    while (line != null) {
      String[] order = line.split(" ", -1);
      switch (order[0]) {
        case "listen" -> main.listen(order);
        case "connect" -> main.connect(order);
        default -> throw unknown(order);
      }
      line = main.orders.readLine();
    }
  }

  private void listen(String[] order) throws Exception {
    ByteBuffer block = Block.zeros();
    ConnectionAddress address =
        new ConnectionAddress(order[1], "", order[2], Integer.parseInt(order[3]));
    try (VerbsPassive end = new VerbsPassive(address, block)) {
      answer(end.target().encode());
      for (String[] next = next(); !next[0].equals("close"); next = next()) {
        switch (next[0]) {
          case "accept" -> {
            end.accept();
            answer(next[0]);
          }
          case "pong" -> {
            end.pong(Integer.parseInt(next[1]));
            answer(next[0]);
          }
          case "count" -> answer(counts(end.counters()));
          default -> throw unknown(next);
        }
      }
    }
    answer(Long.toString(Block.checksum(block)));
  }

  private void connect(String[] order) throws Exception {
    ByteBuffer block = Block.random();
    ConnectionAddress address =
        new ConnectionAddress(order[1], order[2], order[3], Integer.parseInt(order[4]));
    RemoteBlock target = RemoteBlock.decode(order[5] + " " + order[6]);
    try (VerbsActive end = new VerbsActive(address, block, target)) {
      answer(order[0]);
      for (String[] next = next(); !next[0].equals("close"); next = next()) {
        int count = next.length > 1 ? Integer.parseInt(next[1]) : 0;
        switch (next[0]) {
          case "ping" -> {
            RoundTrips times = new RoundTrips(count);
            end.ping(count, times);
            answer(Double.toString(times.halfMicros()));
          }
          case "write" -> {
            long began = System.nanoTime();
            end.write(count, Integer.parseInt(next[2]));
            answer(Double.toString((System.nanoTime() - began) / 1e9));
          }
          case "count" -> answer(counts(end.counters()));
          default -> throw unknown(next);
        }
      }
    }
    answer(Long.toString(Block.checksum(block)));
  }

  private static String counts(DeviceCounters counters) {
    StringJoiner text = new StringJoiner(" ");
    for (Counter counter : counters.counted()) {
      text.add(counter.name().toLowerCase(Locale.ROOT) + "=" + counters.get(counter));
    }
    return text.toString();
  }

  private void answer(String line) {
    answers.println(line);
    answers.flush();
  }

  private String[] next() throws IOException {
    String order = orders.readLine();
    if (order == null) {
      throw new IOException("who gives the orders has ended");
    }
    return order.split(" ", -1);
  }

  private static IllegalArgumentException unknown(String[] order) {
    return new IllegalArgumentException("order: " + String.join(" ", order));
  }
}
