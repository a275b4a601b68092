// SPDX-License-Identifier: Apache-2.0
/**
 * A service of quotes over gRPC, unary and server streaming. {@code OverTcp} and {@code OverRdma}
 * hold the differences of its transports; {@code Main} runs it over both.
 */
@NullMarked
package io.verbena.samples.grpc;

import org.jspecify.annotations.NullMarked;
