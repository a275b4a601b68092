// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.verbs.Gid;
import java.io.IOException;

/** Thrown if a host exists, but the backlog of its socket is full. */
final class BusyHostException extends IOException {
  private static final long serialVersionUID = 1;

  BusyHostException(Gid host) {
    super(host + ": the backlog of its socket is full");
  }
}
