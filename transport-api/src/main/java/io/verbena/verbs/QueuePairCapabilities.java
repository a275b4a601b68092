// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The capacities that a queue pair was granted ({@code struct ibv_qp_cap}).
 *
 * @param maxSend the most send requests outstanding
 * @param maxReceive the most receives posted
 * @param maxSendScatterGather the most buffers of a send request
 * @param maxReceiveScatterGather the most buffers of a receive
 * @param maxInlineData the most bytes of inline payload
 */
public record QueuePairCapabilities(
    int maxSend,
    int maxReceive,
    int maxSendScatterGather,
    int maxReceiveScatterGather,
    int maxInlineData) {}
