// SPDX-License-Identifier: Apache-2.0
/**
 * Captures of streams: the bytes that a socket sent and received, as the TCP segments in which they
 * could have travelled. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.iwarp.capture;

import org.jspecify.annotations.NullMarked;
