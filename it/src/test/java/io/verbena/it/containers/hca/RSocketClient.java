// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.util.DefaultPayload;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.rsocket.RdmaClientTransport;
import java.net.URI;
import java.time.Duration;
import reactor.core.Exceptions;

/**
 * A program that receives a stream of numbers from an {@link RSocketServer}, 64 requested at a
 * time.
 */
public final class RSocketClient {
  static final String DONE = " numbers, each in its place";

  /** Printed each time another {@link #PROGRESS_STEP} numbers came. */
  static final String PROGRESS = "more numbers";

  private static final int ASKED = 64;
  private static final int PROGRESS_STEP = 100;

  /** The interval of keep-alives, by which an end that only receives detects a dead peer. */
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(1);

  private static final Duration LIMIT = Duration.ofMinutes(2);

  private RSocketClient() {}

  /**
   * Runs the program: the URI, the number of numbers, and the milliseconds between them at the
   * server.
   */
  public static void main(String[] args) {
    RdmaTransport transport =
        RdmaTransport.create(RdmaOptions.builder().connectTimeout(LIMIT).build());
    RSocket socket =
        RSocketConnector.create()
            .keepAlive(KEEP_ALIVE, LIMIT)
            .connect(RdmaClientTransport.create(URI.create(args[0]), transport))
            .block(LIMIT);
    int numbers = Integer.parseInt(args[1]);
    long received;
    try {
      received =
          socket
              .requestStream(DefaultPayload.create(args[1] + ' ' + args[2]))
              .limitRate(ASKED)
              .map(RSocketClient::number)
              .index()
              .doOnNext(each -> check(each.getT1(), each.getT2()))
              .count()
              .block(LIMIT);
    } catch (RuntimeException e) {
      System.out.println(Exceptions.unwrap(e));
      System.exit(EchoClient.FAILED);
      return;
    }
    socket.dispose();
    socket.onClose().block(LIMIT);
    if (received != numbers) {
      throw new IllegalStateException(received + " numbers (expected: " + numbers + ")");
    }
    System.out.println(numbers + DONE);
    System.exit(0);
  }

  private static void check(long index, int number) {
    if (index != number) {
      throw new IllegalStateException(number + " (expected: " + index + ")");
    }
    if (number % PROGRESS_STEP == 0) {
      System.out.println(PROGRESS);
    }
  }

  private static int number(Payload payload) {
    try {
      return Integer.parseInt(payload.getDataUtf8());
    } finally {
      payload.release();
    }
  }
}
