// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;

/** An address that is listened on. Closing it rejects the requests that nobody took. */
public interface ConnectionListener extends AutoCloseable {

  /** Returns the address as bound, with the port chosen by the provider if none was asked for. */
  URI address();

  @Override
  void close();
}
