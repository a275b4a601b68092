// SPDX-License-Identifier: Apache-2.0
/**
 * The wires that carry packets of emulated HCAs, and their time: a simulated wire that inflicts the
 * faults of a {@linkplain io.verbena.emulated.wire.FaultSchedule schedule} on packets, under
 * {@linkplain io.verbena.emulated.wire.VirtualTime virtual time} or a clock; and UDP sockets.
 *
 * <pre>{@code
 * engines --> UdpWire --+--> UdpFlow, one of four source ports, by queue pair
 *                       |      unconnected --> peers that may be RNICs, or get few packets
 *                       |      connected ----> peers that are no RNICs and get many packets
 *    ^                  |
 *    +------------------+--- one socket that receives packets, on UDP port 4791 or another
 * }</pre>
 *
 * <p>Nothing here is thread-safe: the driver of a fabric's engines also drives the wire and the
 * time, and everything happens within its calls.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.wire;

import org.jspecify.annotations.NullMarked;
