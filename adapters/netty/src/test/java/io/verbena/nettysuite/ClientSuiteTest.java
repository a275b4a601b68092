// SPDX-License-Identifier: Apache-2.0
package io.verbena.nettysuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import io.netty.testsuite.transport.socket.SocketConnectionAttemptTest;
import io.netty.testsuite.transport.socket.WriteBeforeRegisteredTest;
import java.util.List;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Netty's own tests of a client channel, on an RDMA channel. */
class ClientSuiteTest {
  @Nested
  class SocketChannelNotYetConnected extends SocketChannelNotYetConnectedTest {
    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
      return Loops.clients();
    }

    @Override
    @Test
    @Disabled("its server is a NioServerSocketChannel")
    public void readMustBePendingUntilChannelIsActive(TestInfo test) {
      // See ConnectingTest.
    }
  }

  @Nested
  class SocketConnectionAttempt extends SocketConnectionAttemptTest {
    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
      return Loops.clients();
    }

    @Override
    @Test
    @Disabled("the address of no host: an emulated fabric knows at once that nobody listens there")
    public void testConnectCancellation(TestInfo test) {
      // See ConnectingTest.
    }
  }

  @Nested
  class WriteBeforeRegistered extends WriteBeforeRegisteredTest {
    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
      return Loops.clients();
    }
  }
}
