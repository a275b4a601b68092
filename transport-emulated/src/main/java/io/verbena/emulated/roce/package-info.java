// SPDX-License-Identifier: Apache-2.0
/**
 * An IPv6 header, which replaces the IPv4 header, is kept apart: so all other parts keep their
 * places.
 *
 * <pre>
 *  0         20        28        40
 *  | IPv4    | UDP     | BTH     | extended headers | payload | pad | ICRC |
 *                      '---------- sent and received by a UDP socket -------'
 * </pre>
 *
 * An IPv6 header, which takes the place of the first, stands apart: so all else has one place.
 *
 * <p>A {@link io.verbena.emulated.roce.Frame} is one packet; a {@link
 * io.verbena.emulated.roce.PacketOpcode} says which extended headers it has. Layouts and rules are
 * those of IBTA volume 1 (transport headers, invariant CRC) and its annex on RoCEv2.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.roce;

import org.jspecify.annotations.NullMarked;
