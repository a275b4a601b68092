// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import jdk.jfr.Label;
import jdk.jfr.Name;

/** A connection failed. */
@Name("io.verbena.ConnectionFailed")
@Label("Connection Failed")
final class ConnectionFailedEvent extends FlightRecorderEvent {
  @Label("Reason")
  String reason = "";
}
