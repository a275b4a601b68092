// SPDX-License-Identifier: Apache-2.0
/**
 * The connection manager's events, private data, and limits on connections. Does not depend on
 * Reactor.
 */
@NullMarked
package io.verbena.core.cm;

import org.jspecify.annotations.NullMarked;
