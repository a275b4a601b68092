// SPDX-License-Identifier: Apache-2.0
/**
 * The steps of a connect and of an accept, and listeners. Each step runs on the loop of its
 * connection.
 */
@NullMarked
package io.verbena.reactor.cm;

import org.jspecify.annotations.NullMarked;
