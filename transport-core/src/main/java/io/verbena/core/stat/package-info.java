// SPDX-License-Identifier: Apache-2.0
/**
 * The queue pairs that are open in this JVM. Providers announce them, transports say who uses them,
 * and an MXBean shows them:
 *
 * <pre>{@code
 * provider --- QueuePairListeners ---> OpenQueuePairs <--- QueuePairsMXBean --- verbena stat PID, JConsole
 * transport -- use(QueuePairUser) --------^
 * }</pre>
 *
 * <p>Providers find this package by {@link java.util.ServiceLoader}, as a {@link
 * io.verbena.verbs.provider.QueuePairListener}; a program without it runs, and is not shown.
 *
 * <p>Nothing is called while data moves: an open queue pair costs an entry of a table, and is read
 * when somebody looks.
 */
@NullMarked
package io.verbena.core.stat;

import org.jspecify.annotations.NullMarked;
