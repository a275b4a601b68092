// SPDX-License-Identifier: Apache-2.0
/** The reactive transport over any verbs provider. Programs use it through io.verbena.RdmaTransport only. */
module io.verbena.reactor {
  requires io.verbena;
  requires io.verbena.core;
  requires io.netty.common;
  requires static org.jspecify;

  exports io.verbena.reactor;

  provides io.verbena.RdmaTransport.Factory with
      io.verbena.reactor.ReactorTransportFactory;
}
