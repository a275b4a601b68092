/** gRPC, by the same calls over each transport. */
@NullMarked
package io.verbena.benchmarks.grpc;

import org.jspecify.annotations.NullMarked;
