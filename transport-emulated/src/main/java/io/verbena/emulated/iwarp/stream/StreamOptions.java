// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

/**
 * What never changes of a queue pair.
 *
 * @param sharedReceives whether its receives come from a shared receive queue
 * @param maxReceiveScatterGather the most buffers of a receive
 * @param maxMessage the most bytes of a message
 */
public record StreamOptions(boolean sharedReceives, int maxReceiveScatterGather, long maxMessage) {}
