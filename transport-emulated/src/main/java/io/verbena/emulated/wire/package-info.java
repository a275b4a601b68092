// SPDX-License-Identifier: Apache-2.0
/**
 * What packets of emulated HCAs travel on, and the time that they travel in: a simulated wire that
 * does to packets what a {@linkplain io.verbena.emulated.wire.FaultSchedule schedule} says, under
 * {@linkplain io.verbena.emulated.wire.VirtualTime virtual time} or a clock; and UDP sockets.
 *
 * <pre>{@code
 * engines --> UdpWire --+--> UdpFlow, one of four source ports, by queue pair
 *                       |      unconnected --> who may be an RNIC, or is sent little
 *                       |      connected ----> who is no RNIC, and is sent much
 *    ^                  |
 *    +------------------+--- one socket that takes packets, on UDP port 4791 or another
 * }</pre>
 *
 * <p>Nothing here is thread-safe: who drives the engines of a fabric drives its wire and its time
 * too, and everything happens within their calls.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.wire;

import org.jspecify.annotations.NullMarked;
