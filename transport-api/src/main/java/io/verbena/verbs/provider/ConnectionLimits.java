package io.verbena.verbs.provider;

import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.nio.ByteBuffer;

/** Checks what a connection is asked with, before anything is done. */
public final class ConnectionLimits {
  private ConnectionLimits() {}

  /**
   * Checks the parameters of a connect or an accept.
   *
   * @param verb for the error
   * @param offered the parameters
   * @param mostData bytes of private data that the message carries
   * @param device for the READs and atomics
   * @throws VerbsException {@code INVALID}, naming the parameter and its limit
   */
  public static void check(
      String verb, ConnectionParameters offered, int mostData, DeviceAttributes device) {
    checkData(verb, offered.privateData(), mostData);
    range(
        verb,
        "responder resources",
        offered.responderResources(),
        device.maxReadAtomicAsResponder());
    range(verb, "initiator depth", offered.initiatorDepth(), device.maxReadAtomicAsInitiator());
    range(verb, "retry count", offered.retryCount(), 7);
    range(verb, "RNR retry count", offered.rnrRetryCount(), 7);
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

  private static void range(String verb, String name, int value, int most) {
    if (value < 0 || value > most) {
      throw invalid(verb + ": " + name + ": " + value + " (expected: 0.." + most + ")");
    }
  }

  private static VerbsException invalid(String message) {
    return new VerbsException(VerbsError.INVALID, message);
  }
}
