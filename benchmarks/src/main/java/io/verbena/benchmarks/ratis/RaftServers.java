// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.ratis;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * Three servers of a replicated log, whose files are in shared memory if the system has some. All
 * RPC types have the same properties; appends are sent without a delay, which Ratis over gRPC does
 * by default.
 */
interface RaftServers extends AutoCloseable {
  /** Returns the group of the servers. */
  RaftGroup group();

  /** Returns the CPU nanoseconds of all server processes; 0 for servers in this JVM. */
  long cpuNanos();

  /** Returns the CPU nanoseconds of the process of one server; 0 in this JVM. */
  long cpuNanos(@Nullable RaftPeerId server);

  @Override
  void close() throws IOException;

  /** Returns a new group, on free ports. */
  static RaftGroup newGroup() throws IOException {
    List<RaftPeer> peers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      peers.add(RaftPeer.newBuilder().setId("s" + i).setAddress("127.0.0.1:" + freePort()).build());
    }
    return RaftGroup.valueOf(RaftGroupId.randomId(), peers);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** Returns a new folder for the logs. */
  static Path newFolder() throws IOException {
    Path memory = Path.of("/dev/shm");
    return Files.isWritable(memory)
        ? Files.createTempDirectory(memory, "verbena-ratis")
        : Files.createTempDirectory("verbena-ratis");
  }

  /** Returns a server that is not yet started. */
  static RaftServer server(RaftRpc rpc, RaftGroup group, RaftPeer peer, Path folder)
      throws IOException {
    String address = peer.getAddress();
    RaftProperties properties =
        rpc.properties(Integer.parseInt(address.substring(address.indexOf(':') + 1)));
    RaftServerConfigKeys.setStorageDir(
        properties, List.of(folder.resolve(peer.getId().toString()).toFile()));
    RaftServerConfigKeys.Log.Appender.setWaitTimeMin(properties, TimeDuration.ZERO);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
    // The number of entries that are kept.
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, 50_000);
    return RaftServer.newBuilder()
        .setServerId(peer.getId())
        .setGroup(group)
        .setProperties(properties)
        .setStateMachine(new EchoStateMachine())
        .build();
  }
}
