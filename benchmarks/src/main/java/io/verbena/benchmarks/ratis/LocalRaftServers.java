// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.ratis;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.FileUtils;
import org.jspecify.annotations.Nullable;

/** Servers in this JVM. */
final class LocalRaftServers implements RaftServers {
  private final RaftGroup group = RaftServers.newGroup();
  private final Path folder = RaftServers.newFolder();
  private final List<RaftServer> servers = new ArrayList<>();

  LocalRaftServers(RaftRpc rpc) throws IOException {
    for (RaftPeer peer : group.getPeers()) {
      servers.add(RaftServers.server(rpc, group, peer, folder));
    }
    for (RaftServer server : servers) {
      server.start();
    }
  }

  @Override
  public RaftGroup group() {
    return group;
  }

  @Override
  public long cpuNanos() {
    return 0;
  }

  @Override
  public long cpuNanos(@Nullable RaftPeerId server) {
    return 0;
  }

  @Override
  public void close() throws IOException {
    for (RaftServer server : servers) {
      server.close();
    }
    FileUtils.deleteFully(folder);
  }
}
