// SPDX-License-Identifier: Apache-2.0
package io.verbena.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.testing.Addresses;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import java.net.BindException;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests Vert.x servers and clients whose only RDMA code is the creation of their Vert.x. */
class ProgramsTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));
  private static final String HOST = "localhost";
  private static final int LARGE = 20 << 20;

  private final Vertx vertx = build();

  /** A field, as Vert.x closes clients that are unreachable. */
  private final NetClient netClient = vertx.createNetClient();

  private final List<Object> clients = new ArrayList<>();

  private static Vertx build() {
    return Vertx.builder()
        .withTransport(
            RdmaVertxTransport.create(
                Addresses.of("vertx"),
                RdmaOptions.builder()
                    .pollMode(PollMode.EVENT)
                    .eagerSize(16 << 10)
                    .receiveDepth(32)
                    .sendDepth(32)
                    .build()))
        .build();
  }

  @AfterEach
  void close() throws Exception {
    await(vertx.close());
  }

  private static <T> T await(Future<T> future) throws Exception {
    return future
        .toCompletionStage()
        .toCompletableFuture()
        .get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
  }

  private <T> T kept(T client) {
    clients.add(client);
    return client;
  }

  private static Buffer random(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    return Buffer.buffer(bytes);
  }

  /** Starts a server that returns each request's body. */
  private HttpServer echo() throws Exception {
    return await(
        vertx
            .createHttpServer()
            .requestHandler(
                request ->
                    request
                        .body()
                        .onSuccess(
                            body ->
                                request
                                    .response()
                                    .putHeader("version", request.version().name())
                                    .end(body)))
            .listen(0, HOST));
  }

  private Buffer post(HttpClientOptions options, Buffer body, HttpVersion expected)
      throws Exception {
    HttpServer server = echo();
    HttpClient client = kept(vertx.createHttpClient(options));
    return await(
        client
            .request(HttpMethod.POST, server.actualPort(), HOST, "/")
            .compose(request -> request.send(body))
            .compose(
                response -> {
                  assertThat(response.statusCode()).isEqualTo(200);
                  assertThat(response.getHeader("version")).isEqualTo(expected.name());
                  return response.body();
                }));
  }

  @Test
  void runsOnTheVertxThatThisRunNames() {
    String version = System.getProperty("verbena.vertx.version", "");

    assertThat(Vertx.class.getProtectionDomain().getCodeSource().getLocation().toString())
        .endsWith("vertx-core-" + version + ".jar");
  }

  @Test
  void servesHttp11() throws Exception {
    Buffer body = random(1000);

    assertThat(post(new HttpClientOptions(), body, HttpVersion.HTTP_1_1))
        .matches(body::equals, "what was sent");
  }

  @Test
  void servesLargeBodies() throws Exception {
    Buffer body = random(LARGE);

    assertThat(post(new HttpClientOptions(), body, HttpVersion.HTTP_1_1))
        .matches(body::equals, "what was sent");
  }

  @Test
  void servesHttp2InTheClear() throws Exception {
    Buffer body = random(1 << 20);

    assertThat(
            post(
                new HttpClientOptions()
                    .setProtocolVersion(HttpVersion.HTTP_2)
                    .setHttp2ClearTextUpgrade(false),
                body,
                HttpVersion.HTTP_2))
        .matches(body::equals, "what was sent");
  }

  @Test
  void exchangesWebSocketMessages() throws Exception {
    HttpServer server =
        await(
            vertx
                .createHttpServer()
                .webSocketHandler(socket -> socket.binaryMessageHandler(socket::writeBinaryMessage))
                .listen(0, HOST));
    Buffer message = random(50_000);
    Promise<Buffer> answer = Promise.promise();

    kept(vertx.createWebSocketClient())
        .connect(server.actualPort(), HOST, "/")
        .onFailure(answer::fail)
        .onSuccess(
            socket -> {
              socket.binaryMessageHandler(answer::tryComplete);
              socket.writeBinaryMessage(message);
            });

    assertThat(await(answer.future())).matches(message::equals, "what was sent");
  }

  @Test
  void sendsFiles(@TempDir Path folder) throws Exception {
    Buffer content = random(3 << 20);
    Path file = Files.write(folder.resolve("file"), content.getBytes());
    HttpServer server =
        await(
            vertx
                .createHttpServer()
                .requestHandler(request -> request.response().sendFile(file.toString()))
                .listen(0, HOST));

    Future<Buffer> body =
        kept(vertx.createHttpClient())
            .request(HttpMethod.GET, server.actualPort(), HOST, "/")
            .compose(HttpClientRequest::send)
            .compose(HttpClientResponse::body);

    assertThat(await(body)).matches(content::equals, "what was sent");
  }

  /** User code may keep received buffers for any time, without blocking receives. */
  @Test
  void keepsWhatWasReceived() throws Exception {
    Buffer sent = random(LARGE);
    Promise<Buffer> whole = Promise.promise();
    NetServer server =
        await(
            vertx
                .createNetServer()
                .connectHandler(
                    socket -> {
                      Buffer received = Buffer.buffer();
                      socket.handler(received::appendBuffer);
                      socket.endHandler(end -> whole.tryComplete(received));
                      socket.exceptionHandler(whole::tryFail);
                    })
                .listen(0, HOST));

    NetSocket client = await(netClient.connect(server.actualPort(), HOST));
    client.end(sent);

    assertThat(await(whole.future())).matches(sent::equals, "what was sent");
  }

  @Test
  void sharesAServerAmongVerticles() throws Exception {
    int port = echo().actualPort();
    await(vertx.close());
    Vertx shared = build();
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    await(
        shared.deployVerticle(
            () ->
                new AbstractVerticle() {
                  @Override
                  public void start(Promise<Void> started) {
                    vertx
                        .createHttpServer()
                        .requestHandler(
                            request -> {
                              threads.add(Thread.currentThread());
                              request.response().end();
                            })
                        .listen(port, HOST)
                        .<Void>mapEmpty()
                        .onComplete(started);
                  }
                },
            new DeploymentOptions().setInstances(2)));

    HttpClient client = kept(shared.createHttpClient(new HttpClientOptions().setKeepAlive(false)));
    for (int i = 0; i < 4; i++) {
      await(
          client
              .request(HttpMethod.GET, port, HOST, "/")
              .compose(HttpClientRequest::send)
              .compose(HttpClientResponse::body));
    }

    assertThat(threads).hasSize(2);
    await(shared.close());
  }

  /**
   * The connect looks up its host with Vert.x's DNS client, whose sockets are on the same loops.
   */
  @Test
  void tellsThatAPeerIsNotThere() {
    assertThatThrownBy(() -> await(netClient.connect(1, HOST)))
        .hasCauseInstanceOf(ConnectException.class);
  }

  /** Datagram sockets use UDP, not RDMA: a plain Java program has the other end. */
  @Test
  void exchangesDatagramsByUdp() throws Exception {
    Promise<Buffer> received = Promise.promise();
    var server = await(vertx.createDatagramSocket().listen(0, "127.0.0.1"));
    server.handler(packet -> received.tryComplete(packet.data()));
    Buffer sent = random(100);

    try (DatagramSocket socket = new DatagramSocket()) {
      socket.send(
          new DatagramPacket(
              sent.getBytes(),
              sent.length(),
              new InetSocketAddress(
                  InetAddress.getLoopbackAddress(), server.localAddress().port())));
    }

    assertThat(await(received.future())).matches(sent::equals, "what was sent");
  }

  @Test
  void listensAtNoTcpPort() throws Exception {
    List<BindException> taken = new ArrayList<>();
    // Another program may hold a TCP port with the same number.
    for (int servers = 0; servers < 5; servers++) {
      int port = echo().actualPort();
      try (ServerSocket socket = new ServerSocket(port)) {
        assertThat(socket.getLocalPort()).isEqualTo(port);
        return;
      } catch (BindException e) {
        taken.add(e);
      }
    }
    assertThat(taken).as("ports that TCP has").isEmpty();
  }

  @Test
  void servesUnixDomainSockets(@TempDir Path folder) throws Exception {
    SocketAddress address = SocketAddress.domainSocketAddress(folder.resolve("s").toString());
    Buffer sent = random(1000);
    Promise<Buffer> answer = Promise.promise();
    await(vertx.createNetServer().connectHandler(socket -> socket.pipeTo(socket)).listen(address));

    NetSocket client = await(netClient.connect(address));
    client.handler(answer::tryComplete);
    client.write(sent);

    assertThat(await(answer.future())).matches(sent::equals, "what was sent");
  }

  @Test
  void isNamedRdma() {
    RdmaVertxTransport transport = RdmaVertxTransport.create(Addresses.of("vertx"));

    assertThat(transport.name()).isEqualTo("rdma");
    assertThat(transport.available()).isTrue();
    assertThat(transport.unavailabilityCause()).isNull();
  }
}
