// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import java.net.URI;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A bound address. Disposing it stops listening and leaves its connections alone. */
public interface RdmaServer extends Disposable {

  /** Returns the address to connect to. */
  URI address();

  /**
   * Returns the memory that its connections use; a region registered here serves all of them.
   *
   * @throws IllegalStateException if it listens on several media, as at {@code rdma://host:port},
   *     which share no memory: {@link RdmaConnection#memory} is that of one
   */
  RdmaMemory memory();

  /** Returns the connections that are open now. */
  int connectionCount();

  /** Completes when it no longer listens; errors with {@link HcaException} if its device failed. */
  Mono<Void> onClose();
}
