/**
 * Completion loops: one thread each, which polls completion queues, runs what other threads hand it
 * and sleeps when there is nothing to do. Knows no Reactor.
 */
@NullMarked
package io.verbena.core.loop;

import org.jspecify.annotations.NullMarked;
