// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static java.lang.Integer.MAX_VALUE;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.verbena.HcaException;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectStreamException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.NotificationProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ReadException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.protocol.exceptions.ServerNotReadyException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.ProtoUtils;
import org.apache.ratis.util.TimeDuration;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.ArgumentCaptor;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Tests calls of a peer to a server; mocks take the place of Ratis. */
class CallTest {
  private static final TimeDuration LONG = TimeDuration.valueOf(30, TimeUnit.SECONDS);
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final TimeDuration SHORT = TimeDuration.valueOf(100, TimeUnit.MILLISECONDS);
  private static final int SHORT_MESSAGE = 64 << 10;
  private static final URI HCA = URI.create("emulated://calls");
  private static final RaftPeerId SERVER = RaftPeerId.valueOf("s0");
  private static final RaftGroupId GROUP = RaftGroupId.randomId();

  private final RaftServer server = mock(RaftServer.class);
  private final RdmaTransport transport = RdmaTransport.create();
  private @Nullable RdmaTransport limited;
  private VerbenaServerRpc rpc = newRpc(0);
  private URI address = URI.create("emulated://unknown:1");
  private PeerProxy peer = new PeerProxy(transport, address, "p", 1);

  private VerbenaServerRpc newRpc(int port) {
    return newRpc(port, new TransportLease(transport));
  }

  private VerbenaServerRpc newRpc(int port, TransportLease lease) {
    RaftProperties properties = new RaftProperties();
    VerbenaConfigKeys.setUri(properties, HCA);
    VerbenaConfigKeys.Server.setPort(properties, port);
    when(server.getId()).thenReturn(SERVER);
    when(server.getProperties()).thenReturn(properties);
    return new VerbenaServerRpc(server, lease);
  }

  @BeforeEach
  void start() throws IOException {
    rpc.start();
    address = URI.create(HCA + ":" + rpc.getInetSocketAddress().getPort());
    peer = new PeerProxy(transport, address, "c->s0", 4);
  }

  @AfterEach
  void close() throws IOException {
    peer.close();
    rpc.close();
    transport.dispose();
    if (limited != null) {
      limited.dispose();
    }
  }

  private CompletableFuture<MessageLite> vote(TimeDuration timeout) {
    return peer.call(
        Operation.REQUEST_VOTE,
        RequestVoteRequestProto.newBuilder().setCandidateTerm(7).build(),
        timeout,
        Runnable::run);
  }

  private CompletableFuture<MessageLite> append(TimeDuration timeout) {
    return append(timeout, Runnable::run);
  }

  private CompletableFuture<MessageLite> append(TimeDuration timeout, Executor executor) {
    return peer.call(
        Operation.APPEND_ENTRIES,
        AppendEntriesRequestProto.getDefaultInstance(),
        timeout,
        executor);
  }

  private static MessageLite await(CompletableFuture<MessageLite> call) throws IOException {
    return PeerProxy.await(call, "a call");
  }

  @Test
  void endsByTheReply() throws IOException {
    RequestVoteReplyProto granted = RequestVoteReplyProto.newBuilder().setTerm(7).build();
    when(server.requestVote(RequestVoteRequestProto.newBuilder().setCandidateTerm(7).build()))
        .thenReturn(granted);

    assertThat(await(vote(LONG))).isEqualTo(granted);
  }

  @Test
  void failsAsTheServerDoes() throws IOException {
    when(server.requestVote(any())).thenThrow(new ServerNotReadyException("not yet"));

    assertThatExceptionOfType(ServerNotReadyException.class)
        .isThrownBy(() -> await(vote(LONG)))
        .withMessage("not yet");
  }

  @Test
  void failsByAnErrorOfTheServer() throws IOException {
    when(server.requestVote(any())).thenThrow(new AssertionError("not so"));

    assertThat(vote(LONG))
        .failsWithin(SOON)
        .withThrowableThat()
        .withCauseInstanceOf(IOException.class)
        .withMessageContaining("not so");
  }

  /** Fails as an object of a class that its reader lacks. */
  private static final class Unreadable extends IOException {
    private static final long serialVersionUID = 1L;

    private Object readResolve() throws ObjectStreamException {
      throw new InvalidObjectException("not here");
    }
  }

  @Test
  void aFailureThatCannotBeReadEndsItsCallAlone() throws IOException {
    assertEndsItsCallAlone(new Unreadable());
  }

  /** Fails as an object that refers to a class that its reader lacks. */
  private static final class Unlinkable extends IOException {
    private static final long serialVersionUID = 1L;

    /** The number of reads that still succeed. */
    private static final AtomicInteger READABLE = new AtomicInteger();

