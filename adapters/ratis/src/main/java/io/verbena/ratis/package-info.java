// SPDX-License-Identifier: Apache-2.0
/**
 * Apache Ratis over RDMA: servers and clients call each other over the reactive transport. A
 * program differs from one on gRPC in a property:
 *
 * <pre>{@code
 * properties.set("raft.rpc.type", "io.verbena.ratis.VerbenaRpcType");
 * }</pre>
 *
 * Requests, replies and exceptions are those of Ratis, in its own protobuf messages.
 */
@NullMarked
package io.verbena.ratis;

import org.jspecify.annotations.NullMarked;
