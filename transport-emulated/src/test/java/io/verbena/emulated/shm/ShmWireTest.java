// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.FileLimit;
import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.mapped.SharedPlace;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.emulated.wire.UdpWire;
import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.emulated.wire.Wire.Outcome;
import io.verbena.emulated.wire.Wire.Port;
import io.verbena.verbs.Gid;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three hosts in one folder, all driven by the test thread. */
class ShmWireTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final long MILLI = 1_000_000;
  private static final int QUEUE_PAIR = 17;
  private static final int KEY = 0x4711;
  private static final int SLAB = 64 << 10;

  @TempDir private Path path;

  private final List<Host> hosts = new ArrayList<>();
  private SharedFolder folder;

  private final class Host {
    final ShmWire wire;
    final Port port;
    final List<Integer> came = new ArrayList<>();
    final List<Gid> departed = new ArrayList<>();
    final List<ByteBuffer> copied = new ArrayList<>();

    Host(int chance) throws IOException {
      wire = ShmWire.open(folder, chance);
      port = wire.attach(this::receive);
      wire.departures(departed::add);
      hosts.add(this);
    }

    private void receive(RocePacket frame, PacketFault fault) {
      assertThat(fault).isEqualTo(PacketFault.NONE);
      came.add(frame.psn());
      if (frame.isReferring()) {
        ByteBuffer copy = ByteBuffer.allocate(frame.payloadLength());
        copy.put(0, frame.payload(), frame.payloadIndex(), copy.capacity());
        if (frame.confirm()) {
          copied.add(copy);
        }
      }
    }

    /** Sends a packet that refers to {@code length} bytes of a slab. */
    void refer(int psn, Host to, int slab, int offset, int length) {
      RocePacket frame =
          port.packet().start(PacketOpcode.RC_SEND_ONLY).destinationQueuePair(2).psn(psn);
      frame.reference().place(slab, offset, KEY);
      frame.reference().queuePair(QUEUE_PAIR);
      frame.refer(length);
      UdpGid.address(frame, port.gid(), to.port.gid());
      assertThat(port.send(frame.seal(), RocePacket.UDP_PORT)).isEqualTo(Outcome.SENT);
    }

    SharedPlace placeOf(ByteBuffer memory) {
      return Objects.requireNonNull(wire.placeOf(memory));
    }

    Outcome send(int psn, Host to) {
      return port.send(
          datagram(port.packet(), psn, port.gid(), to.port.gid()), RocePacket.UDP_PORT);
    }

    void awaitPackets(int count) {
      work(() -> came.size() >= count);
    }

    /** Drives the host until a condition holds. */
    void work(BooleanSupplier holds) {
      work(MILLI, holds);
    }

    /** Drives the host until a condition holds, with sleeps of up to this many nanoseconds. */
    void work(long sleep, BooleanSupplier holds) {
      long deadline = System.nanoTime() + LIMIT.toNanos();
      while (!holds.getAsBoolean()) {
        assertThat(System.nanoTime()).as("time").isLessThan(deadline);
        wire.await(sleep);
        int unused = wire.receive(32);
      }
    }
  }

  private static RocePacket datagram(RocePacket frame, int psn, Gid from, Gid to) {
    RocePacket built =
        frame
            .start(PacketOpcode.UD_SEND_ONLY)
            .destinationQueuePair(2)
            .psn(psn)
            .append(ByteBuffer.allocate(RocePacket.MAX_PAYLOAD), 0, RocePacket.MAX_PAYLOAD);
    UdpGid.address(built, from, to);
    return built.seal();
  }

  @BeforeEach
  void open() {
    folder = SharedFolder.open(path.toString());
  }

  @AfterEach
  void close() {
    hosts.forEach(host -> host.wire.close());
  }

  @Test
  void packetsComeInTheirOrder() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);

    for (int psn = 0; psn < 1000; psn++) {
      assertThat(one.send(psn, other)).isEqualTo(Outcome.SENT);
      other.awaitPackets(psn + 1);
    }

    assertThat(other.came).isSorted().hasSize(1000);
  }

  @Test
  void aSleeperIsWoken() throws Exception {
    Host one = new Host(1);
    Host other = new Host(2);
    one.send(0, other);
    other.awaitPackets(1);

    for (int i = 1; i < 100; i++) {
      CompletableFuture<Void> slept =
          CompletableFuture.runAsync(() -> other.wire.await(LIMIT.toNanos()));
      one.send(i, other);
      slept.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
      other.awaitPackets(i + 1);
    }

    assertThat(other.came).isSorted();
  }

  @Test
  @Timeout(20)
  void aWakeUpEndsTheNextSleepWhoeverLooksBetween() throws IOException {
    Host one = new Host(1);

    one.wire.wakeup();
    one.wire.look();

    one.wire.await(Duration.ofHours(1).toNanos());
  }

  @Test
  void whoTakesAWakeUpAndDoesNotWakeHoldsNobodyUp() throws Exception {
    Host one = new Host(1);
    Host other = new Host(2);
    one.send(0, other);
    other.awaitPackets(1);
    CompletableFuture<Void> works =
        CompletableFuture.runAsync(
            () -> other.work(Duration.ofHours(1).toNanos(), () -> other.came.size() > 1));

    try (Mapping flag = folder.mapFlag(other.port.gid())) {
      SleepFlag asleep = new SleepFlag(flag);
      Awaitility.await().atMost(LIMIT).until(asleep::takeIfAsleep);
    }

    one.send(1, other);
    works.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(other.came).containsExactly(0, 1);
  }

  @Test
  void aPeerThatReadsNothingHoldsNobodyUp() throws IOException {
    Host one = new Host(1);
    Host stopped = new Host(2);
    Host other = new Host(3);
    int psn = 0;
    while (one.send(psn, stopped) == Outcome.SENT) {
      psn++;
    }
    assertThat(psn).isGreaterThan(one.wire.bufferedPackets(RocePacket.MAX_PAYLOAD) - 2);

    Awaitility.await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(one.send(0, stopped)).isEqualTo(Outcome.DROPPED));
    assertThat(one.send(0, other)).isEqualTo(Outcome.SENT);
    stopped.awaitPackets(psn);
    assertThat(one.send(psn, stopped)).isEqualTo(Outcome.SENT);
    stopped.awaitPackets(psn + 1);
    assertThat(stopped.came).isSorted();
  }

  @Test
  void aHostThatClosesDepartsFromItsPeers() throws IOException {
    Host one = new Host(1);
    Host leaves = new Host(2);
    one.send(0, leaves);
    leaves.awaitPackets(1);

    leaves.wire.close();

    one.work(() -> !one.departed.isEmpty());
    assertThat(one.departed).containsExactly(leaves.port.gid());
    assertThat(one.send(1, leaves)).isEqualTo(Outcome.DROPPED);
  }

  @Test
  void aHostClosesAllOfItWhateverItsCaptureThrows() throws IOException {
    Host one = new Host(1);
    List<Path> before = files("");
    Host leaves = new Host(2);
    ByteBuffer unused = leaves.wire.allocate(SLAB);
    one.send(0, leaves);
    leaves.awaitPackets(1);
    leaves.wire.capture(new FailingCapture());

    leaves.wire.close();

    one.work(() -> !one.departed.isEmpty());
    assertThat(files("")).containsExactlyInAnyOrderElementsOf(before);
  }

  private static final class FailingCapture implements UdpWire.Capture {
    @Override
    public void packet(RocePacket packet) {}

    @Override
    public void close() {
      throw new AssertionError("no space left");
    }
  }

  /** A killed process leaves its files; here its introduction and its end arrive together. */
  @Test
  void whatAHostSentComesThoughItWasKilledBeforeItWasTakenIn() throws IOException {
    Host one = new Host(1);
    Gid killed = SharedFolder.newHost(9);
    folder.createFlag(killed).close();
    String rings = SharedFolder.ringsName(killed, 0);
    int half = PacketRing.HEADER + ShmWire.RING;
    try (Mapping memory = folder.createRings(rings, 2 * half);
        SocketChannel socket = SocketChannel.open(server(one))) {
      RocePacket sent = datagram(RocePacket.unchecked(), 7, killed, one.port.gid());
      PacketRing out = new PacketRing(memory.bytes().slice(0, half));
      assertThat(out.write(sent.sourcePort(), sent.udpPayload())).isTrue();
      socket.write(Introduction.of(killed, rings));
    }

    one.work(() -> !one.departed.isEmpty());

    assertThat(one.departed).containsExactly(killed);
    assertThat(one.came).containsExactly(7);
  }

  @Test
  void aHostWhoseBacklogIsFullIsNotGone() throws IOException {
    Host one = new Host(1);
    Host busy = new Host(2);
    List<SocketChannel> waiting = new ArrayList<>();
    try {
      boolean taken = true;
      while (taken) {
        SocketChannel next = SocketChannel.open(StandardProtocolFamily.UNIX);
        waiting.add(next);
        next.configureBlocking(false);
        taken = isTaken(next, busy);
      }

      assertThat(one.send(0, busy)).isEqualTo(Outcome.DROPPED);

      assertThat(Objects.requireNonNull(one.wire.unreachableReports(0, busy.port.gid())).count())
          .isZero();
    } finally {
      for (SocketChannel each : waiting) {
        each.close();
      }
    }
    busy.work(() -> one.send(1, busy) == Outcome.SENT);
    busy.awaitPackets(1);
  }

  private boolean isTaken(SocketChannel socket, Host by) throws IOException {
    try {
      return socket.connect(server(by));
    } catch (SocketException full) {
      // JDK 17 reports a full backlog by this exception.
      return false;
    }
  }

  @Test
  void aStrangerSeesTheEndOfAHost() throws IOException {
    Host one = new Host(1);
    try (SocketChannel stranger = SocketChannel.open(server(one))) {
      stranger.configureBlocking(false);
      one.wire.look();
      int unused = one.wire.receive(32);

      one.wire.close();

      Awaitility.await().atMost(LIMIT).until(() -> isEnded(stranger));
    }
  }

  @ParameterizedTest(name = "{index}")
  @ValueSource(strings = {"a\0b.ring", "../a.ring", "/a.ring", "a.name", ".."})
  void whoSaysWhatCannotBeKeepsNoOtherFromBeingHeard(String rings) throws IOException {
    Host one = new Host(1);
    Host leaves = new Host(2);
    leaves.send(0, one);
    one.awaitPackets(1);

    try (SocketChannel stranger = SocketChannel.open(server(one))) {
      stranger.write(Introduction.of(SharedFolder.newHost(9), rings));
      stranger.configureBlocking(false);
      one.work(() -> isEnded(stranger));

      leaves.wire.close();

      one.work(() -> !one.departed.isEmpty());
      assertThat(one.departed).containsExactly(leaves.port.gid());
    }
  }

  @Test
  void ofAllThatAPeerSaysALookReadsLittle() throws IOException {
    Gid talker = SharedFolder.newHost(9);
    folder.createFlag(talker).close();
    String rings = SharedFolder.ringsName(talker, 0);
    folder.createRings(rings, 2 * (PacketRing.HEADER + ShmWire.RING)).close();
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(folder.socket(talker)));
      try (SocketChannel says = SocketChannel.open(server.getLocalAddress());
          SocketChannel hears = server.accept()) {
        says.configureBlocking(false);
        hears.configureBlocking(false);
        ShmLink link = ShmLink.accept(folder, talker, rings, ShmWire.RING, hears);
        assertThat(says.write(ByteBuffer.allocate(1 << 14))).isEqualTo(1 << 14);

        assertThat(link.drain()).isTrue();

        assertThat(hears.read(ByteBuffer.allocate(1))).isEqualTo(1);
        link.close();
        link.unmap();
      }
    }
  }

  private static boolean isEnded(SocketChannel socket) {
    try {
      return socket.read(ByteBuffer.allocate(1)) < 0;
    } catch (IOException e) {
      return true;
    }
  }

  private UnixDomainSocketAddress server(Host host) {
    return UnixDomainSocketAddress.of(folder.socket(host.port.gid()));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aHostThatCanOpenFewFilesHearsOfTheDeadAndSleeps(int free) throws Exception {
    FileLimit.run(FewFiles.class, path.toString(), Integer.toString(free));
  }

  /** A process that may open only a few more files. */
  static final class FewFiles {
    private FewFiles() {}

    /** Runs in that process. */
    public static void main(String[] arguments) throws IOException {
      ShmWireTest test = new ShmWireTest();
      test.path = Path.of(arguments[0]);
      test.open();
      try {
        test.hearOfTheDeadAndSleepWithFewFiles(Integer.parseInt(arguments[1]));
      } finally {
        test.close();
      }
    }
  }

  private void hearOfTheDeadAndSleepWithFewFiles(int free) throws IOException {
    Host one = new Host(1);
    Host leaves = new Host(2);
    Host late = new Host(3);
    leaves.send(0, one);
    one.awaitPackets(1);
    late.send(1, one);
    leaves.wire.close();
    // The first log line opens files, too.
    FailureLog.get().failed(new IOException("not yet"));
    List<FileChannel> files = FileLimit.openAllBut(free);

    one.work(() -> !one.departed.isEmpty());

    // Selecting releases the descriptor of the dead host's socket.
    one.wire.look();
    files.addAll(FileLimit.openAllBut(0));
    int sleeps = 0;
    long end = System.nanoTime() + 300 * MILLI;
    while (System.nanoTime() < end) {
      one.wire.await(LIMIT.toNanos());
      int unused = one.wire.receive(32);
      sleeps++;
    }
    assertThat(sleeps).isLessThan(50);
    for (FileChannel each : files) {
      each.close();
    }
    one.awaitPackets(2);
    assertThat(one.came).containsExactly(0, 1);
  }

  @Test
  void aHostThatGoesBeforeItTakesItsRingsLeavesNoneOfThem() throws IOException {
    Host one = new Host(1);
    Host leaves = new Host(2);
    one.send(0, leaves);
    assertThat(files(".ring")).hasSize(1);

    leaves.wire.close();

    one.work(() -> !one.departed.isEmpty());
    assertThat(files(".ring")).isEmpty();
  }

  @Test
  void whoAsksNoMoreWhetherAHostIsGoneTakesNoAnswerFromOthers() throws IOException {
    Host one = new Host(1);
    Host gone = new Host(2);
    gone.wire.close();
    UnreachableReports first = one.wire.unreachableReports(1, gone.port.gid());
    UnreachableReports second = one.wire.unreachableReports(1, gone.port.gid());
    assertThat(one.send(0, gone)).isEqualTo(Outcome.DROPPED);
    assertThat(first.count()).isEqualTo(1);

    first.close();

    assertThat(one.send(1, gone)).isEqualTo(Outcome.DROPPED);
    assertThat(second.count()).isEqualTo(2);
    second.close();
    UnreachableReports next = one.wire.unreachableReports(1, gone.port.gid());
    assertThat(next.count()).isZero();
    next.close();
  }

  @Test
  void aHostDepartsAlthoughItsRingsCannotBeRemoved() throws IOException {
    Host one = new Host(1);
    Host leaves = new Host(2);
    one.send(0, leaves);
    Path rings = files(".ring").get(0);
    Files.delete(rings);
    Path inside = Files.createDirectories(rings.resolve("inside"));

    leaves.wire.close();

    one.work(() -> !one.departed.isEmpty());
    assertThat(one.departed).containsExactly(leaves.port.gid());
    Files.delete(inside);
  }

  @Test
  void aHostWhoseFolderIsGoneClosesAndIsNotTakenForAlive() throws IOException {
    Path gone = path.resolve("gone");
    folder = SharedFolder.open(gone.toString());
    Host one = new Host(1);
    try (Stream<Path> files = Files.list(gone)) {
      for (Path each : files.toList()) {
        Files.delete(each);
      }
    }
    Files.delete(gone);

    one.wire.close();

    assertThat(OwnHosts.contains(one.port.gid())).isFalse();
  }

  @Test
  void whoDropsAPacketThatHadNoRoomSleeps() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);
    one.send(0, other);
    other.awaitPackets(1);
    // Consumes the wake-up for the new peer.
    one.wire.look();
    Outcome sent = Outcome.SENT;
    while (sent == Outcome.SENT) {
      sent = one.send(1, other);
    }
    assertThat(sent).isEqualTo(Outcome.FULL);

    one.port.dropped();

    long begin = System.nanoTime();
    one.wire.await(80 * MILLI);
    assertThat(System.nanoTime() - begin).as("its sleep").isGreaterThan(50 * MILLI);
  }

  @Test
  void memoryOfAHostThatIsGoneIsUnmappedAtOnce() throws IOException {
    Host one = new Host(1);
    long mapped = mappings();
    for (int i = 0; i < 5; i++) {
      Host leaves = new Host(2 + i);
      one.send(i, leaves);
      leaves.awaitPackets(1);
      leaves.send(i, one);
      one.awaitPackets(i + 1);

      leaves.wire.close();

      one.departed.clear();
      one.work(() -> !one.departed.isEmpty());
      one.work(() -> mappings() == mapped);
    }
  }

  /** Returns the number of files of the folder that this process has mapped. */
  private long mappings() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(path.toString())).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aHostIsHeardHoweverMuchAnotherSays() throws IOException {
    Host one = new Host(1);
    Host talker = new Host(2);
    Host other = new Host(3);
    talker.send(0, one);
    one.awaitPackets(1);

    other.send(1, one);

    for (int i = 0; i < 10_000 && !one.came.contains(1); i++) {
      talker.send(2, one);
      assertThat(one.wire.receive(32)).as("packets in each turn").isPositive();
    }
    assertThat(one.came).contains(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {".host", ".sock", ".flag", "-7.ring", "-7.slab"})
  void oneFileOfADeadHostIsRemovedByTheNext(String kind) throws IOException {
    String host = folder.socket(SharedFolder.newHost(7)).toString().replace(".sock", "");
    Files.createFile(Path.of(host + kind));
    Files.createFile(path.resolve("orders.name-new"));

    Host unused = new Host(1);

    assertThat(files(kind).stream().filter(file -> file.toString().startsWith(host))).isEmpty();
    assertThat(files("-new")).isEmpty();
  }

  private List<Path> files(String suffix) throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      return files.filter(file -> file.toString().endsWith(suffix)).toList();
    }
  }

  @Test
  void aHostThatAnotherProcessLooksAtIsDeadToThisOne() throws Exception {
    SharedFolder.Service dead = new SharedFolder.Service(SharedFolder.newHost(7), 1);
    Path host = Path.of(folder.socket(dead.host()).toString().replace(".sock", ".host"));
    Files.createFile(host);
    assertThat(folder.offer("orders", dead)).isTrue();

    LookingProcess looks = new LookingProcess(host);
    try {
      assertThat(looks.said()).isEqualTo(LookingProcess.LOOKS);
      assertThat(folder.find("orders")).isNull();
    } finally {
      looks.end();
    }
  }

  @Test
  void manyThreadsFindANameAtOnce() throws Exception {
    SharedFolder.Service dead = new SharedFolder.Service(SharedFolder.newHost(7), 1);
    Files.createFile(path.resolve(folder.socket(dead.host()).toString().replace(".sock", ".host")));
    assertThat(folder.offer("orders", dead)).isTrue();
    List<CompletableFuture<Void>> finders = new ArrayList<>();
    for (int thread = 0; thread < 8; thread++) {
      finders.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 1000; i++) {
                  assertThat(folder.find("orders")).isNull();
                }
              }));
    }

    CompletableFuture.allOf(finders.toArray(new CompletableFuture<?>[0]))
        .get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Test
  void packetsComeHoweverTheFolderIsWritten() throws IOException {
    folder = SharedFolder.open(path + "/../" + path.getFileName() + "/.");
    Host one = new Host(1);
    folder = SharedFolder.open(path.toString());
    Host other = new Host(2);

    assertThat(one.send(0, other)).isEqualTo(Outcome.SENT);
    other.awaitPackets(1);
    assertThat(other.send(1, one)).isEqualTo(Outcome.SENT);
    one.awaitPackets(1);
    Host third = new Host(3);
    assertThat(third.send(2, one)).isEqualTo(Outcome.SENT);
    one.awaitPackets(2);
  }

  @Test
  void aFolderThatCannotBeIsRefused() {
    assertThatThrownBy(() -> SharedFolder.open("/a\0b"))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("expected: an absolute path");
  }

  @Test
  void aNameOfADeadHostWithThePidOfThisOneIsFree() {
    SharedFolder.Service dead = new SharedFolder.Service(SharedFolder.newHost(7), 1);
    assertThat(folder.offer("orders", dead)).isTrue();

    assertThat(folder.find("orders")).isNull();
    assertThat(folder.offer("orders", dead)).isTrue();
  }

  // ---- memory that peers copy from

  /** Returns the number of slab files in the folder. */
  private long slabs() {
    try (Stream<Path> files = Files.list(path)) {
      return files.filter(file -> file.toString().endsWith(".slab")).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void payloadIsCopiedOutOfTheSendersMemory() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);
    ByteBuffer memory = one.wire.allocate(SLAB);
    for (int i = 0; i < SLAB; i++) {
      memory.put(i, (byte) ((i * 31) >>> 4));
    }
    SharedPlace place = one.placeOf(memory.slice(4096, 8192));

    one.refer(1, other, place.slab(), place.offset() + 5, 5000);
    other.awaitPackets(1);
    one.refer(2, one, place.slab(), place.offset() + 5, 5000);
    one.awaitPackets(1);

    assertThat(other.copied).containsExactly(memory.slice(4096 + 5, 5000));
    assertThat(one.copied).as("to itself").containsExactly(memory.slice(4096 + 5, 5000));
  }

  @Test
  void whatTheSenderWithdrawsIsNotTaken() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);
    SharedPlace place = one.placeOf(one.wire.allocate(SLAB));

    one.refer(1, other, place.slab(), 0, 5000);
    one.port.withdraw(QUEUE_PAIR);
    one.refer(2, other, place.slab(), 0, 5000);
    other.awaitPackets(1);

    assertThat(other.came).as("not even looked at").containsExactly(2);
    assertThat(other.copied).hasSize(1);
  }

  @Test
  void anInterruptedThreadMapsMemoryAsWell() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);
    one.send(0, other);
    other.awaitPackets(1);
    SharedPlace place = one.placeOf(one.wire.allocate(SLAB));

    one.refer(1, other, place.slab(), 0, 5000);
    Thread.currentThread().interrupt();
    other.awaitPackets(2);

    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    assertThat(other.copied).hasSize(1);
  }

  @Test
  void anInterruptedThreadTakesPeersIn() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);

    one.send(0, other);
    Thread.currentThread().interrupt();
    other.awaitPackets(1);

    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    int unused = one.wire.receive(32);
    assertThat(one.departed).isEmpty();
  }

  @Test
  void anInterruptedThreadReachesNewPeers() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);

    Thread.currentThread().interrupt();
    Outcome sent = one.send(0, other);

    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    assertThat(sent).isEqualTo(Outcome.SENT);
    other.awaitPackets(1);
  }

  @Test
  void anInterruptedThreadGetsMemoryThatIsShared() throws IOException {
    Host one = new Host(1);

    Thread.currentThread().interrupt();
    ByteBuffer memory = one.wire.allocate(SLAB);

    assertThat(Thread.interrupted()).as("still interrupted").isTrue();
    assertThat(one.wire.placeOf(memory)).isNotNull();
  }

  @Test
  void garbageTakesNoMoreThanItsLimit() throws IOException {
    OwnSlabs own =
        new OwnSlabs(
            folder, new Gid(1, 1), new SleepFlag(folder.createFlag(new Gid(1, 1))), 3 * SLAB);
    List<ByteBuffer> held = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      held.add(own.allocate(SLAB));
    }
    assertThat(own.placeOf(own.allocate(SLAB))).as("beyond the limit").isNull();
    assertThat(slabs()).isEqualTo(3);
    assertThat(held).allSatisfy(each -> assertThat(own.placeOf(each)).isNotNull());

    held.clear();

    Awaitility.await()
        .atMost(LIMIT)
        .until(
            () -> {
              System.gc();
              return own.placeOf(own.allocate(SLAB)) != null;
            });
  }

  @Test
  void memoryThatNothingReachesIsFreedEverywhere() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);
    one.send(0, other);
    other.awaitPackets(1);
    long mapped = mappings();
    ByteBuffer memory = one.wire.allocate(SLAB);
    one.refer(1, other, one.placeOf(memory).slab(), 0, 5000);
    other.awaitPackets(2);
    assertThat(slabs()).isEqualTo(1);

    memory = ByteBuffer.allocateDirect(1);

    assertThat(one.wire.placeOf(memory)).isNull();
    other.work(
        () -> {
          System.gc();
          return slabs() == 0;
        });
    other.work(() -> mappings() == mapped);
  }

  @Test
  void aPacketThatRefersToFreedMemoryIsDropped() throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);

    one.refer(1, other, 4711, 0, 5000);
    one.send(2, other);
    other.awaitPackets(1);

    assertThat(other.came).containsExactly(2);
    assertThat(other.departed).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, SLAB - 4999, Integer.MAX_VALUE})
  void whoRefersToMemoryThatIsNotThereIsNoPeer(int offset) throws IOException {
    Host one = new Host(1);
    Host other = new Host(2);
    SharedPlace place = one.placeOf(one.wire.allocate(SLAB));

    one.refer(1, other, place.slab(), offset, 5000);
    other.work(() -> !other.departed.isEmpty());

    assertThat(other.departed).containsExactly(one.port.gid());
    assertThat(other.copied).isEmpty();
  }

  @Test
  void memoryThatIsNoSlabsHasNoPlace() throws IOException {
    Host one = new Host(1);
    ByteBuffer memory = one.wire.allocate(SLAB);

    assertThat(one.wire.placeOf(ByteBuffer.allocateDirect(SLAB))).isNull();
    assertThat(one.wire.placeOf(one.wire.allocate(64))).as("too short").isNull();
    assertThat(one.placeOf(memory.slice(100, 50)).offset()).isEqualTo(100);
    assertThat(one.wire.allocate(5000).capacity()).isEqualTo(5000);
  }

  @Test
  void memoryForWhichThereIsNoFileIsNotShared() throws IOException {
    Host one = new Host(1);
    String files = folder.socket(one.port.gid()).toString().replace(".sock", "");
    Files.createFile(Path.of(files + "-1.slab"));

    ByteBuffer memory = one.wire.allocate(SLAB);

    assertThat(memory.capacity()).isEqualTo(SLAB);
    assertThat(one.wire.placeOf(memory)).isNull();
  }
}
