// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/** Reasons for a REJ (IBTA volume 1, rejection reasons). */
public final class CmReason {
  /** The sender got no answer in time. */
  public static final int TIMEOUT = 4;

  /** There is no room for another connection. */
  public static final int NO_RESOURCES = 3;

  /** The sender of the REJ does not know the connection. */
  public static final int INVALID_COMMUNICATION_ID = 6;

  /** The service has no listener. */
  public static final int INVALID_SERVICE_ID = 8;

  /** The transport is not RC. */
  public static final int INVALID_TRANSPORT = 9;

  /** A GID in the message does not belong to its sender or receiver. */
  public static final int INVALID_GID = 12;

  /** The path MTU is too large; the REJ contains one that would fit. */
  public static final int INVALID_MTU = 26;

  /** The program rejects the connection. */
  public static final int CONSUMER_DEFINED = 28;

  /** The keys of both ends differ, or only one end has a key. Not a reason of the IBTA. */
  public static final int KEY = ConnectionEvent.REJECT_KEY;

  private CmReason() {}
}
