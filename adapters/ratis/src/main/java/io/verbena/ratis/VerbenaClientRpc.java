// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.client.impl.RaftClientRpcWithProxy;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.GroupInfoReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupListReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupInfoRequest;
import org.apache.ratis.protocol.GroupListRequest;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.LeaderElectionManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.RaftException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.MoreExecutors;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.ConcurrentUtils;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.JavaUtils;
import org.apache.ratis.util.MemoizedSupplier;
import org.apache.ratis.util.PeerProxyMap;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/**
 * The RPC of a Ratis client. Ordered requests complete on a thread of the client's own, one reply
 * after the other, so code that waits for them may block, and call again. Thread-safe.
 */
final class VerbenaClientRpc extends RaftClientRpcWithProxy<PeerProxy> {
  /** A request as it is sent. */
  private record Encoded(Operation operation, MessageLite body) {}

  private final TransportLease lease;
  private final TimeDuration requestTimeout;
  private final TimeDuration watchTimeout;
  private final ExecutorService thread;
  private final Executor inOrder;

  VerbenaClientRpc(ClientId client, RaftProperties properties, TransportLease lease) {
    super(proxies(client, properties, lease));
    this.lease = lease;
    requestTimeout = RaftClientConfigKeys.Rpc.requestTimeout(properties);
    watchTimeout = RaftClientConfigKeys.Rpc.watchRequestTimeout(properties);
    thread =
        ConcurrentUtils.newCachedThreadPool(
            0, ConcurrentUtils.newThreadFactory(client + "-replies"));
    inOrder = MoreExecutors.newSequentialExecutor(thread);
  }

  private static PeerProxyMap<PeerProxy> proxies(
      ClientId client, RaftProperties properties, TransportLease lease) {
    MemoizedSupplier<PeerUri> addresses = VerbenaServerRpc.addresses(properties);
    int most = VerbenaConfigKeys.outstandingCallsMax(properties);
    return new PeerProxyMap<>(
        client.toString(), peer -> PeerProxy.of(peer, lease, addresses, client.toString(), most));
  }

  @Override
  public CompletableFuture<RaftClientReply> sendRequestAsync(RaftClientRequest request) {
    try {
      PeerProxy proxy = getProxies().getProxy(request.getServerId());
      Encoded encoded = encode(request, Operation.ORDERED);
      check(proxy, encoded.body);
      return reply(
          encoded.body instanceof RaftClientRequestProto ordered
              ? proxy.callInOrder(ordered, timeout(request), inOrder)
              : call(proxy, request, encoded, inOrder));
    } catch (IOException | RuntimeException e) {
      return JavaUtils.completeExceptionally(e);
    }
  }

  @Override
  public CompletableFuture<RaftClientReply> sendRequestAsyncUnordered(RaftClientRequest request) {
    try {
      PeerProxy proxy = getProxies().getProxy(request.getServerId());
      // Completed on the loop: Ratis itself continues in another thread.
      Encoded encoded = encode(request, Operation.UNORDERED);
      check(proxy, encoded.body);
      return reply(call(proxy, request, encoded, Runnable::run));
    } catch (IOException | RuntimeException e) {
      return JavaUtils.completeExceptionally(e);
    }
  }

  @Override
  public RaftClientReply sendRequest(RaftClientRequest request) throws IOException {
    PeerProxy proxy = getProxies().getProxy(request.getServerId());
    Encoded encoded = encode(request, Operation.UNORDERED);
    check(proxy, encoded.body);
    return decode(PeerProxy.await(call(proxy, request, encoded, Runnable::run), request));
  }

  private CompletableFuture<MessageLite> call(
      PeerProxy proxy, RaftClientRequest request, Encoded encoded, Executor executor) {
    return proxy.call(encoded.operation, encoded.body, timeout(request), executor);
  }

