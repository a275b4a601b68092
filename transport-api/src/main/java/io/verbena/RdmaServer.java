// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import java.net.URI;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * A server that listens on an address. Disposing it ends the listening and leaves its connections
 * open.
 */
public interface RdmaServer extends Disposable {

  /** Returns the address to connect to. */
  URI address();

  /**
   * Returns the memory that the server's connections use; a region registered here serves all of
   * them.
   *
   * @throws IllegalStateException if the server listens on several media, which share no memory, as
   *     on {@code rdma://host:port}; {@link RdmaConnection#memory} returns that of one connection
   */
  RdmaMemory memory();

  /** Returns the number of open connections. */
  int connectionCount();

  /**
   * Completes when the server no longer listens; errors with {@link HcaException} if its device
   * failed.
   */
  Mono<Void> onClose();
}
