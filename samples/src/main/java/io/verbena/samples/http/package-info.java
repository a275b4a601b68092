// SPDX-License-Identifier: Apache-2.0
/**
 * An HTTP server and its client on Reactor Netty. {@code OverTcp} and {@code OverRdma} hold the
 * differences of their transports; {@code Main} runs them over both.
 */
@NullMarked
package io.verbena.samples.http;

import org.jspecify.annotations.NullMarked;
