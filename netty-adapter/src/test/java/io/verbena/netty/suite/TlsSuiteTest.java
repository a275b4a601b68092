package io.verbena.netty.suite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketSslClientRenegotiateTest;
import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import io.netty.testsuite.transport.socket.SocketSslGreetingTest;
import io.netty.testsuite.transport.socket.SocketSslSessionReuseTest;
import io.netty.testsuite.transport.socket.SocketStartTlsTest;
import java.util.List;
import org.junit.jupiter.api.Nested;

/** Netty's own tests of TLS, on two RDMA channels. */
class TlsSuiteTest {
  @Nested
  class SocketSslClientRenegotiate extends SocketSslClientRenegotiateTest {
    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
      return Loops.both();
    }
  }

  @Nested
  class SocketSslEcho extends SocketSslEchoTest {
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
  }

  @Nested
  class SocketStartTls extends SocketStartTlsTest {
    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
      return Loops.both();
    }
  }
}
