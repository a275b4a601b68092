// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.verbena.RdmaTransport;
import org.apache.ratis.client.ClientFactory;
import org.apache.ratis.client.RaftClientRpc;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.jspecify.annotations.Nullable;

/** Creates the objects that Ratis requests from an RPC type. Thread-safe. */
final class VerbenaFactory implements ServerFactory, ClientFactory {
  private final @Nullable RdmaTransport transport;

  /**
   * @param parameters may hold a transport, see {@link VerbenaConfigKeys#transport}; or null
   */
  VerbenaFactory(@Nullable Parameters parameters) {
    transport = VerbenaConfigKeys.transport(parameters);
  }

  @Override
  public RpcType getRpcType() {
    return new VerbenaRpcType();
  }

  @Override
  public RaftServerRpc newRaftServerRpc(RaftServer server) {
    return new VerbenaServerRpc(server, new TransportLease(transport));
  }

  @Override
  public RaftClientRpc newRaftClientRpc(ClientId clientId, RaftProperties properties) {
    return new VerbenaClientRpc(clientId, properties, new TransportLease(transport));
  }

  @Override
  public LogAppender newLogAppender(
      RaftServer.Division division, LeaderState leader, FollowerInfo follower) {
    return new VerbenaLogAppender(division, leader, follower);
  }
}
