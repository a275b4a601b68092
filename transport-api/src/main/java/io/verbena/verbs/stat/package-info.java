/**
 * The queue pairs that are open in this JVM, for who looks at them from outside. Providers tell of
 * them, transports of whose they are, and an MXBean shows them:
 *
 * <pre>
 *  provider --- add, remove ---> OpenQueuePairs <--- QueuePairsMXBean --- verbena stat PID, JConsole
 *  transport -- use, with a QueuePairUser --^
 * </pre>
 *
 * <p>Nothing is told while data moves: an open queue pair costs an entry of a table, and is read
 * when somebody looks.
 */
@NullMarked
package io.verbena.verbs.stat;

import org.jspecify.annotations.NullMarked;
