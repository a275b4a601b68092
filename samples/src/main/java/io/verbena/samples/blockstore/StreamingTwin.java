// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import reactor.core.publisher.Mono;

/** A store that streams, and tells how far it is with that. */
interface StreamingTwin extends Twin {

  @Override
  Mono<? extends StreamingClient> connect();

  /** How far the server's streams are. */
  StreamLog streams();
}
