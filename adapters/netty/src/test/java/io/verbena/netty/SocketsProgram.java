// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A program that the tests load with another class loader. It takes the name of a {@link
 * SocketKind}, and returns its observations as strings.
 */
public final class SocketsProgram implements Function<String, List<String>> {
  /** This address has no provider, so all connections use TCP, or none succeeds. */
  private static final URI NO_HCA = URI.create("disni://127.0.0.1");

  /** Called by the test. */
  public SocketsProgram() {}

  /**
   * Exchanges some bytes over TCP.
   *
   * @return the class of the socket's channel; or the kind, message and cause of the refusal
   */
  @Override
  public List<String> apply(String kind) {
    RdmaSockets.Builder builder =
        RdmaSockets.builder(NO_HCA).loops(1).sockets(SocketKind.valueOf(kind));
    if (!SocketKind.valueOf(kind).isAvailable()) {
      // Without TCP the program needs an HCA, which does not exist here and is never opened.
      try (RdmaSockets unexpected = builder.build()) {
        return List.of("built", unexpected.toString());
      } catch (SocketsUnavailableException e) {
        return List.of(e.kind().name(), requireNonNull(e.getMessage()), named(e.getCause()));
      }
    }
    try (RdmaSockets sockets = builder.orTcp().build()) {
      Echo echo = new Echo();
      CountDownLatch exchanged = echo.await(20);
      Channel server =
          sockets
              .on(new ServerBootstrap())
              .childHandler(new Echo())
              .bind(Ends.anyPort())
              .syncUninterruptibly()
              .channel();
      AutoSocketChannel client =
          (AutoSocketChannel)
              sockets
                  .on(new Bootstrap())
                  .handler(echo)
                  .connect(server.localAddress())
                  .syncUninterruptibly()
                  .channel();
      Echo.start(client);
      if (!exchanged.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError(exchanged.getCount() + " messages are missing");
      }
      return List.of(requireNonNull(client.carrier()).getClass().getName());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static String named(Throwable cause) {
    return cause.getClass().getName();
  }
}
