// SPDX-License-Identifier: Apache-2.0
/** RSocket over the reactive transport. */
module io.verbena.rsocket {
  requires transitive io.verbena;
  requires transitive rsocket.core;
  requires static org.jspecify;

  exports io.verbena.rsocket;
}
