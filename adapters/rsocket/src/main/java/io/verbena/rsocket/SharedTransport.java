// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.verbena.RdmaTransport;

/** The transport of those who bring none: made when the first asks, and there to the end. */
final class SharedTransport {
  static final RdmaTransport INSTANCE = RdmaTransport.create();

  private SharedTransport() {}
}
