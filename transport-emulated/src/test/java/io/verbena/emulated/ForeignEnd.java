// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import java.io.IOException;
import java.net.Socket;

/** An iWARP peer whose bytes the test writes and reads in hexadecimal. */
public interface ForeignEnd {

  /** Returns the peer's TCP socket. */
  Socket socket();

  default void write(String hex) throws IOException {
    ForeignPeer.write(socket(), hex);
  }

  /** Reads this many bytes, or fewer if the stream ends before. */
  default String read(int bytes) throws IOException {
    return ForeignPeer.read(socket(), bytes);
  }

  /** Returns whether the other end has closed the connection, with or without a reset. */
  default boolean isClosed() {
    return ForeignPeer.isClosed(socket());
  }
}
