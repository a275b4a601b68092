// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;

/**
 * A tar archive in a temporary file, which is what Docker takes files as. Links are followed: each
 * file in it is a file. Closing deletes it. Threads: one.
 */
final class Archive implements AutoCloseable {
  private static final int READABLE = 0100644;
  private static final int RUNNABLE = 0100755;
  private static final int FOR_ALL = 041777;

  private final Path file;
  private final TarArchiveOutputStream out;
  private final Set<String> names = new HashSet<>();

  private Archive(Path file) throws IOException {
    this.file = file;
    this.out = new TarArchiveOutputStream(new BufferedOutputStream(Files.newOutputStream(file)));
    out.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
    out.setBigNumberMode(TarArchiveOutputStream.BIGNUMBER_POSIX);
  }

  static Archive create() throws IOException {
    return new Archive(Files.createTempFile("verbena-image", ".tar"));
  }

  /** Adds a file or, with all that is in it, a folder; the filter takes paths below the source. */
  void add(String name, Path source, Predicate<Path> filter) throws IOException {
    if (!Files.isDirectory(source)) {
      addFile(name, source);
      return;
    }
    List<Path> files;
    try (Stream<Path> all = Files.walk(source, FileVisitOption.FOLLOW_LINKS)) {
      // What is left of links that lead nowhere is no regular file.
      files = all.filter(Files::isRegularFile).filter(Files::isReadable).sorted().toList();
    }
    for (Path each : files) {
      Path below = source.relativize(each);
      if (filter.test(below)) {
        addFile(name + '/' + below, each);
      }
    }
  }

  private void addFile(String name, Path source) throws IOException {
    var entry = new TarArchiveEntry(name);
    if (!names.add(entry.getName())) {
      return;
    }
    entry.setSize(Files.size(source));
    entry.setMode(Files.isExecutable(source) ? RUNNABLE : READABLE);
    out.putArchiveEntry(entry);
    Files.copy(source, out);
    out.closeArchiveEntry();
  }

  /** Adds a file with this text. */
  void add(String name, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    var entry = new TarArchiveEntry(name);
    entry.setSize(bytes.length);
    out.putArchiveEntry(entry);
    out.write(bytes);
    out.closeArchiveEntry();
  }

  /** Adds a folder that all may write to. */
  void addFolderForAll(String name) throws IOException {
    var entry = new TarArchiveEntry(name + '/');
    entry.setMode(FOR_ALL);
    out.putArchiveEntry(entry);
    out.closeArchiveEntry();
  }

  /** Adds a symbolic link. */
  void addLink(String name, String target) throws IOException {
    var entry = new TarArchiveEntry(name, TarConstants.LF_SYMLINK);
    entry.setLinkName(target);
    out.putArchiveEntry(entry);
    out.closeArchiveEntry();
  }

  /** Ends the archive; the caller closes the stream. */
  InputStream content() throws IOException {
    out.close();
    return new BufferedInputStream(Files.newInputStream(file));
  }

  @Override
  public void close() throws IOException {
    try {
      out.close();
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
