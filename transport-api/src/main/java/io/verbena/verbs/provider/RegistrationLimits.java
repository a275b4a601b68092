// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.Access;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.util.Set;

/** Checks the arguments of a registration of memory, before a verb does anything. */
public final class RegistrationLimits {
  private RegistrationLimits() {}

  /**
   * Checks a buffer and the rights on it.
   *
   * @throws VerbsException {@code INVALID} for heap memory, for an empty buffer, for remote write
   *     or atomic without local write, and for local write on a read-only buffer
   */
  public static void check(ByteBuffer buffer, Set<Access> access) {
    if (!buffer.isDirect()) {
      throw invalid("heap memory cannot be registered (expected: a direct buffer)");
    }
    if (!buffer.hasRemaining()) {
      throw invalid("length: 0 (expected: > 0)");
    }
    boolean localWrite = access.contains(Access.LOCAL_WRITE);
    if (!localWrite
        && (access.contains(Access.REMOTE_WRITE) || access.contains(Access.REMOTE_ATOMIC))) {
      throw invalid("access: " + access + " (expected: LOCAL_WRITE with remote write or atomic)");
    }
    if (localWrite && buffer.isReadOnly()) {
      throw invalid("access: " + access + " on a read-only buffer (expected: no LOCAL_WRITE)");
    }
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, "register memory: " + message);
  }
}
