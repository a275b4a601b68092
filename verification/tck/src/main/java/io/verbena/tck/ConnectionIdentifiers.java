// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.ConnectionIdentifier;

/**
 * The identifiers of both ends of a connection, with their connection managers.
 *
 * @param caller the active side, which connected
 * @param active its identifier
 * @param callee the passive side, which accepted
 * @param passive its identifier
 */
record ConnectionIdentifiers(
    ConnectionManagerFixture caller,
    ConnectionIdentifier active,
    ConnectionManagerFixture callee,
    ConnectionIdentifier passive) {}
