// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import java.net.URI;

/** A running block store. */
interface BlockServer extends AutoCloseable {

  /** The address to connect to. */
  URI address();

  /** Returns the progress of its streams. */
  StreamLog streams();

  /** Stops listening. Its connections belong to the transport, which is disposed first. */
  @Override
  void close();
}
