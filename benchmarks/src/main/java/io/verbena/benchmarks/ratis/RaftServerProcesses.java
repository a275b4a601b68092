// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.ratis;

import io.verbena.benchmarks.work.OtherProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.util.FileUtils;
import org.jspecify.annotations.Nullable;

/** Servers, each in a process of its own. */
final class RaftServerProcesses implements RaftServers {
  private final RaftGroup group = RaftServers.newGroup();
  private final Path folder = RaftServers.newFolder();
  private final Map<RaftPeerId, OtherProcess> servers = new LinkedHashMap<>();

  RaftServerProcesses(RaftRpc rpc) throws IOException {
    for (RaftPeer peer : group.getPeers()) {
      List<Object> arguments =
          new ArrayList<>(List.of(rpc, folder, group.getGroupId().getUuid(), peer.getId()));
      for (RaftPeer each : group.getPeers()) {
        arguments.add(each.getId());
        arguments.add(each.getAddress());
      }
      servers.put(peer.getId(), new OtherProcess(Server.class, arguments.toArray()));
    }
    for (OtherProcess server : servers.values()) {
      String unused = server.line();
    }
  }

  @Override
  public RaftGroup group() {
    return group;
  }

  @Override
  public long cpuNanos() {
    return servers.values().stream().mapToLong(OtherProcess::cpuNanos).sum();
  }

  @Override
  public long cpuNanos(@Nullable RaftPeerId server) {
    return Objects.requireNonNull(servers.get(server), "server").cpuNanos();
  }

  @Override
  public void close() throws IOException {
    servers.values().forEach(OtherProcess::close);
    FileUtils.deleteFully(folder);
  }

  /** The program of a server, which runs until its parent ends it. */
  static final class Server {
    private Server() {}

    /** Arguments: RPC, folder, group, own name, then name and address of each server. */
    public static void main(String[] arguments) throws Exception {
      OtherProcess.endWithParent();
      List<RaftPeer> peers = new ArrayList<>();
      for (int i = 4; i < arguments.length; i += 2) {
        peers.add(RaftPeer.newBuilder().setId(arguments[i]).setAddress(arguments[i + 1]).build());
      }
      RaftGroup group =
          RaftGroup.valueOf(RaftGroupId.valueOf(UUID.fromString(arguments[2])), peers);
      RaftPeer own = group.getPeer(RaftPeerId.valueOf(arguments[3]));
      RaftServers.server(
              RaftRpc.valueOf(arguments[0]),
              group,
              Objects.requireNonNull(own, "own"),
              Path.of(arguments[1]))
          .start();
      System.out.println("started");
    }
  }
}
