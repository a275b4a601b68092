// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.TlsTesting;
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

/** Runs all of gRPC's own interop tests over TLS. */
class TlsInteropSuiteTest {
  @BeforeAll
  static void open() {
    InteropSuite.open();
  }

  @AfterAll
  static void close() {
    InteropSuite.close();
  }

  @TestFactory
  Stream<DynamicTest> overTls() {
    return InteropSuite.tests(Tls.class);
  }

  /** Created by JUnit 4. Both ends present a certificate. */
  public static final class Tls extends InteropSuite {
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
