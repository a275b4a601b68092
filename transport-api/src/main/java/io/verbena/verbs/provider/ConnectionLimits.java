// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;

/** Checks the parameters of a connection, before a verb does anything. */
public final class ConnectionLimits {
  private ConnectionLimits() {}

  /**
   * Checks the parameters of a connect or an accept.
   *
   * @param verb the verb, for the error
   * @param offered the parameters
   * @param mostData the most bytes of private data that the message carries
   * @param device the limits on READs and atomics
   * @throws VerbsException {@code INVALID}, naming the parameter and its limit
   */
  public static void check(
      String verb, ConnectionParameters offered, int mostData, DeviceAttributes device) {
    checkData(verb, offered.privateData(), mostData);
    Range.check(
        verb,
        "responder resources",
        offered.responderResources(),
        0,
        device.maxReadAtomicAsResponder());
    Range.check(
        verb, "initiator depth", offered.initiatorDepth(), 0, device.maxReadAtomicAsInitiator());
    Range.check(verb, "retry count", offered.retryCount(), 0, 7);
    Range.check(verb, "RNR retry count", offered.rnrRetryCount(), 0, 7);
  }

  /**
   * Checks private data.
   *
   * @throws VerbsException {@code INVALID} for more than {@code most} bytes
   */
  public static void checkData(String verb, ByteBuffer data, int most) {
    if (data.remaining() > most) {
      throw invalid(
          verb + ": private data: " + data.remaining() + " bytes (expected: <= " + most + ")");
    }
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
