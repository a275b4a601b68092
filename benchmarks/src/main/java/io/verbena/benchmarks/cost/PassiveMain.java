// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The passive process. Executes the orders on its standard input and answers each with one line;
 * sleeps in between, and ends with its input.
 *
 * <pre>
 *   open LAYER JOB ADDRESS PORT   listens           target of the writes
 *   accept                        waits for the other end
 *   pong COUNT                    answers messages
 *   close                         closes            checksum of what was written
 * </pre>
 */
final class PassiveMain {
  private final BufferedReader orders =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final PrintStream answers = System.out;

  private PassiveMain() {}

  /** Executes orders until the end of the standard input. */
  public static void main(String[] arguments) throws Exception {
    PassiveMain main = new PassiveMain();
    String order = main.orders.readLine();
    while (order != null) {
      main.serve(order.split(" ", -1));
      order = main.orders.readLine();
    }
  }

  private void answer(String line) {
    answers.println(line);
    answers.flush();
  }

  private void serve(String[] open) throws Exception {
    if (!open[0].equals("open")) {
      throw unknown(open);
    }
    Layer layer = Layer.valueOf(open[1]);
    ConnectionAddress address =
        new ConnectionAddress(layer.scheme(), "", open[3], Integer.parseInt(open[4]));
    ByteBuffer block = Block.zeros();
    try (PassiveEnd end = layer.passive(address, Job.valueOf(open[2]), block)) {
      answer(end.target().encode());
      String[] order = next();
      while (!order[0].equals("close")) {
        switch (order[0]) {
          case "accept" -> end.accept();
          case "pong" -> end.pong(Integer.parseInt(order[1]));
          default -> throw unknown(order);
        }
        answer(order[0]);
        order = next();
      }
    }
    answer(Long.toString(Block.checksum(block)));
  }

  private String[] next() throws IOException {
    String order = orders.readLine();
    if (order == null) {
      throw new IOException("the active process has ended");
    }
    return order.split(" ", -1);
  }

  private static IllegalArgumentException unknown(String[] order) {
    return new IllegalArgumentException("order: " + String.join(" ", order));
  }
}
