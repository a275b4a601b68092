// SPDX-License-Identifier: Apache-2.0
/** Pings by READ and WRITE over the connection manager, with rping's own protocol. */
@NullMarked
package io.verbena.tools.ping;

import org.jspecify.annotations.NullMarked;
