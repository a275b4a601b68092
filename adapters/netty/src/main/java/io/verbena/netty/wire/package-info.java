// SPDX-License-Identifier: Apache-2.0
/** What the ends of a channel tell each other when they connect. Internal: not exported. */
@NullMarked
package io.verbena.netty.wire;

import org.jspecify.annotations.NullMarked;
