// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import java.net.URI;

/** A running server of a sample. */
public interface SampleServer extends AutoCloseable {

  /** The address to connect to. */
  URI address();

  /** Ends the server and its threads. */
  @Override
  void close();

  /** Creates a server at an address; {@code end} ends it. */
  static SampleServer of(URI address, Runnable end) {
    return new SampleServer() {
      @Override
      public URI address() {
        return address;
      }

      @Override
      public void close() {
        end.run();
      }
    };
  }
}
