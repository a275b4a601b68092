// SPDX-License-Identifier: Apache-2.0
/** Exchanges messages between two queue pairs that no connection manager connected. */
@NullMarked
package io.verbena.tools.pingpong;

import org.jspecify.annotations.NullMarked;
