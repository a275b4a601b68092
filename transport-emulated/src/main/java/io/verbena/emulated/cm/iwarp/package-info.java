// SPDX-License-Identifier: Apache-2.0
/**
 * Connects by the frames of MPA, in which {@code rdma_cm}'s private data travels as it is: one
 * connection of TCP for each, on the port that the address names. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.cm.iwarp;

import org.jspecify.annotations.NullMarked;
