// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of a loop and of a queue pair that a connection uses: the slots of its send queue with
 * their owners, and the resources that it shares with the loop's other connections.
 */
@NullMarked
package io.verbena.reactor.queue;

import org.jspecify.annotations.NullMarked;
