// SPDX-License-Identifier: Apache-2.0
/**
 * The protocol of iWARP as explicit states, from the first FPDU on: bytes come from a channel that
 * never blocks and go to one, cut anywhere, and nothing here knows a socket, a thread or a clock.
 *
 * <pre>
 *  SendQueue -> Outbound --FPDUs--> Gather -> channel
 *                  ^  READ answers
 *  channel -> Inbound --> registered memory, receives, Outbound
 * </pre>
 *
 * Payload is read from the channel into the memory that it goes to, and gathered from the memory
 * that it comes from; only small pieces pass through buffers here. For one caller at a time.
 * Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.iwarp.stream;

import org.jspecify.annotations.NullMarked;
