// SPDX-License-Identifier: Apache-2.0
/**
 * Connects by MPA frames, which carry {@code rdma_cm}'s private data unchanged: each connection is
 * a TCP connection, on the port that the address names. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.cm.iwarp;

import org.jspecify.annotations.NullMarked;
