// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.verbs.QueuePairType;

/**
 * The properties of an engine that never change.
 *
 * @param type the transport
 * @param number the queue pair's number
 * @param sharedReceives whether the receives come from a shared queue; those are not flushed
 * @param maxReceiveScatterGather the most buffers of a receive
 * @param maxMessage the most bytes of a message
 * @param datagramMtu the most bytes of a datagram: the port's MTU
 * @param flow limits on the packets in flight
 */
public record EngineOptions(
    QueuePairType type,
    int number,
    boolean sharedReceives,
    int maxReceiveScatterGather,
    int maxMessage,
    int datagramMtu,
    FlowControl flow) {}