    private Object readResolve() {
      if (READABLE.getAndDecrement() > 0) {
        return this;
      }
      throw new NoClassDefFoundError("not here");
    }
  }

  @Test
  void aFailureWithoutItsClassesEndsItsCallAlone() throws IOException {
    Unlinkable.READABLE.set(0);
    assertEndsItsCallAlone(new Unlinkable());
  }

  /** Fails as an object that is nested more deeply than its reader's stack permits. */
  private static final class TooDeep extends IOException {
    private static final long serialVersionUID = 1L;

    private Object readResolve() {
      throw new StackOverflowError("too deep");
    }
  }

  @Test
  void aFailureThatTakesTooMuchStackEndsItsCallAlone() throws IOException {
    assertEndsItsCallAlone(new TooDeep());
  }

  private void assertEndsItsCallAlone(IOException failure) throws IOException {
    when(server.appendEntriesAsync(any())).thenReturn(new CompletableFuture<>());
    when(server.requestVote(any())).thenThrow(failure);
    CompletableFuture<MessageLite> other = append(LONG);

    assertThat(vote(LONG))
        .failsWithin(SOON)
        .withThrowableThat()
        .withCauseInstanceOf(IOException.class)
        .withMessageContaining("a reply cannot be read");
    assertThat(other).isNotDone();
  }

  @Test
  void aReplyWithoutTheClassesOfItsExceptionEndsTheRequest() throws IOException {
    // Ratis itself reads what it writes at the server; this read must succeed.
    Unlinkable.READABLE.set(1);
    RaftClientRequest request = request(1);
    RaftClientReply reply =
        RaftClientReply.newBuilder()
            .setRequest(request)
            .setException(new ReadException(new Unlinkable()))
            .build();
    when(server.submitClientRequestAsync(any())).thenReturn(completedFuture(reply));

    try (VerbenaClientRpc client = newClient(new RaftProperties())) {
      assertThat(client.sendRequestAsync(request))
          .failsWithin(SOON)
          .withThrowableThat()
          .withCauseInstanceOf(IOException.class)
          .withMessageContaining("a reply cannot be read");
    }
  }

  @Test
  void aRequestToAnUnknownServerFailsAndThrowsNothing() throws IOException {
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .set(request(1))
            .setServerId(RaftPeerId.valueOf("gone"))
            .build();
    try (VerbenaClientRpc client = newClient(new RaftProperties())) {
      assertThat(client.sendRequestAsync(request)).failsWithin(SOON);
      assertThat(client.sendRequestAsyncUnordered(request)).failsWithin(SOON);
    }
  }

  @Test
  void aLookUpThatFailsIsTriedAgain() throws IOException {
    URI hca = URI.create("roce://nowhere.invalid");

    try (VerbenaClientRpc client = newClient(new RaftProperties(), hca)) {
      for (int n = 1; n < 3; n++) {
        assertThat(client.sendRequestAsync(request(n)))
            .failsWithin(SOON)
            .withThrowableThat()
            .withCauseInstanceOf(IOException.class)
            .withMessageContaining("nowhere.invalid");
      }
    }
  }

  private VerbenaClientRpc newClient(RaftProperties properties) {
    return newClient(properties, HCA);
  }

  private VerbenaClientRpc newClient(RaftProperties properties, URI hca) {
    return newClient(properties, hca, transport);
  }

  private VerbenaClientRpc newClient(RaftProperties properties, URI hca, RdmaTransport on) {
    VerbenaConfigKeys.setUri(properties, hca);
    VerbenaClientRpc client =
        new VerbenaClientRpc(ClientId.randomId(), properties, new TransportLease(on));
    client.addRaftPeers(List.of(raftPeer()));
    return client;
  }

  private RaftPeer raftPeer() {
    return RaftPeer.newBuilder().setId(SERVER).setAddress("localhost:" + address.getPort()).build();
  }

  @Test
  void failsWhereTheHcaRegistersNoMemory() {
    HcaException refused = new HcaException("allocate", null, null, "the HCA refused it", null);
    RdmaConnection connection = connection(refused);
    RdmaTransport refusing = mock(RdmaTransport.class);
    when(refusing.connect(any(), any())).thenReturn(Mono.just(connection));

    try (PeerProxy proxy = new PeerProxy(refusing, address, "c->s0", 4)) {
      CompletableFuture<MessageLite> call =
          proxy.call(
              Operation.REQUEST_VOTE,
              RequestVoteRequestProto.getDefaultInstance(),
              LONG,
              Runnable::run);

      assertThatExceptionOfType(SocketException.class)
          .isThrownBy(() -> await(call))
          .withMessageContainingAll("c->s0: cannot send", "the HCA refused it")
          .withCause(refused);
    }
  }

