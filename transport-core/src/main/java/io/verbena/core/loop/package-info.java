// SPDX-License-Identifier: Apache-2.0
/**
 * Completion loops: one thread each, which polls completion queues, runs tasks of other threads and
 * sleeps when there is nothing to do. Does not depend on Reactor.
 */
@NullMarked
package io.verbena.core.loop;

import org.jspecify.annotations.NullMarked;
