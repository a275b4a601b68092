// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot.grpc;

import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A gRPC service as any other: nothing in it knows of RDMA. */
@SpringBootApplication
class GrpcEchoService {
  private static final String SERVICE = "Echo";

  static final MethodDescriptor<byte[], byte[]> ECHO =
      MethodDescriptor.<byte[], byte[]>newBuilder()
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "Echo"))
          .setRequestMarshaller(new Bytes())
          .setResponseMarshaller(new Bytes())
          .build();

  @Bean
  BindableService echo() {
    return () ->
        ServerServiceDefinition.builder(SERVICE)
            .addMethod(
                ECHO,
                ServerCalls.asyncUnaryCall(
                    (request, answer) -> {
                      answer.onNext(request);
                      answer.onCompleted();
                    }))
            .build();
  }

  /** Messages that are their own bytes. */
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
