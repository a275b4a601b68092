// SPDX-License-Identifier: Apache-2.0
/**
 * Receives of the connections of one loop: a pool in a shared receive queue, of which each
 * connection has a share, or a receive queue for each connection.
 */
@NullMarked
package io.verbena.core.receive;

import org.jspecify.annotations.NullMarked;
