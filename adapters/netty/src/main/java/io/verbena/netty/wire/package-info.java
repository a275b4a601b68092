// SPDX-License-Identifier: Apache-2.0
/** The messages that the ends of a channel exchange when they connect. Internal: not exported. */
@NullMarked
package io.verbena.netty.wire;

import org.jspecify.annotations.NullMarked;
