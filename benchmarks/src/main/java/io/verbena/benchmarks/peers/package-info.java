// SPDX-License-Identifier: Apache-2.0
/**
 * The limits (memcpy, the cache line, an SPSC queue) and the peers (Aeron, Netty) that Verbena is
 * measured against, one class per participant.
 */
@NullMarked
package io.verbena.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
