// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.send;

import io.netty.buffer.ByteBuf;
import io.verbena.core.memory.Exposure;

/**
 * A message that the peer may READ until its DONE comes.
 *
 * @param send the send of the message
 * @param message held until the exposure is closed
 * @param exposure the peer's access to its bytes, and to nothing else
 * @param length its length in bytes
 */
record RendezvousSource(SendOperation send, ByteBuf message, Exposure exposure, int length) {

  /** Ends the peer's access, and releases the message. */
  void close() {
    try {
      exposure.close();
    } finally {
      message.release();
    }
  }
}
