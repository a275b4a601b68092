// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

final class PrivateFolderTest {
  @Test
  void isOfThisUserAloneAndGoneWhenClosed() throws IOException {
    Path file;
    try (PrivateFolder folder = new PrivateFolder()) {
      file = folder.add("library.so", new ByteArrayInputStream(new byte[] {1, 2, 3}));

      assertThat(file).hasBinaryContent(new byte[] {1, 2, 3});
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
          .isEqualTo("rwx------");
    }

    assertThat(file).doesNotExist();
    assertThat(file.getParent()).doesNotExist();
  }

  /** NFS leaves such a file when a mapped file is deleted. */
  @Test
  void closesAlsoWhereSomethingIsLeftInIt() throws IOException {
    Path left;
    try (PrivateFolder folder = new PrivateFolder()) {
      Path file = folder.add("library.so", new ByteArrayInputStream(new byte[] {1}));
      left = Files.createFile(file.resolveSibling(".nfs0001"));
    }

    assertThat(left).exists();
    Files.delete(left);
    Files.delete(left.getParent());
  }
}
