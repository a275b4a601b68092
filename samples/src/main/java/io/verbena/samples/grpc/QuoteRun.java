package io.verbena.samples.grpc;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** A server and a client, what the client asks for, and what it must get. */
final class QuoteRun {
  private static final String SYMBOL = "VRBN";
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final String name;
  private final QuoteClient client;
  private final Checks checks;

  private QuoteRun(String name, QuoteClient client, Checks checks) {
    this.name = name;
    this.client = client;
    this.checks = checks;
  }

  /**
   * @param callsPerSecond unary calls per second, one after the other
   * @param quotesPerSecond messages per second of a stream
   */
  record Result(double callsPerSecond, double quotesPerSecond) {}

  /**
   * Runs it twice, the first time to warm up.
   *
   * @param calls unary calls
   * @param quotes messages of the stream
   * @param step advances by twice the sum of both
   */
  static Result run(Transport transport, int calls, int quotes, Checks checks, Progress.Step step)
      throws IOException, InterruptedException {
    Server server = transport.server().addService(new QuoteService(Set.of(SYMBOL))).build().start();
    ManagedChannel channel = transport.client(server.getPort()).usePlaintext().build();
    try {
      QuoteRun run = new QuoteRun(transport.name(), new QuoteClient(channel, LIMIT), checks);
      run.askForWhatIsNotThere();
      run.round(calls, quotes, step);
      return run.round(calls, quotes, step);
    } finally {
      channel.shutdownNow().awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS);
      server.shutdownNow().awaitTermination(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }
  }

  private Result round(int calls, int quotes, Progress.Step step) {
    long began = System.nanoTime();
    get(calls, step);
    long got = System.nanoTime();
    watch(quotes, step);
    long watched = System.nanoTime();
    return new Result(1e9 * calls / (got - began), 1e9 * quotes / (watched - got));
  }

  private void askForWhatIsNotThere() {
    Status.Code code = Status.Code.OK;
    try {
      client.get("NONE", 0);
    } catch (StatusRuntimeException e) {
      code = e.getStatus().getCode();
    }
    checks.checkEqual("status of an unknown symbol, " + name, Status.Code.NOT_FOUND, code);
  }

  private void get(int calls, Progress.Step step) {
    int wrong = 0;
    for (int number = 0; number < calls; number++) {
      if (!client.get(SYMBOL, number).equals(Quote.of(SYMBOL, number))) {
        wrong++;
      }
      step.advance(1);
    }
    checks.checkEqual("wrong answers to unary calls, " + name, 0, wrong);
  }

  private void watch(int quotes, Progress.Step step) {
    int wrong = 0;
    int count = 0;
    for (Iterator<Quote> watched = client.watch(SYMBOL, quotes); watched.hasNext(); count++) {
      if (!watched.next().equals(Quote.of(SYMBOL, count))) {
        wrong++;
      }
      step.advance(1);
    }
    checks.checkEqual("quotes of a stream, " + name, quotes, count);
    checks.checkEqual("quotes that were wrong or out of order, " + name, 0, wrong);
  }
}