  @Test
  void aConnectionThatComesWhenTheServerHasClosedIsClosed() throws IOException {
    RdmaTransport other = mock(RdmaTransport.class);
    when(other.options()).thenReturn(RdmaOptions.builder().build());
    when(other.bind(any(), any(), any())).thenReturn(Mono.just(mock(RdmaServer.class)));
    ArgumentCaptor<Function<RdmaConnection, Publisher<Void>>> handler = ArgumentCaptor.captor();
    VerbenaServerRpc closing = newRpc(0, new TransportLease(other));
    closing.start();
    verify(other).bind(any(), any(), handler.capture());
    RdmaConnection late = connection(memoryIsFull());

    closing.close();
    Flux.from(handler.getValue().apply(late)).subscribe();

    verify(late).dispose();
    verify(late, never()).receive();
  }

  @Test
  void closesAllElseWhereTheListenerCannotBeClosed() throws IOException {
    RdmaServer listener = mock(RdmaServer.class);
    VerbsException failure = new VerbsException(VerbsError.IO, "the HCA does not close it");
    doThrow(failure).when(listener).dispose();
    RdmaTransport other = mock(RdmaTransport.class);
    when(other.options()).thenReturn(RdmaOptions.builder().build());
    when(other.bind(any(), any(), any())).thenReturn(Mono.just(listener));
    ArgumentCaptor<Function<RdmaConnection, Publisher<Void>>> handler = ArgumentCaptor.captor();
    TransportLease lease = new TransportLease(other);
    VerbenaServerRpc closing = newRpc(0, lease);
    closing.start();
    verify(other).bind(any(), any(), handler.capture());
    RdmaConnection served = connection(memoryIsFull());
    Flux.from(handler.getValue().apply(served)).subscribe();

    assertThatThrownBy(closing::close).isSameAs(failure);

    verify(served).dispose();
    assertThatIllegalStateException().isThrownBy(lease::get);
  }

  @Test
  void aConnectionWhoseRequestsNobodyWorksOnIsClosed() throws IOException {
    ByteBuf request = voteRequest();
    RdmaConnection connection = connection(memoryIsFull());
    when(connection.receive()).thenReturn(Flux.concat(Flux.just(request), Flux.never()));
    Executor closed =
        task -> {
          throw new RejectedExecutionException();
        };

    PeerRequests.serve("s0", connection, new RequestHandler(server), closed, 4, MAX_VALUE);

    verify(connection).dispose();
    assertThat(request.refCnt()).isZero();
  }

  @Test
  void aConnectionWhoseRequestsFindNoThreadIsClosed() throws IOException {
    ByteBuf request = voteRequest();
    RdmaConnection connection = connection(memoryIsFull());
    when(connection.receive()).thenReturn(Flux.concat(Flux.just(request), Flux.never()));
    Executor exhausted =
        task -> {
          throw new OutOfMemoryError("no thread");
        };

    assertThatThrownBy(
            () ->
                PeerRequests.serve(
                    "s0", connection, new RequestHandler(server), exhausted, 4, MAX_VALUE))
        .isInstanceOf(OutOfMemoryError.class);

    verify(connection).dispose();
    assertThat(request.refCnt()).isZero();
  }

  @Test
  void aConnectionIsClosedWhereNoReplyCanBeMade() throws IOException {
    RdmaConnection connection = connection(new OutOfMemoryError("no memory"));
    when(connection.receive()).thenReturn(Flux.concat(Flux.just(voteRequest()), Flux.never()));
    when(server.requestVote(any())).thenReturn(RequestVoteReplyProto.getDefaultInstance());

    PeerRequests.serve("s0", connection, new RequestHandler(server), Runnable::run, 4, MAX_VALUE);

    verify(connection).dispose();
  }

  @Test
  void repliesFromOtherMemoryWhereRegisteredMemoryIsFull() throws IOException {
    RdmaConnection connection = connection(memoryIsFull());
    when(connection.receive())
        .thenReturn(Flux.concat(Flux.just(voteRequest(), voteRequest()), Flux.never()));
    List<ByteBuf> sent = new ArrayList<>();
    when(connection.send(any()))
        .then(
            send -> {
              Flux.from(send.<Publisher<ByteBuf>>getArgument(0)).subscribe(sent::add);
              return Mono.never();
            });
    when(server.requestVote(any()))
        .thenReturn(RequestVoteReplyProto.getDefaultInstance())
        .thenThrow(new ServerNotReadyException("not yet"));

    PeerRequests.serve("s0", connection, new RequestHandler(server), Runnable::run, 4, MAX_VALUE);

    assertThat(sent)
        .extracting(CallLayout::kind)
        .containsExactly(CallLayout.REPLY, CallLayout.FAILURE);
    verify(connection, never()).dispose();
    sent.forEach(ByteBuf::release);
  }

