// SPDX-License-Identifier: Apache-2.0
package io.verbena.nettysuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketSslClientRenegotiateTest;
import io.netty.testsuite.transport.socket.SocketSslGreetingTest;
import io.netty.testsuite.transport.socket.SocketSslSessionReuseTest;
import io.netty.testsuite.transport.socket.SocketStartTlsTest;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Netty's own tests of TLS, on two RDMA channels. */
@Tag("once")
class TlsSuiteTest {
  @Nested
  class SocketSslClientRenegotiate extends SocketSslClientRenegotiateTest {
    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
      return Loops.both();
    }
  }

  @Nested
  class SocketSslGreeting extends SocketSslGreetingTest {
    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
      return Loops.both();
    }
  }

  @Nested
  class SocketSslSessionReuse extends SocketSslSessionReuseTest {
    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
      return Loops.both();
    }

    /** Uses only the JDK's TLS: OpenSSL needs a native library that the build does not have. */
    @Override
    @ParameterizedTest
    @MethodSource("io.netty.testsuite.transport.socket.SocketSslSessionReuseTest#jdkOnly")
    public void testSslSessionTrustManagerResumption(
        SslContextBuilder server, SslContextBuilder client, TestInfo test) throws Throwable {
      super.testSslSessionTrustManagerResumption(server, client, test);
    }
  }

  @Nested
  class SocketStartTls extends SocketStartTlsTest {
    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
      return Loops.both();
    }
  }
}
