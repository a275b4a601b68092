package io.verbena.it.containers.roce;

import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.util.DefaultPayload;
import io.verbena.rsocket.RdmaClientTransport;
import java.net.URI;
import java.time.Duration;

/** A program: takes a stream of numbers from a {@link RSocketServer}, 64 asked for at a time. */
public final class RSocketClient {
  static final int NUMBERS = 5_000;
  static final String DONE = NUMBERS + " numbers, each in its place";
  private static final int ASKED = 64;
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private RSocketClient() {}

  /** Runs it: the URI. */
  public static void main(String[] args) {
    RSocket socket =
        RSocketConnector.create()
            .connect(RdmaClientTransport.create(URI.create(args[0])))
            .block(LIMIT);
    long received =
        socket
            .requestStream(DefaultPayload.create(Integer.toString(NUMBERS)))
            .limitRate(ASKED)
            .map(RSocketClient::number)
            .index()
            .doOnNext(
                each -> {
                  if (each.getT1().intValue() != each.getT2()) {
                    throw new IllegalStateException(each + " (expected: in its place)");
                  }
                })
            .count()
            .block(LIMIT);
    socket.dispose();
    socket.onClose().block(LIMIT);
    if (received != NUMBERS) {
      throw new IllegalStateException(received + " numbers (expected: " + NUMBERS + ")");
    }
    System.out.println(DONE);
    System.exit(0);
  }

  private static int number(Payload payload) {
    try {
      return Integer.parseInt(payload.getDataUtf8());
    } finally {
      payload.release();
    }
  }
}
