// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import reactor.core.publisher.Mono;

/** A client that can receive a block as messages. */
interface StreamingClient extends BlockClient {

  /** Asks for a block as messages; the last one is shorter. */
  Mono<BlockStream> stream(String name, int messageLength);
}
