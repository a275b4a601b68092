// SPDX-License-Identifier: Apache-2.0
/**
 * The lock of a wire: keys from a secret that both ends of a connection have, the proofs by which
 * the ends authenticate each other while they connect, and the sealing of each packet, or of each
 * record of a stream. It handles bytes only; the callers define messages and packets.
 */
@NullMarked
package io.verbena.emulated.lock;

import org.jspecify.annotations.NullMarked;
