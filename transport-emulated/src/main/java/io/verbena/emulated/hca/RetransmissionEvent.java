// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import jdk.jfr.Label;
import jdk.jfr.Name;

/** A requester sends again from the first packet that was not acknowledged. */
@Name("io.verbena.Retransmission")
@Label("Retransmission")
final class RetransmissionEvent extends QueuePairEvent {}
