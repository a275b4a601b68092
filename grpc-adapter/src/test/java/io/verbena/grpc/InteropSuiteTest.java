package io.verbena.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.TlsTesting;
import io.grpc.testing.integration.AbstractInteropTest;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.Test;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/**
 * gRPC's own interop tests over RDMA. They are of JUnit 4; here each is a test of JUnit's platform,
 * so that their buffers are watched as those of all other tests.
 */
class InteropSuiteTest {
  private static EventLoopGroup server;
  private static EventLoopGroup client;

  @BeforeAll
  static void open() {
    server = Loops.open("interop-server");
    client = Loops.open("interop-client");
  }

  @AfterAll
  static void close() {
    Loops.close(client);
    Loops.close(server);
  }

  @TestFactory
  Stream<DynamicTest> inTheClear() {
    return tests(Plain.class);
  }

  @TestFactory
  Stream<DynamicTest> overTls() {
    return tests(Tls.class);
  }

  private static Stream<DynamicTest> tests(Class<? extends AbstractInteropTest> suite) {
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

  /** Where a test's server listens; the suite keeps its own knowledge of it to itself. */
  private abstract static class Suite extends AbstractInteropTest {
    final int port = Loops.nextPort();

    @Override
    protected NettyServerBuilder getServerBuilder() {
      return RdmaGrpc.server(NettyServerBuilder.forPort(port), server)
          .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
          .maxInboundMessageSize(MAX_MESSAGE_SIZE);
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
  }

  /** Instantiated by JUnit 4. */
  public static final class Plain extends Suite {
    @Override
    protected NettyChannelBuilder createChannelBuilder() {
      return super.createChannelBuilder().usePlaintext();
    }
  }

  /** Instantiated by JUnit 4. Both ends show a certificate. */
  public static final class Tls extends Suite {
    @Override
    protected NettyServerBuilder getServerBuilder() {
      try {
        SslContext context =
            GrpcSslContexts.configure(
                    SslContextBuilder.forServer(
                        TlsTesting.loadCert("server1.pem"), TlsTesting.loadCert("server1.key")),
                    SslProvider.JDK)
                .clientAuth(ClientAuth.REQUIRE)
                .trustManager(TlsTesting.loadCert("ca.pem"))
                .build();
        return super.getServerBuilder().sslContext(context);
      } catch (IOException e) {
        throw new IllegalStateException("the suite's own certificates", e);
      }
    }

    @Override
    protected NettyChannelBuilder createChannelBuilder() {
      try {
        SslContext context =
            GrpcSslContexts.configure(SslContextBuilder.forClient(), SslProvider.JDK)
                .keyManager(TlsTesting.loadCert("client.pem"), TlsTesting.loadCert("client.key"))
                .trustManager(TlsTesting.loadCert("ca.pem"))
                .build();
        return super.createChannelBuilder()
            .overrideAuthority("foo.test.google.fr")
            .sslContext(context);
      } catch (IOException e) {
        throw new IllegalStateException("the suite's own certificates", e);
      }
    }

    @Test
    public void theServerKnowsTheClientByItsCertificate() {
      assertX500SubjectDn("CN=testclient, O=Internet Widgits Pty Ltd, ST=Some-State, C=AU");
    }
  }
}
