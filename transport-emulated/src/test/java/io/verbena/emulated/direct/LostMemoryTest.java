// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedMemoryRegion;
import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Memory that is lost during a copy ends the request with an error at the end that owns the memory;
 * other queue pairs on the same completion queues keep working. The buffer of a region throws on
 * each access, as that of a closed arena does, or a mapped file is truncated.
 */
class LostMemoryTest {
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
  private static final int SIZE = 1 << 14;
  private static final int PIECES = 4;

  @TempDir Path directory;
  private final WorkCompletion[] one = WorkCompletion.array(1);

  @ParameterizedTest(name = "{0}: {1} of {2} bytes in {3} buffers, whose {4} is lost: {5}")
  @CsvSource({
    "emulated://lost,SEND,64,1,target,REM_OP_ERR",
    "emulated://lost,SEND,64,1,source,LOC_PROT_ERR",
    "emulated://lost,SEND,8192,1,target,REM_OP_ERR",
    "emulated://lost,SEND,8192,1,source,LOC_PROT_ERR",
    "emulated://lost,SEND,64,4,target,REM_OP_ERR",
    "emulated://lost,SEND,64,4,source,LOC_PROT_ERR",
    "emulated://lost,WRITE,64,1,target,REM_OP_ERR",
    "emulated://lost,WRITE,8192,4,source,LOC_PROT_ERR",
    "emulated://lost,READ,64,1,source,REM_OP_ERR",
    "emulated://lost,READ,8192,4,target,LOC_PROT_ERR",
    "emulated://lost,ATOMIC,8,1,source,REM_OP_ERR",
    "emulated://lost,ATOMIC,8,1,target,LOC_PROT_ERR",
    "emulated://lost-later?mode=async&seed=1,SEND,64,1,target,REM_OP_ERR",
    "emulated://lost-later?mode=async&seed=1,SEND,64,4,source,LOC_PROT_ERR",
    "emulated://lost-later?mode=async&seed=1,READ,8192,1,target,LOC_PROT_ERR",
    "emulated://lost-packets?wire=simulated,SEND,64,1,target,REM_OP_ERR",
    "emulated://lost-packets?wire=simulated,SEND,64,4,source,LOC_PROT_ERR",
    "emulated://lost-packets?wire=simulated,WRITE,8192,1,target,REM_OP_ERR",
    "emulated://lost-packets?wire=simulated,READ,64,1,source,REM_OP_ERR",
    "emulated://lost-packets?wire=simulated,READ,8192,1,target,LOC_PROT_ERR",
    "emulated://lost-packets?wire=simulated,ATOMIC,8,1,source,REM_OP_ERR",
  })
  void aRequestWhoseMemoryIsLostEndsAndOthersGoOn(
      String address, String opcode, int length, int buffers, String lost, CompletionStatus status)
      throws Exception {
    run(/* truncated= */ false, address, opcode, length, buffers, lost, status);
  }

  @ParameterizedTest(name = "{0}: {1} of {2} bytes in {3} buffers, whose {4} is lost: {5}")
  @CsvSource({
    "emulated://lost,SEND,64,1,target,REM_OP_ERR",
    "emulated://lost,SEND,64,1,source,LOC_PROT_ERR",
    "emulated://lost,WRITE,8192,4,source,LOC_PROT_ERR",
    "emulated://lost,READ,64,1,source,REM_OP_ERR",
    "emulated://lost-packets?wire=simulated,SEND,64,1,target,REM_OP_ERR",
    "emulated://lost-packets?wire=simulated,READ,64,1,source,REM_OP_ERR",
  })
  void soDoesOneOfAFileThatIsTruncated(
      String address, String opcode, int length, int buffers, String lost, CompletionStatus status)
      throws Exception {
    assumeTrue(
        Runtime.version().feature() >= 25,
        "SKIPPED: an older JVM throws its InternalError late, in whatever the thread does then");
    run(/* truncated= */ true, address, opcode, length, buffers, lost, status);
  }

