// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.io.IOException;

/**
 * The verbs and the connection manager of DiSNI that we use: the methods of its {@code
 * NativeDispatcher}, without its underscores. Handles are raw pointers. Objects of the layers above
 * it (endpoints, groups, {@code RdmaCmId}) are stayed off: they keep static maps and wait for ever.
 *
 * <p>An {@link IOException} comes from {@code libdisni}; ours ends with {@code [errno N]}, see
 * {@link Errno#failure}. Results below 0 are failures as well.
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
