// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import reactor.core.publisher.Mono;

/** A store that streams, and reports the progress of its streams. */
interface StreamingTwin extends Twin {

  @Override
  Mono<? extends StreamingClient> connect();

  /** Returns the progress of the server's streams. */
  StreamLog streams();
}
