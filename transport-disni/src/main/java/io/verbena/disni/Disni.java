// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.io.IOException;

/**
 * The native methods of DiSNI that Verbena uses: those of its {@code NativeDispatcher}, without the
 * leading underscore of their names. Handles are raw pointers. Verbena does not use DiSNI's layers
 * above the dispatcher (endpoints, groups, {@code RdmaCmId}), because these keep static maps and
 * wait without a time limit.
 *
 * <p>An {@link IOException} comes from {@code libdisni}; the message of Verbena's own {@code
 * libdisni} ends with {@code [errno N]}, see {@link Errno#failure}. A negative result is a failure
 * too.
 */
interface Disni {
  long createEventChannel() throws IOException;

  void bindAddr(long id, long sockaddr) throws IOException;

  void listen(long id, int backlog) throws IOException;

  void resolveRoute(long id, int timeoutMillis) throws IOException;

  int disconnect(long id);

  long allocPd(long context) throws IOException;

  long createCompChannel(long context) throws IOException;

  /** Writes lkey, rkey and handle, 4 bytes each, to the last three addresses. */
  long regMr(long pd, long address, int length, int access, long lkey, long rkey, long handle)
      throws IOException;

  void deregMr(long mr) throws IOException;
}
