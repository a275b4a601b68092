// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.samples.program.Figure;
import io.verbena.samples.program.Job;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

/** An HTTP client: its requests, and the checks of the answers. */
final class HttpRun {
  /** Bytes in a piece of the body that is posted. */
  static final int PIECE = 64 << 10;

  /** Pieces after which the body repeats itself. */
  private static final int SHIFTS = 1_009;

  private final HttpClient client;
  private final Job job;
  private final byte[] content = new byte[PIECE + SHIFTS];

  private HttpRun(HttpClient client, Job job) {
    this.client = client;
    this.job = job;
    new Random(PIECE).nextBytes(content);
  }

  /**
   * Runs the client twice, the first time to warm up.
   *
   * @param server the address of the server
   * @param gets the number of small requests
   * @param pieces of the body that is posted
   * @param job advances by twice the sum of both
   */
  static List<Figure> run(
      Transport transport, InetSocketAddress server, int gets, int pieces, Job job) {
    HttpClient client = transport.client().host(server.getHostString()).port(server.getPort());
    HttpRun run = new HttpRun(client, job);
    run.round(gets, pieces);
    return run.round(gets, pieces);
  }

  private List<Figure> round(int gets, int pieces) {
    long began = System.nanoTime();
    get(gets);
    long got = System.nanoTime();
    post(pieces);
    long posted = System.nanoTime();
    return List.of(
        new Figure("GET, one at a time: requests/s", 1e9 * gets / (got - began)),
        new Figure("POST, one long body: MB/s", 1e3 * PIECE * pieces / (posted - got)));
  }

  private void get(int gets) {
    Long wrong =
        Flux.range(0, gets)
            .concatMap(i -> greeting(i).map(Routes.greeting("n" + i)::equals))
            .doOnNext(right -> job.step().advance(1))
            .filter(right -> !right)
            .count()
            .block(job.limit());
    job.checks().checkEqual("wrong greetings, " + job.transport(), 0L, wrong);
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
            .block(job.limit());
    job.checks().checkEqual("checksum of the body, " + job.transport(), checksum(pieces), answer);
  }

  private Flux<ByteBuf> body(int pieces) {
    return Flux.range(0, pieces)
        .map(i -> Unpooled.wrappedBuffer(content, i % SHIFTS, PIECE))
        .doOnNext(sent -> job.step().advance(1));
  }

  private String checksum(int pieces) {
    CRC32C checksum = new CRC32C();
    for (int i = 0; i < pieces; i++) {
      checksum.update(content, i % SHIFTS, PIECE);
    }
    return Long.toHexString(checksum.getValue());
  }
}
