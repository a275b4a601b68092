// SPDX-License-Identifier: Apache-2.0
/** Messages to and fro between two queue pairs that no connection manager made. */
@NullMarked
package io.verbena.tools.pingpong;

import org.jspecify.annotations.NullMarked;
