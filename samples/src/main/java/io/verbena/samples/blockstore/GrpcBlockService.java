// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import java.util.PrimitiveIterator;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * The block store behind gRPC. A block's bytes are streamed; with an HCA, a client can instead
 * lease and read them. Never blocks.
 */
final class GrpcBlockService implements BindableService {
  private final BlockCatalog catalog;
  private final @Nullable Leases leases;

  /**
   * @param catalog its blocks, which outlive the server
   * @param leases null without an HCA
   */
  GrpcBlockService(BlockCatalog catalog, @Nullable Leases leases) {
    this.catalog = catalog;
    this.leases = leases;
  }

  @Override
  public ServerServiceDefinition bindService() {
    ServerServiceDefinition.Builder service =
        ServerServiceDefinition.builder(GrpcMethods.SERVICE)
            .addMethod(GrpcMethods.LIST, ServerCalls.asyncUnaryCall(this::list))
            .addMethod(GrpcMethods.STAT, ServerCalls.asyncUnaryCall(this::stat))
            .addMethod(GrpcMethods.CONTENT, ServerCalls.asyncServerStreamingCall(this::content));
    if (leases != null) {
      service.addMethod(
          GrpcMethods.LEASE,
          ServerCalls.asyncServerStreamingCall(
              (request, answers) -> lease(leases, request, answers)));
    }
    return service.build();
  }

  private void list(Request request, StreamObserver<Reply> answers) {
    answers.onNext(new Reply.Listing(catalog.list()));
    answers.onCompleted();
  }

  private void stat(Request request, StreamObserver<Reply> answers) {
    withBlock(
        ((Request.StatBlock) request).name(),
        answers,
        block -> {
          answers.onNext(new Reply.Status(block.info()));
          answers.onCompleted();
        });
  }

  private void content(Request request, StreamObserver<ByteBuf> answers) {
    Request.StreamBlock wanted = (Request.StreamBlock) request;
    int length = wanted.messageLength();
    if (length < 1 || length > Answers.MAX_MESSAGE_LENGTH) {
      String why =
          "message length: " + length + " (expected: 1.." + Answers.MAX_MESSAGE_LENGTH + ")";
      answers.onError(Status.INVALID_ARGUMENT.withDescription(why).asException());
      return;
    }
    withBlock(
        wanted.name(),
        answers,
        block -> send(block, length, (ServerCallStreamObserver<ByteBuf>) answers));
  }

  /** Sends at the pace at which the client reads; a call that has ended is never ready. */
  private static void send(Block block, int length, ServerCallStreamObserver<ByteBuf> call) {
    PrimitiveIterator.OfInt pieces = IntStream.range(0, block.messages(length)).iterator();
    call.setOnCancelHandler(() -> {});
    call.setOnReadyHandler(
        () -> {
          while (call.isReady()) {
            if (pieces.hasNext()) {
              call.onNext(block.piece(pieces.nextInt(), length));
            } else {
              call.onCompleted();
            }
          }
        });
  }

  /** Ends the lease with the call, for whatever reason the call ends. */
  private static void lease(Leases leases, Block block, StreamObserver<Reply> answers) {
    Disposable lease =
        leases.lease(block).subscribe(answers::onNext, e -> answers.onError(status(e)));
    ((ServerCallStreamObserver<Reply>) answers).setOnCancelHandler(lease::dispose);
  }

  private void lease(Leases leases, Request request, StreamObserver<Reply> answers) {
    String name = ((Request.LocateBlock) request).name();
    withBlock(name, answers, block -> lease(leases, block, answers));
  }

  private void withBlock(String name, StreamObserver<?> answers, Consumer<Block> action) {
    Block block;
    try {
      block = catalog.get(name);
    } catch (RefusedException e) {
      answers.onError(Status.NOT_FOUND.withDescription(e.reason()).asException());
      return;
    }
    action.accept(block);
  }

  private static StatusException status(Throwable failure) {
    Status status =
        failure instanceof MemoryLimitException ? Status.RESOURCE_EXHAUSTED : Status.INTERNAL;
    return status.withDescription(failure.getMessage()).withCause(failure).asException();
  }
}
