// SPDX-License-Identifier: Apache-2.0
/**
 * A service of quotes over gRPC, unary and server streaming. {@code OverTcp} and {@code OverRdma}
 * are where its transports differ; {@code Main} runs it over both.
 */
@NullMarked
package io.verbena.samples.grpc;

import org.jspecify.annotations.NullMarked;
