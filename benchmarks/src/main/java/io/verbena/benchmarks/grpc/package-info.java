// SPDX-License-Identifier: Apache-2.0
/** gRPC: the same calls over each transport. */
@NullMarked
package io.verbena.benchmarks.grpc;

import org.jspecify.annotations.NullMarked;
