// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a region of the maximum size of a {@link ByteBuffer} (issue 39 of DiSNI's tracker is about
 * lengths that overflow). The region is a sparse file, which takes no memory.
 */
@Tag(FakeRdmaCore.TAG)
final class LargestRegionTest {
  private static final long VALUE = 0x0102_0304_0506_0708L;
  private static final int LAST = Integer.MAX_VALUE - Long.BYTES;

  @TempDir private Path folder;
  private FakeConnection link;
  private MappedByteBuffer bytes;
  private MemoryRegion large;
  private MemoryRegion small;
  private final ByteBuffer local = ByteBuffer.allocateDirect(2 * Long.BYTES);

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @BeforeEach
  void connect() throws Exception {
    link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false);
    try (FileChannel file =
        FileChannel.open(
            folder.resolve("bytes"),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.SPARSE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      bytes = file.map(MapMode.READ_WRITE, 0, Integer.MAX_VALUE);
    }
    large =
        link.domain.register(
            bytes, Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE));
    small = link.domain.register(local, Set.of(Access.LOCAL_WRITE));
  }

  @AfterEach
  void close() {
    small.close();
    large.close();
    link.close();
  }

  @Test
  void isWrittenAndReadAtItsEnd() {
    local.putLong(0, VALUE);

    post(new SendWorkRequest().write(large.address() + LAST, large.rkey()), 0);
    assertThat(link.complete().status()).isEqualTo(CompletionStatus.SUCCESS);
    post(new SendWorkRequest().read(large.address() + LAST, large.rkey()), Long.BYTES);
    assertThat(link.complete().status()).isEqualTo(CompletionStatus.SUCCESS);

    assertThat(large.length()).isEqualTo(Integer.MAX_VALUE);
    assertThat(bytes.getLong(LAST)).isEqualTo(VALUE);
    assertThat(local.getLong(Long.BYTES)).isEqualTo(VALUE);
  }

  @Test
  void isNotWrittenBeyondItsEnd() {
    post(new SendWorkRequest().write(large.address() + LAST + 1, large.rkey()), 0);

    assertThat(link.complete().status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
  }

  private void post(SendWorkRequest request, int offset) {
    link.client.postSend(
        request.buffer(small.address() + offset, Long.BYTES, small.lkey()).signaled());
  }
}
