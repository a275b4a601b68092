// SPDX-License-Identifier: Apache-2.0
/**
 * Receives of the connections of one loop: a pool of them in a shared receive queue, and the share
 * that each connection has of it.
 */
@NullMarked
package io.verbena.core.receive;

import org.jspecify.annotations.NullMarked;
