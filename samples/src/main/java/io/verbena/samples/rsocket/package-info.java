// SPDX-License-Identifier: Apache-2.0
/**
 * A stream of ticks over RSocket, sent at the pace of its subscriber. {@code OverTcp} and {@code
 * OverRdma} hold the differences of its transports; {@code Main} runs it over both.
 */
@NullMarked
package io.verbena.samples.rsocket;

import org.jspecify.annotations.NullMarked;
