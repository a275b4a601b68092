// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.verbena.samples.program.Figure;
import io.verbena.samples.program.Job;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A client of the quotes: its requests, and the checks of the answers. */
final class QuoteRun {
  private static final String SYMBOL = QuoteServer.SYMBOL;

  private final QuoteClient client;
  private final Job job;

  private QuoteRun(QuoteClient client, Job job) {
    this.client = client;
    this.job = job;
  }

  /**
   * Runs the client twice, the first time to warm up.
   *
   * @param server the address of the server
   * @param calls unary calls
   * @param quotes messages of the stream
   * @param job advances by twice the sum of both
   */
  static List<Figure> run(
      Transport transport, InetSocketAddress server, int calls, int quotes, Job job)
      throws InterruptedException {
    ManagedChannel channel = transport.client(server).usePlaintext().build();
    try {
      QuoteRun run = new QuoteRun(new QuoteClient(channel, job.limit()), job);
      run.askForAnUnknownSymbol();
      run.round(calls, quotes);
      return run.round(calls, quotes);
    } finally {
      channel.shutdownNow().awaitTermination(job.limit().toSeconds(), TimeUnit.SECONDS);
    }
  }

  private List<Figure> round(int calls, int quotes) {
    long began = System.nanoTime();
    get(calls);
    long got = System.nanoTime();
    watch(quotes);
    long watched = System.nanoTime();
    return List.of(
        new Figure("unary calls/s, one at a time", 1e9 * calls / (got - began)),
        new Figure("quotes/s of a stream", 1e9 * quotes / (watched - got)));
  }

  private void checkEqual(String what, Object expected, Object actual) {
    job.checks().checkEqual(what + ", " + job.transport(), expected, actual);
  }

  private void askForAnUnknownSymbol() {
    Status.Code code = Status.Code.OK;
    try {
      client.get("NONE", 0);
    } catch (StatusRuntimeException e) {
      code = e.getStatus().getCode();
    }
    checkEqual("status of an unknown symbol", Status.Code.NOT_FOUND, code);
  }

  private void get(int calls) {
    int wrong = 0;
    for (int number = 0; number < calls; number++) {
      if (!client.get(SYMBOL, number).equals(Quote.of(SYMBOL, number))) {
        wrong++;
      }
      job.step().advance(1);
    }
    checkEqual("wrong answers to unary calls", 0, wrong);
  }

  private void watch(int quotes) {
    int wrong = 0;
    int count = 0;
    for (Iterator<Quote> watched = client.watch(SYMBOL, quotes); watched.hasNext(); count++) {
      if (!watched.next().equals(Quote.of(SYMBOL, count))) {
        wrong++;
      }
      job.step().advance(1);
    }
    checkEqual("quotes of a stream", quotes, count);
    checkEqual("quotes that were wrong or out of order", 0, wrong);
  }
}
