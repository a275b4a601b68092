// SPDX-License-Identifier: Apache-2.0
/**
 * A connection: what users call, its life from handshake to close, its deadlines, and which part of
 * it handles a completion. All state belongs to the connection's loop; what other threads ask for
 * is scheduled there.
 */
@NullMarked
package io.verbena.reactor.connection;

import org.jspecify.annotations.NullMarked;
