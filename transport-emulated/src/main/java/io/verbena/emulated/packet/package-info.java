// SPDX-License-Identifier: Apache-2.0
/**
 * Queue pairs that exchange RoCEv2 packets: posting rings a doorbell, and the driver of the fabric
 * calls the {@link io.verbena.emulated.engine.QueuePairEngine} of each queue pair that rang.
 * Fabrics differ in their wire and in their driver. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.packet;

import org.jspecify.annotations.NullMarked;