  private static ByteBuf voteRequest() throws IOException {
    return CallLayout.message(
        PooledByteBufAllocator.DEFAULT,
        CallLayout.REQUEST,
        Operation.REQUEST_VOTE.code(),
        0,
        1,
        RequestVoteRequestProto.getDefaultInstance());
  }

  private static MemoryLimitException memoryIsFull() {
    return new MemoryLimitException("allocate", null, "no memory");
  }

  /** Returns an open connection without messages, whose allocator throws {@code failure}. */
  private static RdmaConnection connection(Throwable failure) {
    ByteBufAllocator allocator = mock(ByteBufAllocator.class);
    when(allocator.directBuffer(anyInt())).thenThrow(failure);
    RdmaMemory memory = mock(RdmaMemory.class);
    when(memory.allocator()).thenReturn(allocator);
    RdmaConnection connection = mock(RdmaConnection.class);
    when(connection.memory()).thenReturn(memory);
    when(connection.onClose()).thenReturn(Mono.never());
    when(connection.send(any())).thenReturn(Mono.never());
    when(connection.receive()).thenReturn(Flux.never());
    return connection;
  }

  @Test
  void failsAtItsDeadlineAndLeavesTheConnection() throws IOException {
    CompletableFuture<AppendEntriesReplyProto> later = new CompletableFuture<>();
    when(server.appendEntriesAsync(any())).thenReturn(later);
    when(server.requestVote(any())).thenReturn(RequestVoteReplyProto.getDefaultInstance());

    assertThatExceptionOfType(TimeoutIOException.class)
        .isThrownBy(() -> await(append(SHORT)))
        .withMessage("c->s0: no reply to APPEND_ENTRIES within its time");

    later.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(await(vote(LONG))).isEqualTo(RequestVoteReplyProto.getDefaultInstance());
  }

  @Test
  void aPeerThatTakesNothingHoldsNoMessageOfACallThatHasEnded() throws IOException {
    List<ByteBuf> messages = new CopyOnWriteArrayList<>();
    RdmaConnection connection = connection(messages);
    RdmaTransport deaf = mock(RdmaTransport.class);
    when(deaf.connect(any(), any())).thenReturn(Mono.just(connection));

    try (PeerProxy proxy = new PeerProxy(deaf, address, "c->s0", 4)) {
      for (int n = 0; n < 3; n++) {
        CompletableFuture<MessageLite> call =
            proxy.call(
                Operation.REQUEST_VOTE,
                RequestVoteRequestProto.getDefaultInstance(),
                SHORT,
                Runnable::run);
        assertThatExceptionOfType(TimeoutIOException.class).isThrownBy(() -> await(call));
      }

      assertThat(messages).hasSize(3);
      Awaitility.await()
          .atMost(SOON)
          .until(() -> messages.stream().allMatch(message -> message.refCnt() == 0));
    }
  }

  @Test
  void asksForAnotherRequestOnlyWhenThePeerHasTakenAReply() throws IOException {
    int most = 4;
    RdmaConnection connection = connection(new ArrayList<>());
    AtomicLong asked = new AtomicLong();
    ByteBuf request = voteRequest();
    when(connection.receive())
        .thenReturn(
            Flux.<ByteBuf>generate(sink -> sink.next(request.retain()))
                .doOnRequest(asked::addAndGet));
    AtomicReference<BaseSubscriber<ByteBuf>> peer = new AtomicReference<>();
    when(connection.send(any())).then(send -> subscribed(send.getArgument(0), peer));
    when(server.requestVote(any())).thenReturn(RequestVoteReplyProto.getDefaultInstance());

    PeerRequests.serve(
        "s0", connection, new RequestHandler(server), Runnable::run, most, MAX_VALUE);

    assertThat(asked).hasValue(most);
    requireNonNull(peer.get()).request(3);
    assertThat(asked).hasValue(most + 3);
    requireNonNull(peer.get()).cancel();
    request.release();
  }

  /** Subscribes as a send whose peer has no credit; the test requests messages later. */
  private static Mono<Void> subscribed(
      Publisher<ByteBuf> messages, AtomicReference<BaseSubscriber<ByteBuf>> into) {
    BaseSubscriber<ByteBuf> subscriber =
        new BaseSubscriber<>() {
          @Override
          protected void hookOnSubscribe(Subscription subscription) {
            // The test requests.
          }

          @Override
          protected void hookOnNext(ByteBuf message) {
            message.release();
          }
        };
    into.set(subscriber);
    messages.subscribe(subscriber);
    return Mono.never();
  }

