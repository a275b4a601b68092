// SPDX-License-Identifier: Apache-2.0
/**
 * The messages between two ends: the handshake in the connection manager's private data, and the
 * layout of frames and records. Layouts are named here once; sender and receiver are their only
 * readers.
 */
@NullMarked
package io.verbena.reactor.wire;

import org.jspecify.annotations.NullMarked;
