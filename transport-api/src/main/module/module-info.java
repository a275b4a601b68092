// SPDX-License-Identifier: Apache-2.0
/** The reactive transport SPI and the verbs SPI. */
module io.verbena {
  requires transitive io.netty.buffer;
  requires transitive org.reactivestreams;
  requires transitive reactor.core;
  requires static transitive org.jspecify;

  exports io.verbena;
  exports io.verbena.meters;
  exports io.verbena.verbs;
  exports io.verbena.verbs.provider;
  exports io.verbena.verbs.stat;

  uses io.verbena.RdmaTransport.Factory;
  uses io.verbena.verbs.VerbsProvider;
  uses io.verbena.verbs.provider.QueuePairListener;
}
