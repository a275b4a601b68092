// SPDX-License-Identifier: Apache-2.0
/**
 * A connection: its user API, its life from handshake to close, its deadlines, and the routing of
 * its completions. All state belongs to the connection's loop; calls from other threads are
 * scheduled there.
 */
@NullMarked
package io.verbena.reactor.connection;

import org.jspecify.annotations.NullMarked;
