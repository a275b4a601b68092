// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import reactor.core.publisher.Mono;

/** Answers the requests that only a transport with one-sided operations can serve. */
interface OneSided {

  /** The answers of a transport without one-sided operations. */
  OneSided NOT_SUPPORTED =
      new OneSided() {
        @Override
        public Mono<Reply> locate(Block block) {
          return refuse("locate");
        }

        @Override
        public Mono<Reply> locateTickets() {
          return refuse("tickets");
        }

        @Override
        public Mono<Reply> reserve(BlockInfo block) {
          return refuse("reserve");
        }

        private Mono<Reply> refuse(String what) {
          return Mono.error(
              new RefusedException(ErrorCode.NOT_SUPPORTED, what + " needs one-sided operations"));
        }
      };

  Mono<Reply> locate(Block block);

  Mono<Reply> locateTickets();

  Mono<Reply> reserve(BlockInfo block);
}
