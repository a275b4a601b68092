// SPDX-License-Identifier: Apache-2.0
/**
 * The protocol of iWARP as explicit states, from the first FPDU on. Bytes come from a channel and
 * go to a channel, which never block, in pieces of any size. Nothing here uses a socket, a thread
 * or a clock.
 *
 * <pre>
 *  SendQueue -> Outbound --FPDUs--> FpduWriter -> channel
 *                  ^  READ answers
 *  channel -> FpduReader --> registered memory, receives, Outbound
 * </pre>
 *
 * Payload is read from the channel directly into its target memory, and gathered directly from its
 * source memory; only small pieces pass through buffers here. For one caller at a time. Internal:
 * not exported.
 */
@NullMarked
package io.verbena.emulated.iwarp.stream;

import org.jspecify.annotations.NullMarked;
