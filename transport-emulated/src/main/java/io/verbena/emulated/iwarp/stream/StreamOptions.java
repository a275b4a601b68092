// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

/**
 * The properties of a queue pair that never change.
 *
 * @param sharedReceives whether its receives come from a shared receive queue
 * @param maxReceiveScatterGather the most buffers of a receive
 * @param maxMessage the most bytes of a message
 */
public record StreamOptions(boolean sharedReceives, int maxReceiveScatterGather, long maxMessage) {}
