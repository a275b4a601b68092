// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import jdk.jfr.Label;
import jdk.jfr.Name;

/** A connection was established. */
@Name("io.verbena.ConnectionOpened")
@Label("Connection Opened")
final class ConnectionOpenedEvent extends FlightRecorderEvent {}
