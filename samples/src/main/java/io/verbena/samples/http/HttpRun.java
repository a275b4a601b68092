package io.verbena.samples.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.time.Duration;
import java.util.Random;
import java.util.zip.CRC32C;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;

/** A server and a client, what the client asks for, and what it must get. */
final class HttpRun {
  /** Bytes in a piece of the body that is posted. */
  static final int PIECE = 64 << 10;

  /** Pieces after which the body repeats itself. */
  private static final int SHIFTS = 1_009;

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final String name;
  private final HttpClient client;
  private final Checks checks;
  private final Progress.Step step;
  private final byte[] content = new byte[PIECE + SHIFTS];

  private HttpRun(String name, HttpClient client, Checks checks, Progress.Step step) {
    this.name = name;
    this.client = client;
    this.checks = checks;
    this.step = step;
    new Random(PIECE).nextBytes(content);
  }

  /**
   * @param getsPerSecond small requests per second, one after the other
   * @param megabytesPerSecond of a long body
   */
  record Result(double getsPerSecond, double megabytesPerSecond) {}

  /**
   * Runs it twice, the first time to warm up.
   *
   * @param gets small requests
   * @param pieces of the body that is posted
   * @param step advances by twice the sum of both
   */
  static Result run(Transport transport, int gets, int pieces, Checks checks, Progress.Step step) {
    DisposableServer server =
        transport.server().host("localhost").port(0).route(new Routes()).bindNow(LIMIT);
    try {
      HttpClient client = transport.client().host("localhost").port(server.port());
      HttpRun run = new HttpRun(transport.name(), client, checks, step);
      run.round(gets, pieces);
      return run.round(gets, pieces);
    } finally {
      server.disposeNow(LIMIT);
    }
  }

  private Result round(int gets, int pieces) {
    long began = System.nanoTime();
    get(gets);
    long got = System.nanoTime();
    post(pieces);
    long posted = System.nanoTime();
    return new Result(1e9 * gets / (got - began), 1e3 * PIECE * pieces / (posted - got));
  }

  private void get(int gets) {
    Long wrong =
        Flux.range(0, gets)
            .concatMap(i -> greeting(i).map(Routes.greeting("n" + i)::equals))
            .doOnNext(right -> step.advance(1))
            .filter(right -> !right)
            .count()
            .block(LIMIT);
    checks.checkEqual("wrong greetings, " + name, 0L, wrong);
  }

  private Mono<String> greeting(int number) {
    return client.get().uri("/greeting/n" + number).responseContent().aggregate().asString();
  }

  private void post(int pieces) {
    String answer =
        client
            .post()
            .uri("/checksum")
            .send(body(pieces))
            .responseContent()
            .aggregate()
            .asString()
            .block(LIMIT);
    checks.checkEqual("checksum of the body, " + name, checksum(pieces), answer);
  }

  private Flux<ByteBuf> body(int pieces) {
    return Flux.range(0, pieces)
        .map(i -> Unpooled.wrappedBuffer(content, i % SHIFTS, PIECE))
        .doOnNext(sent -> step.advance(1));
  }

  private String checksum(int pieces) {
    CRC32C checksum = new CRC32C();
    for (int i = 0; i < pieces; i++) {
      checksum.update(content, i % SHIFTS, PIECE);
    }
    return Long.toHexString(checksum.getValue());
  }
}
