// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.netty.buffer.ByteBuf;
import io.verbena.core.memory.Exposure;

/**
 * A message that the peer may READ until it says that it has.
 *
 * @param send whose message it is
 * @param message held until the exposure is closed
 * @param exposure its bytes, and nothing else
 * @param length how many bytes
 */
record RendezvousSource(SendOperation send, ByteBuf message, Exposure exposure, int length) {

  /** Ends the peer's access, and lets the message go. */
  void close() {
    try {
      exposure.close();
    } finally {
      message.release();
    }
  }
}
