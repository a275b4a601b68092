// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.verbena.core.testing.Addresses;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests TLS over the medium that a peer has. */
@Tag("once")
class AutoTlsTest {
  private final MultiThreadIoEventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(1, AutoIoHandler.newFactory(Addresses.of("netty")));

  @AfterEach
  void close() {
    loop.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @ParameterizedTest
  @ValueSource(classes = {AutoServerSocketChannel.class, NioServerSocketChannel.class})
  void encryptsBoth(Class<? extends ServerChannel> type) throws Exception {
    X509Bundle certificate =
        new CertificateBuilder()
            .subject("cn=localhost")
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    SslContext serverTls =
        SslContextBuilder.forServer(certificate.toKeyManagerFactory())
            .sslProvider(SslProvider.JDK)
            .build();
    SslContext clientTls =
        SslContextBuilder.forClient()
            .sslProvider(SslProvider.JDK)
            .trustManager(certificate.getCertificate())
            .endpointIdentificationAlgorithm(null)
            .build();
    Channel server =
        Ends.bindShared(
            new ServerBootstrap()
                .group(loop)
                .channel(type)
                .childHandler(
                    new ChannelInitializer<>() {
                      @Override
                      protected void initChannel(Channel channel) {
                        channel
                            .pipeline()
                            .addLast(serverTls.newHandler(channel.alloc()), new Echo());
                      }
                    }));
    Collector received = new Collector();
    Channel client =
        new Bootstrap()
            .group(loop)
            .channel(AutoSocketChannel.class)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Ends.LIMIT.toMillis())
            .option(RdmaChannelOption.RDMA_TIMEOUT_MILLIS, (int) Addresses.timeForRdma().toMillis())
            .handler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(clientTls.newHandler(channel.alloc()), received);
                  }
                })
            .connect(server.localAddress())
            .syncUninterruptibly()
            .channel();

    client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100_000])).syncUninterruptibly();

    await().atMost(Ends.LIMIT).until(() -> received.bytes() == 100_000);
    assertThat(client.attr(AutoSocketChannel.MEDIUM).get())
        .isEqualTo(
            type == NioServerSocketChannel.class ? AutoSocketChannel.TCP : Addresses.scheme());
  }
}