  /** Returns an open connection without messages, which records the buffers that it allocates. */
  private static RdmaConnection connection(List<ByteBuf> allocated) {
    RdmaConnection connection = connection(memoryIsFull());
    ByteBufAllocator allocator = connection.memory().allocator();
    doAnswer(
            call -> {
              ByteBuf message = PooledByteBufAllocator.DEFAULT.directBuffer(call.getArgument(0));
              allocated.add(message);
              return message;
            })
        .when(allocator)
        .directBuffer(anyInt());
    return connection;
  }

  @Test
  void callsEndAtTheirDeadlineWhereThereIsNoThreadForTheirEnd() throws IOException {
    when(server.appendEntriesAsync(any())).thenReturn(new CompletableFuture<>());
    Executor exhausted =
        task -> {
          throw new OutOfMemoryError("no thread");
        };

    for (int i = 0; i < 2; i++) {
      assertThat(append(SHORT, exhausted))
          .failsWithin(SOON)
          .withThrowableThat()
          .withCauseInstanceOf(TimeoutIOException.class);
    }
  }

  @Test
  void failsBeyondTheCallsInFlight() throws IOException {
    when(server.appendEntriesAsync(any())).thenReturn(new CompletableFuture<>());
    List<CompletableFuture<MessageLite>> flying =
        Stream.generate(() -> append(LONG)).limit(4).toList();

    assertThatExceptionOfType(ResourceUnavailableException.class)
        .isThrownBy(() -> await(append(LONG)))
        .withMessageContaining("(expected: < 4, raft.verbena.outstanding-calls.max)");
    assertThat(flying).noneMatch(CompletableFuture::isDone);
  }

  @Test
  void aRequestThatIsTooLongFailsAlone() throws IOException {
    CompletableFuture<RaftClientReply> first = new CompletableFuture<>();
    when(server.submitClientRequestAsync(any())).thenReturn(first);
    RaftClientRequest tooLong =
        RaftClientRequest.newBuilder()
            .set(request(2, false))
            .setMessage(Message.valueOf(ByteString.copyFrom(new byte[2 * SHORT_MESSAGE])))
            .build();

    try (VerbenaClientRpc client = newClient(new RaftProperties(), HCA, limited())) {
      CompletableFuture<RaftClientReply> open = client.sendRequestAsync(request(1, true));
      for (CompletableFuture<RaftClientReply> each :
          List.of(client.sendRequestAsync(tooLong), client.sendRequestAsyncUnordered(tooLong))) {
        assertThat(each)
            .failsWithin(SOON)
            .withThrowableThat()
            .withCauseInstanceOf(IllegalArgumentException.class)
            .withMessageContaining("(expected: <= 65536, RdmaOptions.maxMessageSize)");
      }
      assertThatIllegalArgumentException().isThrownBy(() -> client.sendRequest(tooLong));
      assertThat(open).isNotDone();
      first.complete(success());
      assertThat(open).succeedsWithin(SOON);
    }
  }

  @Test
  void aCallOfAPeerThatIsTooLongFailsAlone() throws IOException {
    CompletableFuture<AppendEntriesReplyProto> first = new CompletableFuture<>();
    when(server.appendEntriesAsync(any())).thenReturn(first);
    VerbenaServerRpc leader = newRpc(0, new TransportLease(limited()));
    leader.start();
    leader.addRaftPeers(List.of(raftPeer()));
    AppendEntriesRequestProto.Builder append =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(RaftRpcRequestProto.newBuilder().setReplyId(SERVER.toByteString()));

    CompletableFuture<AppendEntriesReplyProto> open = leader.appendEntriesAsync(append.build());
    append.addEntries(
        LogEntryProto.newBuilder()
            .setStateMachineLogEntry(
                StateMachineLogEntryProto.newBuilder()
                    .setLogData(ByteString.copyFrom(new byte[2 * SHORT_MESSAGE]))));

    assertThat(leader.appendEntriesAsync(append.build()))
        .failsWithin(SOON)
        .withThrowableThat()
        .withMessageContaining("(expected: <= 65536, RdmaOptions.maxMessageSize)");
    assertThat(open).isNotDone();
    first.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(open).succeedsWithin(SOON);
    leader.close();
  }

  @Test
  void aReplyThatIsTooLongFailsItsCallAlone() throws IOException {
    CompletableFuture<AppendEntriesReplyProto> first = new CompletableFuture<>();
    when(server.appendEntriesAsync(any())).thenReturn(first);
    when(server.requestVote(any()))
        .thenReturn(
            RequestVoteReplyProto.newBuilder()
                .setServerReply(
                    RaftRpcReplyProto.newBuilder()
                        .setRequestorId(ByteString.copyFrom(new byte[2 * SHORT_MESSAGE])))
                .build());
    limited();
    CompletableFuture<MessageLite> open = append(LONG);

    assertThat(vote(LONG))
        .failsWithin(SOON)
        .withThrowableThat()
        .withMessageContaining("(expected: <= 65536, RdmaOptions.maxMessageSize)");
    first.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(open).succeedsWithin(SOON);
  }

