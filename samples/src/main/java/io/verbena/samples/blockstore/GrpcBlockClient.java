// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A client of the store behind gRPC. Subclasses transfer the bytes of a block. */
abstract class GrpcBlockClient implements BlockClient {
  private final ManagedChannel channel;
  private final Duration limit;

  /**
   * @param channel owned by the client
   * @param limit the deadline of a call
   */
  GrpcBlockClient(ManagedChannel channel, Duration limit) {
    this.channel = channel;
    this.limit = limit;
  }

  @Override
  public Mono<List<BlockInfo>> list() {
    return call(GrpcMethods.LIST, new Request.ListBlocks())
        .cast(Reply.Listing.class)
        .single()
        .map(Reply.Listing::blocks);
  }

  @Override
  public Mono<BlockInfo> stat(String name) {
    return call(GrpcMethods.STAT, new Request.StatBlock(name))
        .cast(Reply.Status.class)
        .single()
        .map(Reply.Status::block);
  }

  @Override
  public Mono<Void> close() {
    return Mono.fromCallable(
            () -> channel.shutdown().awaitTermination(limit.toNanos(), TimeUnit.NANOSECONDS))
        .subscribeOn(Schedulers.boundedElastic())
        .then();
  }

  /**
   * Returns the answers of a call, for a subscriber that takes them as they come. Cancelling ends
   * the call.
   */
  final <T> Flux<T> call(MethodDescriptor<Request, T> method, Request request) {
    return Flux.push(
        sink -> {
          CallOptions options =
              CallOptions.DEFAULT.withDeadlineAfter(limit.toNanos(), TimeUnit.NANOSECONDS);
          ClientCall<Request, T> call = channel.newCall(method, options);
          sink.onCancel(() -> call.cancel("not wanted any more", null));
          ClientCalls.asyncServerStreamingCall(call, request, new Received<>(sink));
        });
  }

  private record Received<T>(FluxSink<T> sink) implements StreamObserver<T> {

    @Override
    public void onNext(T answer) {
      sink.next(answer);
    }

    @Override
    public void onError(Throwable failure) {
      Status status = Status.fromThrowable(failure);
      sink.error(
          status.getCode() == Status.Code.NOT_FOUND
              ? new RefusedException(
                  ErrorCode.UNKNOWN_BLOCK, String.valueOf(status.getDescription()))
              : failure);
    }

    @Override
    public void onCompleted() {
      sink.complete();
    }
  }
}
