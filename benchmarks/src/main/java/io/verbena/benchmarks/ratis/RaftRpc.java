// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.ratis;

import io.verbena.ratis.VerbenaConfigKeys;
import io.verbena.ratis.VerbenaRpcType;
import java.net.URI;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.netty.NettyConfigKeys;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.rpc.SupportedRpcType;

/** The RPC type of the servers of a replicated log. */
public enum RaftRpc {
  /** Ratis over gRPC. */
  GRPC(VerbenaConfigKeys.URI_DEFAULT),
  /** Ratis over Netty. */
  NETTY(VerbenaConfigKeys.URI_DEFAULT),
  /** Ratis over Verbena, within a JVM. */
  EMULATED(VerbenaConfigKeys.URI_DEFAULT),
  /** Ratis over Verbena, on shared memory. */
  SHARED_MEMORY("shm://verbena-bench");

  private final URI hca;

  RaftRpc(String hca) {
    this.hca = URI.create(hca);
  }

  private RpcType type() {
    return switch (this) {
      case GRPC -> SupportedRpcType.GRPC;
      case NETTY -> SupportedRpcType.NETTY;
      case EMULATED, SHARED_MEMORY -> new VerbenaRpcType();
    };
  }

  /** Returns the properties of a client. */
  RaftProperties properties() {
    RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, type());
    VerbenaConfigKeys.setUri(properties, hca);
    return properties;
  }

  /** Returns the properties of a server that listens on a port. */
  RaftProperties properties(int port) {
    RaftProperties properties = properties();
    VerbenaConfigKeys.Server.setPort(properties, port);
    GrpcConfigKeys.Server.setPort(properties, port);
    NettyConfigKeys.Server.setPort(properties, port);
    return properties;
  }
}