  @Test
  void aFailureThatIsTooLongFailsItsCallAlone() throws IOException {
    CompletableFuture<AppendEntriesReplyProto> first = new CompletableFuture<>();
    when(server.appendEntriesAsync(any())).thenReturn(first);
    when(server.requestVote(any())).thenThrow(new IOException("x".repeat(2 * SHORT_MESSAGE)));
    limited();
    CompletableFuture<MessageLite> open = append(LONG);

    assertThat(vote(LONG))
        .failsWithin(SOON)
        .withThrowableThat()
        .withMessageContaining("java.io.IOException of ")
        .withMessageContaining("(expected: <= 65536, RdmaOptions.maxMessageSize)");
    first.complete(AppendEntriesReplyProto.getDefaultInstance());
    assertThat(open).succeedsWithin(SOON);
  }

  /**
   * Restarts the server on a transport with a short maximum message size, and returns the
   * transport.
   */
  private RdmaTransport limited() throws IOException {
    rpc.close();
    limited = RdmaTransport.create(RdmaOptions.builder().maxMessageSize(SHORT_MESSAGE).build());
    rpc = newRpc(address.getPort(), new TransportLease(limited));
    rpc.start();
    return limited;
  }

  @Test
  void failsWhereNobodyListens() throws IOException {
    rpc.close();

    assertThatExceptionOfType(ConnectException.class)
        .isThrownBy(() -> await(vote(LONG)))
        .withMessage("c->s0: cannot connect to " + address);
  }

  @Test
  void failsWithItsConnectionAndTheNextConnectsAgain() throws IOException {
    CompletableFuture<Void> there = new CompletableFuture<>();
    when(server.appendEntriesAsync(any()))
        .then(
            request -> {
              there.complete(null);
              return new CompletableFuture<>();
            });
    CompletableFuture<MessageLite> lost = append(LONG);
    there.join();

    rpc.close();

    assertThatExceptionOfType(SocketException.class).isThrownBy(() -> await(lost));
    when(server.requestVote(any())).thenReturn(RequestVoteReplyProto.getDefaultInstance());
    rpc = newRpc(address.getPort());
    rpc.start();
    assertThat(await(vote(LONG))).isEqualTo(RequestVoteReplyProto.getDefaultInstance());
  }

  @Test
  void failsWhenThisEndCloses() throws IOException {
    when(server.appendEntriesAsync(any())).thenReturn(new CompletableFuture<>());
    CompletableFuture<MessageLite> open = append(LONG);

    peer.close();
    peer.close();

    assertThatExceptionOfType(SocketException.class).isThrownBy(() -> await(open));
    assertThatExceptionOfType(SocketException.class).isThrownBy(() -> await(append(LONG)));
  }

  /** Otherwise the peer's address would select the HCA on which the server listens later. */
  @Test
  void aServerThatDoesNotListenYetCallsNobody() throws IOException {
    VerbenaServerRpc early = newRpc(0);

    assertThatExceptionOfType(ServerNotReadyException.class)
        .isThrownBy(() -> early.requestVote(RequestVoteRequestProto.getDefaultInstance()));
    early.close();
  }

