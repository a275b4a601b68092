/**
 * A connection: its two queues, the frames that messages travel in, the credits that hold them
 * back, the one-sided operations, and its life from handshake to close. All state belongs to the
 * connection's loop; what other threads ask for is scheduled there.
 */
@NullMarked
package io.verbena.reactor.connection;

import org.jspecify.annotations.NullMarked;
