// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import jdk.jfr.Label;
import jdk.jfr.Name;

/** The peer had no receive posted, and answered with an RNR NAK. */
@Name("io.verbena.ReceiverNotReady")
@Label("Receiver Not Ready")
final class ReceiverNotReadyEvent extends QueuePairEvent {}
