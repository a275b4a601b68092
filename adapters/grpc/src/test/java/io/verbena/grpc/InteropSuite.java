// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.grpc.ClientInterceptor;
import io.grpc.ServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSockets;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/**
 * gRPC's own interop tests over RDMA. They are JUnit 4 tests; here each runs as a test of the JUnit
 * Platform, so that leaks of buffers are detected as in all other tests. JUnit 4 creates an
 * instance for each test, so the event loops are static.
 */
abstract class InteropSuite extends AbstractInteropTest {
  private static RdmaSockets server;
  private static RdmaSockets client;

  /** The port of a test's server; the suite's own field for it is private. */
  private final int port = Loops.nextPort();

  private final ServerStreams streams = new ServerStreams();

  static void open() {
    server = Loops.open();
    client = Loops.open();
  }

  static void close() {
    Loops.close(client);
    Loops.close(server);
  }

  /** Returns each test of a suite; they run between {@link #open} and {@link #close}. */
  static Stream<DynamicTest> tests(Class<? extends InteropSuite> suite) {
    return Request.aClass(suite).getRunner().getDescription().getChildren().stream()
        .map(test -> dynamicTest(test.getMethodName(), () -> run(suite, test)));
  }

  private static void run(Class<?> suite, Description test) throws Throwable {
    Result result = new JUnitCore().run(Request.aClass(suite).filterWith(test));
    for (Failure failure : result.getFailures()) {
      throw failure.getException();
    }
    if (result.getIgnoreCount() + result.getAssumptionFailureCount() > 0) {
      abort("the suite itself leaves it out here");
    }
    assertThat(result.getRunCount()).isEqualTo(1);
  }

  @Override
  protected NettyServerBuilder getServerBuilder() {
    return RdmaGrpc.server(NettyServerBuilder.forPort(port), server)
        .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
        .maxInboundMessageSize(MAX_MESSAGE_SIZE);
  }

  /** Counts the streams after the suite's own tracer, which learns of each end first. */
  @Override
  protected void startServer(ServerBuilder<?> builder) {
    super.startServer(builder.addStreamTracerFactory(streams));
  }

  @Override
  protected ClientInterceptor[] getAdditionalInterceptors() {
    return new ClientInterceptor[] {streams};
  }

  @Override
  protected NettyChannelBuilder createChannelBuilder() {
    return RdmaGrpc.client(NettyChannelBuilder.forAddress("localhost", port), client)
        .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
        .maxInboundMessageSize(MAX_MESSAGE_SIZE);
  }

  @Override
  protected boolean metricsExpected() {
    return false;
  }

  @Override
  protected int operationTimeoutMillis() {
    return (int) Addresses.within(Duration.ofMillis(super.operationTimeoutMillis())).toMillis();
  }
}
