// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.verbs.ConnectionEvent;

/** Reasons for a REJ (IBTA volume 1, rejection reasons). */
public final class CmReason {
  /** The sender got no answer in time. */
  public static final int TIMEOUT = 4;

  /** There is no room for another connection. */
  public static final int NO_RESOURCES = 3;

  /** The sender knows no such connection. */
  public static final int INVALID_COMMUNICATION_ID = 6;

  /** Nobody listens. */
  public static final int INVALID_SERVICE_ID = 8;

  /** The transport is not RC. */
  public static final int INVALID_TRANSPORT = 9;

  /** The GID is not the sender's, or not the receiver's. */
  public static final int INVALID_GID = 12;

  /** The packets are too large; the message names a size that would fit. */
  public static final int INVALID_MTU = 26;

  /** The program refuses. */
  public static final int CONSUMER_DEFINED = 28;

  /** The keys of a locked wire differ, or one end has none; a reason that IBTA does not have. */
  public static final int KEY = ConnectionEvent.REJECT_KEY;

  private CmReason() {}
}
