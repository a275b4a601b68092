// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import io.grpc.netty.NettyChannelBuilder;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Runs all of gRPC's own interop tests without TLS. */
class InteropSuiteTest {
  @BeforeAll
  static void open() {
    InteropSuite.open();
  }

  @AfterAll
  static void close() {
    InteropSuite.close();
  }

  @TestFactory
  Stream<DynamicTest> inTheClear() {
    return InteropSuite.tests(Plain.class);
  }

  /** Created by JUnit 4. */
  public static final class Plain extends InteropSuite {
    @Override
    protected NettyChannelBuilder createChannelBuilder() {
      return super.createChannelBuilder().usePlaintext();
    }
  }
}
