// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.verbena.AcceptDecision;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerRpcWithProxy;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.ConcurrentUtils;
import org.apache.ratis.util.JavaUtils;
import org.apache.ratis.util.MemoizedSupplier;
import org.apache.ratis.util.PeerProxyMap;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** The RPC of a Ratis server: listens for peers and clients, and calls peers. Thread-safe. */
final class VerbenaServerRpc extends RaftServerRpcWithProxy<PeerProxy, PeerProxyMap<PeerProxy>>
    implements RaftServerAsynchronousProtocol {
  /**
   * The injection point at which Ratis's own tests delay requests of a server, as in its other RPC
   * types.
   */
  static final String SEND_SERVER_REQUEST =
      JavaUtils.getClassSimpleName(VerbenaServerRpc.class) + ".sendServerRequest";

  private static final Logger LOG = LoggerFactory.getLogger(VerbenaServerRpc.class);

  private static final int OTHER_VERSION = 1;
  private static final long THREADS_KEPT_SECONDS = 60;

  private final TransportLease lease;
  private final MemoizedSupplier<PeerUri> addresses;
  private final RequestHandler handler;
  private final ThreadPoolExecutor threads;
  private final Set<RdmaConnection> connections = ConcurrentHashMap.newKeySet();
  private final @Nullable String host;
  private final int port;
  private final int mostRequests;
  private final TimeDuration requestTimeout;
  private volatile @Nullable RdmaServer listener;
  private volatile boolean closed;

  VerbenaServerRpc(RaftServer server, TransportLease lease) {
    this(server, server.getProperties(), lease, addresses(server.getProperties()));
  }

  private VerbenaServerRpc(
      RaftServer server,
      RaftProperties properties,
      TransportLease lease,
      MemoizedSupplier<PeerUri> addresses) {
    super(server::getId, id -> proxies(id, properties, lease, addresses));
    this.lease = lease;
    this.addresses = addresses;
    handler = new RequestHandler(server);
    host = VerbenaConfigKeys.Server.host(properties);
    port = VerbenaConfigKeys.Server.port(properties);
    mostRequests = VerbenaConfigKeys.Server.outstandingRequestsMax(properties);
    requestTimeout = RaftServerConfigKeys.Rpc.requestTimeout(properties);
    int most = VerbenaConfigKeys.Server.requestThreadsMax(properties);
    threads =
        new ThreadPoolExecutor(
            most,
            most,
            THREADS_KEPT_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            ConcurrentUtils.newThreadFactory("verbena-ratis-requests"));
    threads.allowCoreThreadTimeOut(true);
  }

  static MemoizedSupplier<PeerUri> addresses(RaftProperties properties) {
    return MemoizedSupplier.valueOf(() -> PeerUri.of(VerbenaConfigKeys.uri(properties)));
  }

  private static PeerProxyMap<PeerProxy> proxies(
      RaftPeerId id,
      RaftProperties properties,
      TransportLease lease,
      MemoizedSupplier<PeerUri> addresses) {
    int most = VerbenaConfigKeys.outstandingCallsMax(properties);
    return new PeerProxyMap<>(
        id.toString(), peer -> PeerProxy.of(peer, lease, addresses, id.toString(), most));
  }

  @Override
  public RpcType getRpcType() {
    return new VerbenaRpcType();
  }

  // ---- listen

  @Override
  public void startImpl() throws IOException {
    URI address = addresses.get().own(host, port);
    try {
      RdmaTransport transport = lease.get();
      int longest = transport.options().maxMessageSize();
      listener =
          transport
              .bind(
                  address,
                  request ->
                      Mono.just(
                          CallLayout.isHello(request.privateData())
                              ? AcceptDecision.accept()
                              : AcceptDecision.reject(
                                  OTHER_VERSION, "a Raft server of this version of the adapter")),
                  connection -> serve(connection, longest))
              .block();
    } catch (RdmaException e) {
      throw new IOException(getId() + ": cannot listen on " + address, e);
    }
  }

  private Mono<Void> serve(RdmaConnection connection, int longest) {
    connections.add(connection);
    connection
        .onClose()
        .subscribe(
            null, lost -> connections.remove(connection), () -> connections.remove(connection));
    if (closed) {
      // The connection was accepted before this server closed, and closeImpl may have missed it.
      connection.dispose();
      return Mono.never();
    }
    PeerRequests.serve(getId().toString(), connection, handler, threads, mostRequests, longest);
    // The peer closes the connection, or this server does.
    return Mono.never();
  }

  @Override
  public InetSocketAddress getInetSocketAddress() {
    RdmaServer listening = listener;
    int bound = listening == null ? port : listening.address().getPort();
    if (bound <= 0) {
      throw new IllegalStateException(getId() + ": not listening yet, so its port is not chosen");
    }
    return host == null ? new InetSocketAddress(bound) : new InetSocketAddress(host, bound);
  }

  @Override
  public void closeImpl() throws IOException {
    closed = true;
    RdmaServer listening = listener;
    try {
      if (listening != null) {
        listening.dispose();
      }
    } finally {
      // Ratis closes this only once, even if the HCA does not close its listener.
      closeOthers();
    }
  }

  private void closeOthers() throws IOException {
    for (RdmaConnection connection : connections) {
      connection.dispose();
    }
    try {
      super.closeImpl();
    } finally {
      threads.shutdown();
      lease.close();
    }
  }

  // ---- call

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    return (RequestVoteReplyProto)
        await(Operation.REQUEST_VOTE, request.getServerRequest(), request);
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    return (StartLeaderElectionReplyProto)
        await(Operation.START_LEADER_ELECTION, request.getServerRequest(), request);
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    return (AppendEntriesReplyProto)
        await(Operation.APPEND_ENTRIES, request.getServerRequest(), request);
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    return (InstallSnapshotReplyProto)
        await(Operation.INSTALL_SNAPSHOT, request.getServerRequest(), request);
  }

  private MessageLite await(Operation operation, RaftRpcRequestProto to, MessageLite request)
      throws IOException {
    return PeerProxy.await(
        call(operation, to, request, requestTimeout, Runnable::run), getId() + ": " + operation);
  }

  @Override
  public RaftServerAsynchronousProtocol async() {
    return this;
  }

  @Override
  public CompletableFuture<AppendEntriesReplyProto> appendEntriesAsync(
      AppendEntriesRequestProto request) throws IOException {
    return appendEntriesAsync(request, threads);
  }

  @Override
  public CompletableFuture<ReadIndexReplyProto> readIndexAsync(ReadIndexRequestProto request)
      throws IOException {
    return call(Operation.READ_INDEX, request.getServerRequest(), request, requestTimeout, threads)
        .thenApply(ReadIndexReplyProto.class::cast);
  }

  // ---- what a leader calls

  /** Returns the server's threads, which may block. */
  Executor threads() {
    return threads;
  }

  /** Sends an append, without waiting; actions that depend on the reply run in {@code executor}. */
  CompletableFuture<AppendEntriesReplyProto> appendEntriesAsync(
      AppendEntriesRequestProto request, Executor executor) throws IOException {
    return call(
            Operation.APPEND_ENTRIES, request.getServerRequest(), request, requestTimeout, executor)
        .thenApply(AppendEntriesReplyProto.class::cast);
  }

  /** Like {@link #installSnapshot}, without waiting; the reply comes on the completion loop. */
  CompletableFuture<InstallSnapshotReplyProto> installSnapshotAsync(
      InstallSnapshotRequestProto request, TimeDuration timeout) throws IOException {
    return call(
            Operation.INSTALL_SNAPSHOT, request.getServerRequest(), request, timeout, Runnable::run)
        .thenApply(InstallSnapshotReplyProto.class::cast);
  }

  private CompletableFuture<MessageLite> call(
      Operation operation,
      RaftRpcRequestProto to,
      MessageLite request,
      TimeDuration timeout,
      Executor executor)
      throws IOException {
    CodeInjectionForTesting.execute(SEND_SERVER_REQUEST, getId(), null, request);
    if (listener == null) {
      // Ratis may stand for election before it starts this RPC. A connection opened now would
      // choose the HCA by the peer's address, and the server could not listen on its own address.
      throw new ServerNotReadyException(getId() + ": not listening yet");
    }
    RaftPeerId peer = RaftPeerId.valueOf(to.getReplyId());
    PeerProxy proxy = getProxies().getProxy(peer);
    String tooLong = proxy.tooLong(request);
    if (tooLong != null) {
      LOG.warn(tooLong);
      return JavaUtils.completeExceptionally(new IOException(tooLong));
    }
    return proxy.call(operation, request, timeout, executor);
  }
}
