// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import java.io.IOException;
import java.net.Socket;

/** A peer of iWARP that writes and reads by hand, in hexadecimal. */
public interface ForeignEnd {

  /** Its end of the connection of TCP. */
  Socket socket();

  default void write(String hex) throws IOException {
    ForeignPeer.write(socket(), hex);
  }

  /** So many bytes, or what comes before the end. */
  default String read(int bytes) throws IOException {
    return ForeignPeer.read(socket(), bytes);
  }

  /** Whether the other end has closed, with or without a reset. */
  default boolean isClosed() {
    return ForeignPeer.isClosed(socket());
  }
}