  private void run(
      boolean truncated,
      String address,
      String opcode,
      int length,
      int buffers,
      String lost,
      CompletionStatus status)
      throws Exception {
    try (EmulatedDevice device = (EmulatedDevice) new EmulatedProvider().open(URI.create(address));
        CompletionQueue sent = device.createCompletionQueue(64, null);
        CompletionQueue received = device.createCompletionQueue(64, null);
        ProtectionDomain domain = device.allocateProtectionDomain();
        FileChannel file =
            FileChannel.open(
                directory.resolve("lost"),
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.CREATE);
        MemoryRegion gone =
            domain.register(file.map(FileChannel.MapMode.READ_WRITE, 0, SIZE), ALL);
        MemoryRegion sound = domain.register(ByteBuffer.allocateDirect(SIZE), ALL)) {
      QueuePairOptions options =
          QueuePairOptions.reliable(sent, received, 16, 16).withScatterGather(PIECES, PIECES);
      try (QueuePair sender = domain.createQueuePair(options);
          QueuePair receiver = domain.createQueuePair(options);
          QueuePair innocentSender = domain.createQueuePair(options);
          QueuePair innocentReceiver = domain.createQueuePair(options)) {
        Loopback.connect(device, sender, receiver);
        Loopback.connect(device, receiver, sender);
        Loopback.connect(device, innocentSender, innocentReceiver);
        Loopback.connect(device, innocentReceiver, innocentSender);
        if (truncated) {
          file.truncate(0);
        } else {
          ((EmulatedMemoryRegion) gone).key().memory().limit(0);
        }
        MemoryRegion source = lost.equals("source") ? gone : sound;
        MemoryRegion target = lost.equals("target") ? gone : sound;
        if (opcode.equals("SEND")) {
          ReceiveWorkRequest receive = new ReceiveWorkRequest(1).id(1);
          receiver.postReceive(receive.buffer(target.address(), length, target.lkey()));
        }

        sender.postSend(request(opcode, length, buffers, source, target));

        assertThat(next(sent).workRequestId()).isEqualTo(2);
        assertThat(one[0].status()).isEqualTo(status);
        // On packets the completion may be visible before the state changes.
        await().atMost(Duration.ofSeconds(30)).until(() -> sender.state() == QueuePairState.ERR);
        if (status == CompletionStatus.REM_OP_ERR && opcode.equals("SEND")) {
          assertThat(next(received).workRequestId()).isEqualTo(1);
          assertThat(one[0].status()).isEqualTo(CompletionStatus.LOC_PROT_ERR);
        }
        innocentReceiver.postReceive(
            new ReceiveWorkRequest(1).id(3).buffer(sound.address(), 64, sound.lkey()));
        innocentSender.postSend(
            new SendWorkRequest(1)
                .id(4)
                .send()
                .signaled()
                .buffer(sound.address() + 64, 64, sound.lkey()));
        assertThat(next(sent).workRequestId()).isEqualTo(4);
        assertThat(one[0].isSuccess()).isTrue();
        while (next(received).queuePairNumber() != innocentReceiver.number()) {
          assertThat(one[0].isSuccess()).as("what was lost").isFalse();
        }
        assertThat(one[0].workRequestId()).isEqualTo(3);
        assertThat(one[0].isSuccess()).isTrue();
      }
    }
  }

  private static SendWorkRequest request(
      String opcode, int length, int buffers, MemoryRegion source, MemoryRegion target) {
    SendWorkRequest request = new SendWorkRequest(PIECES).id(2);
    boolean pulls = opcode.equals("READ") || opcode.equals("ATOMIC");
    MemoryRegion local = pulls ? target : source;
    MemoryRegion remote = pulls ? source : target;
    switch (opcode) {
      case "SEND" -> request.send();
      case "WRITE" -> request.write(remote.address(), remote.rkey());
      case "READ" -> request.read(remote.address(), remote.rkey());
      default -> request.fetchAndAdd(remote.address(), remote.rkey(), 1);
    }
    request.signaled();
    for (int i = 0; i < buffers; i++) {
      int part = length / buffers;
      request.buffers().add(local.address() + (long) i * part, part, local.lkey());
    }
    return request;
  }

  private WorkCompletion next(CompletionQueue queue) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    for (int spins = 0; queue.poll(one) == 0; spins++) {
      assertThat(System.nanoTime()).as("a completion in time").isLessThan(deadline);
      Ownership.pause(spins);
    }
    return one[0];
  }

  @ParameterizedTest
  @CsvSource({"emulated://confined", "emulated://confined?wire=simulated"})
  void memoryOfAConfinedArenaIsNotRegistered(String address) throws Exception {
    assumeTrue(Runtime.version().feature() >= 22, "SKIPPED: java.lang.foreign.Arena needs JDK 22");
    Class<?> type = Class.forName("java.lang.foreign.Arena");
    try (EmulatedDevice device = (EmulatedDevice) new EmulatedProvider().open(URI.create(address));
        ProtectionDomain domain = device.allocateProtectionDomain();
        AutoCloseable confined = (AutoCloseable) type.getMethod("ofConfined").invoke(null);
        AutoCloseable shared = (AutoCloseable) type.getMethod("ofShared").invoke(null)) {
      ByteBuffer unreachable = allocate(type, confined);
      assertThatThrownBy(() -> domain.register(unreachable, ALL))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("confined arena");
      try (MemoryRegion region = domain.register(allocate(type, shared), ALL)) {
        assertThat(region.length()).isEqualTo(SIZE);
        assertThatThrownBy(() -> region.reregister(null, unreachable, null))
            .isInstanceOf(VerbsException.class)
            .hasMessageContaining("confined arena");
      }
    }
  }

  private static ByteBuffer allocate(Class<?> type, Object arena) throws Exception {
    Object segment =
        type.getMethod("allocate", long.class, long.class).invoke(arena, (long) SIZE, 8L);
    Method asByteBuffer =
        Class.forName("java.lang.foreign.MemorySegment").getMethod("asByteBuffer");
    return (ByteBuffer) asByteBuffer.invoke(segment);
  }

  @Test
  void otherMemoryIsRegisteredAsBefore() {
    try (EmulatedDevice device =
            (EmulatedDevice) new EmulatedProvider().open(URI.create("emulated://reachable"));
        ProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(ByteBuffer.allocateDirect(SIZE).position(8), ALL)) {
      assertThat(region.length()).isEqualTo(SIZE - 8);
    }
  }
}
