// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Threshold;

/** Sends waited for the peer's credits: the time from the last credit to the next. */
@Name("io.verbena.CreditStall")
@Label("Credit Stall")
@Threshold("10 ms")
final class CreditStallEvent extends FlightRecorderEvent {}