  /**
   * Returns the reply as Ratis expects it: it fails, unwrapped, with an exception for which Ratis
   * sends the request again.
   */
  @SuppressWarnings("FutureReturnValueIgnored")
  private static CompletableFuture<RaftClientReply> reply(CompletableFuture<MessageLite> call) {
    CompletableFuture<RaftClientReply> end = new CompletableFuture<>();
    call.whenComplete(
        (body, failure) -> {
          RaftClientReply reply = null;
          IOException why;
          try {
            reply = failure == null ? decode(body) : null;
            why = reply == null ? unwrapped(failure) : toRetry(reply);
          } catch (Throwable e) {
            // The future would drop the exception.
            why = new IOException("a reply cannot be read: " + e, e);
          }
          if (why == null) {
            end.complete(reply);
          } else {
            end.completeExceptionally(why);
          }
        });
    return end;
  }

  /**
   * Throws an {@link IllegalArgumentException}, after which Ratis does not try again, if a request
   * is too long.
   */
  private static void check(PeerProxy proxy, MessageLite request) {
    String tooLong = proxy.tooLong(request);
    if (tooLong != null) {
      throw new IllegalArgumentException(tooLong);
    }
  }

  private TimeDuration timeout(RaftClientRequest request) {
    TimeDuration least =
        request.is(RaftClientRequestProto.TypeCase.WATCH) ? watchTimeout : requestTimeout;
    return least.add(request.getTimeoutMs(), TimeUnit.MILLISECONDS);
  }

  private static Encoded encode(RaftClientRequest request, Operation ofData) {
    if (request instanceof GroupManagementRequest management) {
      return new Encoded(
          Operation.GROUP_MANAGEMENT, ClientProtoUtils.toGroupManagementRequestProto(management));
    } else if (request instanceof SetConfigurationRequest configuration) {
      return new Encoded(
          Operation.SET_CONFIGURATION,
          ClientProtoUtils.toSetConfigurationRequestProto(configuration));
    } else if (request instanceof GroupListRequest list) {
      return new Encoded(Operation.GROUP_LIST, ClientProtoUtils.toGroupListRequestProto(list));
    } else if (request instanceof GroupInfoRequest info) {
      return new Encoded(Operation.GROUP_INFO, ClientProtoUtils.toGroupInfoRequestProto(info));
    } else if (request instanceof TransferLeadershipRequest transfer) {
      return new Encoded(
          Operation.TRANSFER_LEADERSHIP,
          ClientProtoUtils.toTransferLeadershipRequestProto(transfer));
    } else if (request instanceof SnapshotManagementRequest snapshot) {
      return new Encoded(
          Operation.SNAPSHOT_MANAGEMENT,
          ClientProtoUtils.toSnapshotManagementRequestProto(snapshot));
    } else if (request instanceof LeaderElectionManagementRequest election) {
      return new Encoded(
          Operation.LEADER_ELECTION_MANAGEMENT,
          ClientProtoUtils.toLeaderElectionManagementRequestProto(election));
    }
    return new Encoded(ofData, ClientProtoUtils.toRaftClientRequestProto(request));
  }

  private static RaftClientReply decode(MessageLite reply) {
    if (reply instanceof GroupListReplyProto list) {
      return ClientProtoUtils.toGroupListReply(list);
    } else if (reply instanceof GroupInfoReplyProto info) {
      return ClientProtoUtils.toGroupInfoReply(info);
    }
    return ClientProtoUtils.toRaftClientReply((RaftClientReplyProto) reply);
  }

  /** Returns the exception for which Ratis sends a request again; null if there is none. */
  private static @Nullable RaftException toRetry(RaftClientReply reply) {
    RaftException notLeader = reply.getNotLeaderException();
    return notLeader != null ? notLeader : reply.getLeaderNotReadyException();
  }

  private static IOException unwrapped(Throwable failure) {
    return IOUtils.asIOException(JavaUtils.unwrapCompletionException(failure));
  }

  @Override
  public void close() {
    try {
      super.close();
    } finally {
      thread.shutdown();
      lease.close();
    }
  }
}
