// SPDX-License-Identifier: Apache-2.0
/**
 * The parts that the tools share: one end of a test, its connection without a connection manager,
 * and its waits.
 */
@NullMarked
package io.verbena.tools.end;

import org.jspecify.annotations.NullMarked;
