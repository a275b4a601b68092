// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Shows gRPC's builders. */
class GrpcTest {
  private static final int LIMIT = 30;
  private static final String NAME = "verbena.samples.Echo";
  private static final MethodDescriptor<String, String> ECHO =
      MethodDescriptor.newBuilder(new Text(), new Text())
          .setType(MethodType.UNARY)
          .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, "Echo"))
          .build();

  @Test
  void aCallIsAnswered() throws Exception {
    ServerServiceDefinition service =
        ServerServiceDefinition.builder(NAME)
            .addMethod(
                ECHO,
                ServerCalls.asyncUnaryCall(
                    (text, answer) -> {
                      answer.onNext(text);
                      answer.onCompleted();
                    }))
            .build();

    // snippet: grpc
    RdmaSockets sockets = RdmaSockets.create(URI.create("emulated://grpc"));
    Server server =
        RdmaGrpc.server(NettyServerBuilder.forPort(7000), sockets)
            .addService(service)
            .build()
            .start();
    ManagedChannel channel =
        RdmaGrpc.client(NettyChannelBuilder.forAddress("localhost", 7000), sockets)
            .usePlaintext()
            .build();
    // end

    CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(LIMIT, TimeUnit.SECONDS);
    assertThat(ClientCalls.blockingUnaryCall(channel, ECHO, options, "hello")).isEqualTo("hello");
    assertThat(channel.shutdownNow().awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
    assertThat(server.shutdownNow().awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
    sockets.close();
  }

  /** Marshals a message as text. */
  private static final class Text implements Marshaller<String> {
    @Override
    public InputStream stream(String value) {
      return new ByteArrayInputStream(value.getBytes(UTF_8));
    }

    @Override
    public String parse(InputStream stream) {
      try {
        return new String(stream.readAllBytes(), UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
