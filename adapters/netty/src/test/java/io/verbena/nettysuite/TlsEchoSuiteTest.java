// SPDX-License-Identifier: Apache-2.0
package io.verbena.nettysuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.handler.ssl.SslContext;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketSslEchoTest;
import io.verbena.core.testing.Addresses;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Netty's own test of a TLS echo, on two RDMA channels. */
@Tag("once")
class TlsEchoSuiteTest extends SocketSslEchoTest {
  /** Few combinations on a slow HCA, as they differ in TLS and not in the channel. */
  private static final int FEW = 2;

  @Override
  protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
    return Loops.both();
  }

  static Stream<Object[]> variants() throws Exception {
    List<Object[]> all = List.copyOf(data());
    int step = Addresses.areEmulated() ? 1 : all.size() / FEW;
    return IntStream.iterate(0, i -> i < all.size(), i -> i + step).mapToObj(all::get);
  }

  @Override
  @ParameterizedTest
  @MethodSource("variants")
  public void testSslEcho(
      SslContext server,
      SslContext client,
      Renegotiation renegotiation,
      boolean serverDelegates,
      boolean clientDelegates,
      boolean autoRead,
      boolean chunked,
      boolean composite,
      TestInfo test)
      throws Throwable {
    super.testSslEcho(
        server,
        client,
        renegotiation,
        serverDelegates,
        clientDelegates,
        autoRead,
        chunked,
        composite,
        test);
  }
}
