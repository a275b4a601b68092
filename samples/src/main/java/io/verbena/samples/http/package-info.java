// SPDX-License-Identifier: Apache-2.0
/**
 * An HTTP server and a client of it on Reactor Netty. {@code OverTcp} and {@code OverRdma} are
 * where its transports differ; {@code Main} runs it over both.
 */
@NullMarked
package io.verbena.samples.http;

import org.jspecify.annotations.NullMarked;
