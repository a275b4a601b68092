// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.net.URI;

/** A listener on an address. Closing it rejects the requests whose events were not taken. */
public interface ConnectionListener extends AutoCloseable {

  /** Returns the bound address, with a port chosen by the provider if the caller gave none. */
  URI address();

  @Override
  void close();
}