  @Test
  void aStreamEndsWithTheRequestThatFails() throws IOException {
    when(server.submitClientRequestAsync(any())).thenReturn(completedFuture(notLeader()));
    await(ordered(request(1, true)));

    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> await(ordered(request(2, false))))
        .withMessageContaining("a request before this one has failed");
    verify(server, times(1)).submitClientRequestAsync(any());
    await(ordered(request(2, true)));
    verify(server, times(2)).submitClientRequestAsync(any());
  }

  @Test
  void aFailedStreamDoesNotGoOnWhenAnOlderOneFails() throws IOException {
    CompletableFuture<RaftClientReply> older = new CompletableFuture<>();
    CompletableFuture<RaftClientReply> newer = new CompletableFuture<>();
    when(server.submitClientRequestAsync(any())).thenReturn(older).thenReturn(newer);
    Sinks.Many<ByteBuf> requests = Sinks.many().unicast().onBackpressureBuffer();
    RdmaConnection connection = connection(new ArrayList<>());
    when(connection.receive()).thenReturn(requests.asFlux());
    PeerRequests.serve("s0", connection, new RequestHandler(server), Runnable::run, 4, MAX_VALUE);
    requests.tryEmitNext(orderedMessage(0)).orThrow();
    requests.tryEmitNext(orderedMessage(1)).orThrow();

    newer.complete(notLeader());
    older.complete(notLeader());
    requests.tryEmitNext(orderedMessage(1)).orThrow();

    verify(server, times(2)).submitClientRequestAsync(any());
  }

  private static ByteBuf orderedMessage(int stream) throws IOException {
    return CallLayout.message(
        PooledByteBufAllocator.DEFAULT,
        CallLayout.REQUEST,
        Operation.ORDERED.code(),
        stream,
        1,
        ClientProtoUtils.toRaftClientRequestProto(request(1)));
  }

  @Test
  void aRequestDoesNotOvertakeOneThatFoundNoRoom() throws IOException {
    CompletableFuture<RaftClientReply> first = new CompletableFuture<>();
    when(server.submitClientRequestAsync(any()))
        .thenReturn(first)
        .thenReturn(completedFuture(success()));
    RaftProperties properties = new RaftProperties();
    VerbenaConfigKeys.setOutstandingCallsMax(properties, 1);

    try (VerbenaClientRpc client = newClient(properties)) {
      CompletableFuture<RaftClientReply> open = client.sendRequestAsync(request(1, true));
      assertUnavailable(client.sendRequestAsync(request(2, false)));
      first.complete(success());
      assertThat(open).succeedsWithin(SOON);

      assertUnavailable(client.sendRequestAsync(request(3, false)));
      verify(server, times(1)).submitClientRequestAsync(any());
      assertThat(client.sendRequestAsync(request(2, true))).succeedsWithin(SOON);
      assertThat(client.sendRequestAsync(request(3, false))).succeedsWithin(SOON);
    }
  }

  @Test
  void aRequestDoesNotOvertakeOneThatWasLostWithItsConnection() throws IOException {
    CompletableFuture<Void> there = new CompletableFuture<>();
    when(server.submitClientRequestAsync(any()))
        .then(
            request -> {
              there.complete(null);
              return new CompletableFuture<>();
            })
        .thenReturn(completedFuture(success()));

    try (VerbenaClientRpc client = newClient(new RaftProperties())) {
      CompletableFuture<RaftClientReply> lost = client.sendRequestAsync(request(1, true));
      there.join();
      rpc.close();
      assertThat(lost).failsWithin(SOON);
      rpc = newRpc(address.getPort());
      rpc.start();

      assertUnavailable(client.sendRequestAsync(request(2, false)));
      verify(server, times(1)).submitClientRequestAsync(any());
      assertThat(client.sendRequestAsync(request(1, true))).succeedsWithin(SOON);
      assertThat(client.sendRequestAsync(request(2, false))).succeedsWithin(SOON);
    }
  }

  private static void assertUnavailable(CompletableFuture<RaftClientReply> reply) {
    assertThat(reply)
        .failsWithin(SOON)
        .withThrowableThat()
        .withCauseInstanceOf(ResourceUnavailableException.class);
  }

  /** The request fails before Ratis knows, as the program may block Ratis's thread for replies. */
  @Test
  void aRequestDoesNotOvertakeOneThatWasNotSentInItsTime() {
    List<ByteBuf> messages = new CopyOnWriteArrayList<>();
    RdmaConnection connection = connection(messages);
    AtomicReference<BaseSubscriber<ByteBuf>> taker = new AtomicReference<>();
    AtomicInteger taken = new AtomicInteger();
    when(connection.send(any()))
        .then(
            send -> {
              Publisher<ByteBuf> queue = send.getArgument(0);
              return subscribed(
                  Flux.from(queue).doOnNext(message -> taken.incrementAndGet()), taker);
            });
    RdmaTransport slow = mock(RdmaTransport.class);
    when(slow.connect(any(), any())).thenReturn(Mono.just(connection));
    Queue<Runnable> held = new ConcurrentLinkedQueue<>();

    try (PeerProxy proxy = new PeerProxy(slow, address, "c->s0", 4)) {
      CompletableFuture<MessageLite> late =
          proxy.callInOrder(encoded(request(1, true)), SHORT, held::add);
      CompletableFuture<MessageLite> behind =
          proxy.callInOrder(encoded(request(2, false)), LONG, held::add);
      Awaitility.await()
          .atMost(SOON)
          .until(() -> messages.stream().allMatch(message -> message.refCnt() == 0));
      CompletableFuture<MessageLite> later =
          proxy.callInOrder(encoded(request(3, false)), LONG, Runnable::run);
      requireNonNull(taker.get()).request(4);

      assertThat(taken).hasValue(0);
      assertThat(later).isCompletedExceptionally();
      held.forEach(Runnable::run);
      assertThat(List.of(late, behind)).allMatch(CompletableFuture::isCompletedExceptionally);
    }
  }

  private CompletableFuture<MessageLite> ordered(RaftClientRequest request) {
    return peer.callInOrder(encoded(request), LONG, Runnable::run);
  }

  private static RaftClientRequestProto encoded(RaftClientRequest request) {
    return ClientProtoUtils.toRaftClientRequestProto(request);
  }

  private static RaftClientReply success() {
    return RaftClientReply.newBuilder().setRequest(request(1)).setSuccess().build();
  }

  private static RaftClientReply notLeader() {
    return RaftClientReply.newBuilder()
        .setRequest(request(1))
        .setException(new NotLeaderException(RaftGroupMemberId.valueOf(SERVER, GROUP), null, null))
        .build();
  }

  /** Returns the request with this number of a window of Ratis's client. */
  private static RaftClientRequest request(long number, boolean isFirst) {
    return RaftClientRequest.newBuilder()
        .set(request(number))
        .setSlidingWindowEntry(ProtoUtils.toSlidingWindowEntry(number, isFirst))
        .build();
  }

  private static RaftClientRequest request(long call) {
    return RaftClientRequest.newBuilder()
        .setClientId(ClientId.randomId())
        .setServerId(SERVER)
        .setGroupId(GROUP)
        .setCallId(call)
        .setMessage(Message.valueOf("m"))
        .setType(RaftClientRequest.writeRequestType())
        .build();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRequestToInstallASnapshotOutlivesItsMessage(boolean isChunk) throws IOException {
    Queue<InstallSnapshotRequestProto> kept = new ConcurrentLinkedQueue<>();
    Queue<String> data = new ConcurrentLinkedQueue<>();
    when(server.installSnapshot(any()))
        .then(
            call -> {
              InstallSnapshotRequestProto request = call.getArgument(0);
              kept.add(request);
              request
                  .getSnapshotChunk()
                  .getFileChunksList()
                  .forEach(chunk -> data.add(chunk.getData().toStringUtf8()));
              return InstallSnapshotReplyProto.getDefaultInstance();
            });

    install("leader-1", isChunk);
    // Enough messages to arrive in each of the receive frames.
    for (int n = 0; n < 2000; n++) {
      install("XXXXXXXX", isChunk);
    }

    InstallSnapshotRequestProto first = kept.element();
    assertThat(first.getServerRequest().getRequestorId().toStringUtf8()).isEqualTo("leader-1");
    assertThat(
            first
                .getLastRaftConfigurationLogEntryProto()
                .getConfigurationEntry()
                .getPeers(0)
                .getId()
                .toStringUtf8())
        .isEqualTo("leader-1");
    assertThat(first.hasSnapshotChunk()).isEqualTo(isChunk);
    assertThat(first.hasNotification()).isNotEqualTo(isChunk);
    if (isChunk) {
      assertThat(data).startsWith("leader-1", "XXXXXXXX").hasSize(2001);
    }
  }

  private void install(String leader, boolean isChunk) throws IOException {
    ByteString id = ByteString.copyFromUtf8(leader);
    RaftConfigurationProto configuration =
        RaftConfigurationProto.newBuilder().addPeers(RaftPeerProto.newBuilder().setId(id)).build();
    InstallSnapshotRequestProto.Builder request =
        InstallSnapshotRequestProto.newBuilder()
            .setServerRequest(RaftRpcRequestProto.newBuilder().setRequestorId(id))
            .setLastRaftConfigurationLogEntryProto(
                LogEntryProto.newBuilder().setConfigurationEntry(configuration));
    if (isChunk) {
      request.setSnapshotChunk(
          SnapshotChunkProto.newBuilder().addFileChunks(FileChunkProto.newBuilder().setData(id)));
    } else {
      request.setNotification(NotificationProto.getDefaultInstance());
    }
    await(peer.call(Operation.INSTALL_SNAPSHOT, request.build(), LONG, Runnable::run));
  }

  @Test
  void aServerRefusesWhoSaysSomethingElse() throws IOException {
    assertThatExceptionOfType(RdmaConnectException.class)
        .isThrownBy(() -> transport.connect(address).block())
        .withMessageContaining("a Raft server of this version of the adapter");
    verify(server, never()).requestVote(any());
  }

  @Test
  void ratisFindsTheTypeByItsName() {
    assertThat(RpcType.valueOf("io.verbena.ratis.VerbenaRpcType"))
        .isEqualTo(new VerbenaRpcType())
        .hasToString("io.verbena.ratis.VerbenaRpcType");
  }
}
