// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.ratis;

import io.verbena.benchmarks.work.DataCheckFailed;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.UnaryCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** Writes to a replicated log of three servers. */
public final class RaftAppends implements UnaryCalls {
  private final int outstanding;
  private final int size;
  private final RaftServers servers;
  private final RaftClient client;
  private long sequence;

  private RaftAppends(RaftRpc rpc, int outstanding, int size, RaftServers servers) {
    this.outstanding = outstanding;
    this.size = size;
    this.servers = servers;
    RaftProperties properties = rpc.properties();
    RaftClientConfigKeys.Async.setOutstandingRequestsMax(properties, outstanding);
    client =
        RaftClient.newBuilder().setProperties(properties).setRaftGroup(servers.group()).build();
  }

  /**
   * Starts servers and client in this JVM.
   *
   * @param outstanding the number of outstanding writes; for 1, uses the blocking interface
   * @param size bytes of an entry
   */
  public static RaftAppends inThisJvm(RaftRpc rpc, int outstanding, int size) throws IOException {
    return new RaftAppends(rpc, outstanding, size, new LocalRaftServers(rpc));
  }

  /** Like {@link #inThisJvm}, but each server is a process. */
  public static RaftAppends inProcesses(RaftRpc rpc, int outstanding, int size) throws IOException {
    return new RaftAppends(rpc, outstanding, size, new RaftServerProcesses(rpc));
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
  public long otherCpuNanos() {
    return servers.cpuNanos();
  }

  /** Returns the CPU nanoseconds of the leader's process. The leader is known after a write. */
  public long leaderCpuNanos() {
    return servers.cpuNanos(client.getLeaderId());
  }

  /** Returns the CPU nanoseconds of the processes of all followers together. */
  public long followersCpuNanos() {
    return servers.cpuNanos() - leaderCpuNanos();
  }

  @Override
  public void close() {
    try (servers) {
      client.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
