package io.verbena.tck;

import io.verbena.verbs.ConnectionIdentifier;

/**
 * The two ends of a connection, as their managers see it.
 *
 * @param caller whose manager asked
 * @param active its end
 * @param callee whose manager was asked
 * @param passive its end
 */
record ConnectionIdentifiers(
    ConnectionManagerFixture caller, ConnectionIdentifier active, ConnectionManagerFixture callee, ConnectionIdentifier passive) {}
