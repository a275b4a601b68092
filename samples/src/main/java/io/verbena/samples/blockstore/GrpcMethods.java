// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.netty.buffer.ByteBuf;

/**
 * The methods of the store behind gRPC, with {@link BlockProtocol}'s messages, written by hand
 * instead of generated from a {@code .proto} file.
 */
final class GrpcMethods {
  static final String SERVICE = "verbena.samples.Blocks";

  private static final Marshaller<Request> REQUEST =
      new GrpcMessages<>(BlockProtocol::encode, BlockProtocol::decodeRequest);
  private static final Marshaller<Reply> REPLY =
      new GrpcMessages<>(BlockProtocol::encode, BlockProtocol::decodeReply);

  /** Every block: {@link Request.ListBlocks}, {@link Reply.Listing}. */
  static final MethodDescriptor<Request, Reply> LIST = method("List", MethodType.UNARY, REPLY);

  /** Describes one block: {@link Request.StatBlock}, {@link Reply.Status}. */
  static final MethodDescriptor<Request, Reply> STAT = method("Stat", MethodType.UNARY, REPLY);

  /**
   * Returns a token to read a block: {@link Request.LocateBlock}, {@link Reply.Location}. The call
   * stays open, and the token is valid until the call ends, for whatever reason.
   */
  static final MethodDescriptor<Request, Reply> LEASE =
      method("Lease", MethodType.SERVER_STREAMING, REPLY);

  /** A block's bytes: {@link Request.StreamBlock}, and then one piece after the other. */
  static final MethodDescriptor<Request, ByteBuf> CONTENT =
      method("Content", MethodType.SERVER_STREAMING, new GrpcPieces());

  private GrpcMethods() {}

  private static <T> MethodDescriptor<Request, T> method(
      String name, MethodType type, Marshaller<T> answers) {
    return MethodDescriptor.newBuilder(REQUEST, answers)
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .build();
  }
}
