// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.verbena.grpc.RdmaGrpc;
import io.verbena.netty.RdmaSockets;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/** A program that serves gRPC on Netty channels over RDMA until it is terminated. */
public final class GrpcServer {
  static final String READY = "serving gRPC at ";
  static final String ENDED = "call ended: ";

  /** Answers each message of bytes with a message of the same length. */
  static final MethodDescriptor<byte[], byte[]> ECHO =
      MethodDescriptor.newBuilder(new Bytes(), new Bytes())
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName(MethodDescriptor.generateFullMethodName("verbena.it.Echo", "Echo"))
          .build();

  private GrpcServer() {}

  /** Runs the program: the HCA's URI and the port. */
  public static void main(String[] args) throws IOException, InterruptedException {
    RdmaSockets sockets = RdmaSockets.builder(URI.create(args[0])).loops(2).build();
    ServerServiceDefinition service =
        ServerServiceDefinition.builder("verbena.it.Echo")
            .addMethod(ECHO, ServerCalls.asyncBidiStreamingCall(GrpcServer::echo))
            .build();
    Server server =
        RdmaGrpc.server(NettyServerBuilder.forPort(Integer.parseInt(args[1])), sockets)
            .addService(service)
            // With these an end that only waits for the other detects that it is dead.
            .keepAliveTime(1, TimeUnit.SECONDS)
            .permitKeepAliveTime(1, TimeUnit.SECONDS)
            .build()
            .start();
    System.out.println(READY + server.getPort());
    server.awaitTermination();
  }

  private static StreamObserver<byte[]> echo(StreamObserver<byte[]> answers) {
    return new StreamObserver<>() {
      @Override
      public void onNext(byte[] request) {
        answers.onNext(request);
      }

      @Override
      public void onError(Throwable failure) {
        System.out.println(ENDED + failure);
      }

      @Override
      public void onCompleted() {
        answers.onCompleted();
      }
    };
  }

  /** Marshals a message as its bytes. */
  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
