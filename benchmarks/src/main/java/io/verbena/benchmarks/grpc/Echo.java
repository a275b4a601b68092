// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;

/** Checks each request and answers it, on the thread of the server's call. */
final class Echo {
  private static final String SERVICE = "verbena.Echo";

  /** Its only method. */
  static final MethodDescriptor<byte[], byte[]> METHOD =
      MethodDescriptor.newBuilder(new Payload(), new Payload())
          .setType(MethodType.UNARY)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Echo"))
          .build();

  private final Line[] lines;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

  Echo(int lines, int size) {
    this.lines = new Line[lines];
    for (int i = 0; i < lines; i++) {
      this.lines[i] = new Line(i, size);
    }
  }

  ServerServiceDefinition service() {
    return ServerServiceDefinition.builder(SERVICE)
        .addMethod(METHOD, ServerCalls.asyncUnaryCall(this::answer))
        .build();
  }

  private void answer(byte[] request, StreamObserver<byte[]> answers) {
    Line line;
    try {
      line = lines[Line.of(request)];
      line.accept(request);
    } catch (RuntimeException e) {
      failure.complete(e);
      throw e;
    }
    answers.onNext(line.next());
    answers.onCompleted();
  }

  /**
   * Returns the first failed check of a request, once one has failed. gRPC does not report it to
   * clients.
   */
  CompletableFuture<Throwable> failure() {
    return failure;
  }
}
