// SPDX-License-Identifier: Apache-2.0
/**
 * The lock of a wire: keys from a secret that both ends of a connection have, what proves the ends
 * to each other while they connect, and the sealing of each packet. It knows bytes alone: which
 * bytes those are, messages and packets say.
 */
@NullMarked
package io.verbena.emulated.lock;

import org.jspecify.annotations.NullMarked;
