// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import jdk.jfr.Label;
import jdk.jfr.Name;

/** A connection ended, without a failure. */
@Name("io.verbena.ConnectionClosed")
@Label("Connection Closed")
final class ConnectionClosedEvent extends FlightRecorderEvent {}
