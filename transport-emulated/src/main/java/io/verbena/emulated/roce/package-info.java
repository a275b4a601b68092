// SPDX-License-Identifier: Apache-2.0
/**
 * RoCEv2 packets as bytes: headers, opcodes, invariant CRC and captures.
 *
 * <pre>
 *  0         20        28        40
 *  | IPv4    | UDP     | BTH     | extended headers | payload | pad | ICRC |
 *                      '---------- sent and received by a UDP socket -------'
 * </pre>
 *
 * An IPv6 header is kept apart, so that all other parts keep their offsets.
 *
 * <p>A {@link io.verbena.emulated.roce.RocePacket} is one packet; its {@link
 * io.verbena.emulated.roce.PacketOpcode} determines its extended headers. Layouts and rules are
 * those of IBTA volume 1 (transport headers, invariant CRC) and its annex on RoCEv2.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.roce;

import org.jspecify.annotations.NullMarked;
