// SPDX-License-Identifier: Apache-2.0
/**
 * The open queue pairs of this JVM. Providers announce them, transports name their users, and an
 * MXBean shows them:
 *
 * <pre>{@code
 * provider --- QueuePairListeners ---> OpenQueuePairs <--- QueuePairsMXBean --- verbena stat PID, JConsole
 * transport -- use(QueuePairUser) --------^
 * }</pre>
 *
 * <p>Providers find this package by {@link java.util.ServiceLoader}, as a {@link
 * io.verbena.verbs.provider.QueuePairListener}. A program without it runs, but its queue pairs are
 * not shown.
 *
 * <p>The data path calls nothing here: an open queue pair costs an entry of a table, and is read
 * only when the MXBean is.
 */
@NullMarked
package io.verbena.core.stat;

import org.jspecify.annotations.NullMarked;
