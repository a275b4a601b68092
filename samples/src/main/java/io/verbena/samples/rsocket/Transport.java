package io.verbena.samples.rsocket;

import io.rsocket.transport.ClientTransport;
import java.time.Duration;

/** What carries the frames, with a server that is bound: where the twins differ. */
interface Transport extends AutoCloseable {
  /** How long binding may take. */
  Duration LIMIT = Duration.ofSeconds(30);

  /** What the results call it. */
  String name();

  /** What connects to the server. */
  ClientTransport client();

  /** Ends the server. */
  @Override
  void close();
}
