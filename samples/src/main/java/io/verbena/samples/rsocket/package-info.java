// SPDX-License-Identifier: Apache-2.0
/**
 * A stream of ticks over RSocket, whose sender goes at the pace of its subscriber. {@code OverTcp}
 * and {@code OverRdma} are where its transports differ; {@code Main} runs it over both.
 */
@NullMarked
package io.verbena.samples.rsocket;

import org.jspecify.annotations.NullMarked;
