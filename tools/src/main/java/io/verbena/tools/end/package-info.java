// SPDX-License-Identifier: Apache-2.0
/**
 * What the tools share: one end of a test, how it is connected without a connection manager, and
 * how it waits.
 */
@NullMarked
package io.verbena.tools.end;

import org.jspecify.annotations.NullMarked;
