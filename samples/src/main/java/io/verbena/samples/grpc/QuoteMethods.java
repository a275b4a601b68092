// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;

/** The service's methods, written by hand instead of generated from a {@code .proto} file. */
final class QuoteMethods {
  static final String SERVICE = "verbena.samples.Quotes";

  /** The method that returns one quote. */
  static final MethodDescriptor<Query, Quote> GET = method("Get", MethodType.UNARY);

  /** The method that returns a stream of quotes. */
  static final MethodDescriptor<Query, Quote> WATCH = method("Watch", MethodType.SERVER_STREAMING);

  private QuoteMethods() {}

  private static MethodDescriptor<Query, Quote> method(String name, MethodType type) {
    return MethodDescriptor.newBuilder(
            new Fields<>(Query::write, Query::read), new Fields<>(Quote::write, Quote::read))
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .build();
  }
}
