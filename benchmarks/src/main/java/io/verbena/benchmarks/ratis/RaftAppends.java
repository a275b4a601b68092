// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.ratis;

import io.verbena.benchmarks.work.DataCheckFailed;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.UnaryCalls;
import io.verbena.ratis.VerbenaConfigKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.netty.NettyConfigKeys;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.FileUtils;
import org.apache.ratis.util.TimeDuration;

/**
 * Writes to a replicated log of three servers in this JVM, whose log is in files of memory where
 * there are such. All RPC types have the same properties; appends wait for nothing before they are
 * sent, which Ratis over gRPC does by default.
 */
public final class RaftAppends implements UnaryCalls {
  private static final int SERVERS = 3;
  private static final long ENTRIES_KEPT = 50_000;
  private static final Path MEMORY = Path.of("/dev/shm");

  private final int outstanding;
  private final int size;
  private final Path directory;
  private final List<RaftServer> servers = new ArrayList<>();
  private final RaftClient client;
  private long sequence;

  /**
   * Starts servers and client.
   *
   * @param type the RPC type
   * @param outstanding the writes in flight; one is written by the blocking interface
   * @param size bytes of an entry
   */
  public RaftAppends(RpcType type, int outstanding, int size) throws IOException {
    this.outstanding = outstanding;
    this.size = size;
    directory =
        Files.isWritable(MEMORY)
            ? Files.createTempDirectory(MEMORY, "verbena-ratis")
            : Files.createTempDirectory("verbena-ratis");
    List<RaftPeer> peers = new ArrayList<>();
    for (int i = 0; i < SERVERS; i++) {
      peers.add(RaftPeer.newBuilder().setId("s" + i).setAddress("127.0.0.1:" + freePort()).build());
    }
    RaftGroup group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
    for (RaftPeer peer : peers) {
      servers.add(server(type, group, peer));
    }
    for (RaftServer server : servers) {
      server.start();
    }
    RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, type);
    RaftClientConfigKeys.Async.setOutstandingRequestsMax(properties, outstanding);
    client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(group).build();
  }

  private RaftServer server(RpcType type, RaftGroup group, RaftPeer peer) throws IOException {
    RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, type);
    int port = Integer.parseInt(peer.getAddress().substring(peer.getAddress().indexOf(':') + 1));
    VerbenaConfigKeys.Server.setPort(properties, port);
    GrpcConfigKeys.Server.setPort(properties, port);
    NettyConfigKeys.Server.setPort(properties, port);
    RaftServerConfigKeys.setStorageDir(
        properties, List.of(directory.resolve(peer.getId().toString()).toFile()));
    RaftServerConfigKeys.Log.Appender.setWaitTimeMin(properties, TimeDuration.ZERO);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, ENTRIES_KEPT);
    return RaftServer.newBuilder()
        .setServerId(peer.getId())
        .setGroup(group)
        .setProperties(properties)
        .setStateMachine(new EchoStateMachine())
        .build();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void call(long calls, Deadline deadline) throws Exception {
    if (outstanding == 1) {
      for (long i = 0; i < calls; i++) {
        long number = sequence++;
        check(number, client.io().send(message(number)));
      }
      return;
    }
    AtomicLong left = new AtomicLong(calls);
    CompletableFuture<Void> done = new CompletableFuture<>();
    for (long i = 0; i < calls && !done.isDone(); i++) {
      long number = sequence++;
      CompletableFuture<?> unused =
          client
              .async()
              .send(message(number))
              .whenComplete(
                  (reply, failure) -> {
                    try {
                      if (failure != null) {
                        done.completeExceptionally(failure);
                        return;
                      }
                      check(number, reply);
                      if (left.decrementAndGet() == 0) {
                        done.complete(null);
                      }
                    } catch (DataCheckFailed e) {
                      done.completeExceptionally(e);
                    }
                  });
    }
    deadline.await(done);
  }

  private Message message(long number) {
    ByteBuffer bytes = ByteBuffer.allocate(size).putLong(0, number);
    return Message.valueOf(UnsafeByteOperations.unsafeWrap(bytes));
  }

  private static void check(long number, RaftClientReply reply) {
    long replied = reply.getMessage().getContent().asReadOnlyByteBuffer().getLong();
    if (!reply.isSuccess() || replied != number) {
      throw new DataCheckFailed("reply", number, 0, replied, number);
    }
  }

  @Override
  public void close() {
    try {
      client.close();
      for (RaftServer server : servers) {
        server.close();
      }
      FileUtils.deleteFully(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
