// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot.grpc;

import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An ordinary gRPC service without any RDMA code. */
@SpringBootApplication
class GrpcEchoService {
  private static final String SERVICE = "Echo";

  static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo");

  /** A method that answers when the test permits it. */
  static final MethodDescriptor<byte[], byte[]> WAIT = method("Wait");

  private static MethodDescriptor<byte[], byte[]> method(String name) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .setRequestMarshaller(new Bytes())
        .setResponseMarshaller(new Bytes())
        .build();
  }

  @Bean
  Waiting waiting() {
    return new Waiting();
  }

  @Bean
  BindableService echo(Waiting waiting) {
    return () ->
        ServerServiceDefinition.builder(SERVICE)
            .addMethod(ECHO, ServerCalls.asyncUnaryCall(GrpcEchoService::answer))
            .addMethod(
                WAIT,
                ServerCalls.asyncUnaryCall(
                    (request, answer) -> waiting.calls.add(() -> answer(request, answer))))
            .build();
  }

  private static void answer(byte[] request, StreamObserver<byte[]> answer) {
    answer.onNext(request);
    answer.onCompleted();
  }

  /** The calls that wait for their answers. */
  static final class Waiting {
    final BlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
  }

  /** Marshals a message as its bytes. */
  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream from) {
      try {
        return from.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
