// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import java.net.URI;
import reactor.core.publisher.Mono;

/**
 * A block store and its clients in one program: server and clients have transports and threads of
 * their own. The demo runs the same jobs on each twin.
 */
interface Twin extends AutoCloseable {

  /** Its name in the results. */
  String name();

  /** The address of the store. */
  URI address();

  /** Creates a client; the twin closes it unless the caller has. */
  Mono<? extends BlockClient> connect();

  /** Ends clients, server and transports; idempotent. */
  @Override
  void close();
}
