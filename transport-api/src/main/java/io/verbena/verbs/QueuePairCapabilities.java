// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The capacities that a queue pair was granted ({@code struct ibv_qp_cap}).
 *
 * @param maxSend send requests outstanding
 * @param maxReceive receives posted
 * @param maxSendScatterGather buffers of a send request
 * @param maxReceiveScatterGather buffers of a receive
 * @param maxInlineData bytes of inline payload
 */
public record QueuePairCapabilities(
    int maxSend,
    int maxReceive,
    int maxSendScatterGather,
    int maxReceiveScatterGather,
    int maxInlineData) {}
