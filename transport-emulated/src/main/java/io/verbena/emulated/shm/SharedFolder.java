// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.verbs.Gid;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The folder in which processes of one user find each other:
 *
 * <pre>
 *  HOST.host        locked by the host's process while that lives
 *  HOST.flag        whether the host sleeps
 *  HOST.sock        the Unix domain socket on which others introduce themselves and wake it
 *  HOST-N.ring      the rings between two hosts, until both have mapped them
 *  SERVICE.name     who listens there: GID and port
 * </pre>
 *
 * <p>The kernel lets go of a lock however a process ends: what belongs to a host whose file nobody
 * has locked is left over, and removed by whoever opens a host next.
 */
public final class SharedFolder {
  private static final String HOST = ".host";
  private static final String FLAG = ".flag";
  private static final String SOCKET = ".sock";
  private static final String RING = ".ring";
  private static final String NAME = ".name";
  private static final Set<PosixFilePermission> OWNER =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OWNERS_FILE =
      PosixFilePermissions.fromString("rw-------");

  /** fd00::/8, with a global ID of our own. */
  private static final long PREFIX = 0xfd56_6572L << 32;

  private static final long PID_MASK = 0xffff_ffffL;

  /** What the kernel's socket addresses take. */
  private static final int LONGEST_SOCKET_PATH = 107;

  private static final int NAME_LENGTH = 20;
  private static final byte[] ZEROES = new byte[1 << 16];

  private final Path folder;

  private SharedFolder(Path folder) {
    this.folder = folder;
  }

  /**
   * A folder of this user's, which is made if there is none.
   *
   * @param path an absolute path, or null for the usual one: in the host's shared memory
   * @throws VerbsException {@code INVALID} for a folder of another user's, one that others may
   *     write to, or a path too long for a socket; {@code IO} if it cannot be made
   */
  public static SharedFolder open(@Nullable String path) {
    try {
      Path folder = path == null ? usual() : Path.of(path);
      int longest = folder.resolve(fileOf(new Gid(0, 0)) + SOCKET).toString().length();
      if (longest > LONGEST_SOCKET_PATH || !folder.isAbsolute()) {
        throw new VerbsException(
            VerbsError.INVALID,
            "dir: "
                + folder
                + " (expected: an absolute path of at most "
                + (LONGEST_SOCKET_PATH - longest + folder.toString().length())
                + " bytes)");
      }
      if (!Files.exists(folder)) {
        create(folder);
      }
      check(folder);
      return new SharedFolder(folder);
    } catch (InvalidPathException e) {
      throw new VerbsException(
          VerbsError.INVALID, "dir: " + path + " (expected: an absolute path)", e);
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "dir: " + path + ": " + e, e);
    }
  }

  private static void create(Path folder) throws IOException {
    try {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWNER));
    } catch (FileAlreadyExistsException e) {
      // Another process was first: it is checked below.
      return;
    }
  }

  private static Path usual() throws IOException {
    Path shared = Path.of("/dev/shm");
    Path parent =
        Files.isDirectory(shared) ? shared : Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    return parent.resolve("verbena-" + user());
  }

  private static Object user() throws IOException {
    return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
  }

  private static void check(Path folder) throws IOException {
    Object owner = Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    boolean isFolder = Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS);
    Set<PosixFilePermission> allowed =
        Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS);
    if (!isFolder || !owner.equals(user()) || !OWNER.containsAll(allowed)) {
      throw new VerbsException(
          VerbsError.INVALID,
          "dir: "
              + folder
              + ": of user "
              + owner
              + ", "
              + PosixFilePermissions.toString(allowed)
              + " (expected: a folder of user "
              + user()
              + ", rwx------)");
    }
  }

  /** Its path. */
  public Path path() {
    return folder;
  }

  private static String fileOf(Gid host) {
    return HexFormat.of().toHexDigits(host.high()) + HexFormat.of().toHexDigits(host.low());
  }

  Path socket(Gid host) {
    return folder.resolve(fileOf(host) + SOCKET);
  }

  // ---- hosts

  /**
   * A GID for a host of this process: a unique local address (RFC 4193) that ends in 64 bits by
   * chance.
   */
  static Gid newHost(long chance) {
    return new Gid(PREFIX | (ProcessHandle.current().pid() & PID_MASK), chance);
  }

  /** The process of a host, as that calls itself; another container may have the same. */
  static long process(Gid host) {
    return host.high() & PID_MASK;
  }

  /**
   * Says that a host lives, until the file is closed.
   *
   * @throws IOException if files cannot be made or locked
   */
  FileChannel createHost(Gid host) throws IOException {
    OwnHosts.add(host);
    FileChannel channel = create(fileOf(host) + HOST);
    try {
      if (channel.tryLock() == null) {
        throw new IOException(fileOf(host) + HOST + " is locked by another process");
      }
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Makes what tells whether a host sleeps. */
  MappedByteBuffer createFlag(Gid host) throws IOException {
    return createShared(fileOf(host) + FLAG, SleepFlag.LENGTH);
  }

  /** Maps that of another host. */
  MappedByteBuffer mapFlag(Gid host) throws IOException {
    return map(folder.resolve(fileOf(host) + FLAG), SleepFlag.LENGTH);
  }

  /** Removes what is of a host of this process, which ends. */
  void removeHost(Gid host) throws IOException {
    removeAll(fileOf(host));
    OwnHosts.remove(host);
  }

  private void removeAll(String prefix) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, prefix + "*")) {
      for (Path each : files) {
        Files.deleteIfExists(each);
      }
    }
  }

  /** Removes what is left of hosts whose process is gone. */
  void sweep() throws IOException {
    boolean unused = FolderLock.hold(folder, this::sweepAlone);
  }

  private boolean sweepAlone() throws IOException {
    boolean swept = false;
    try (DirectoryStream<Path> hosts = Files.newDirectoryStream(folder, "*" + FLAG)) {
      for (Path each : hosts) {
        Gid host = gidOf(each.getFileName().toString());
        if (host != null && isAbandoned(host)) {
          removeAll(fileOf(host));
          swept = true;
        }
      }
    }
    try (DirectoryStream<Path> names = Files.newDirectoryStream(folder, "*" + NAME)) {
      for (Path each : names) {
        Service service = read(each);
        if (service != null && isAbandoned(service.host())) {
          Files.deleteIfExists(each);
          swept = true;
        }
      }
    }
    return swept;
  }

  private static @Nullable Gid gidOf(String file) {
    try {
      return new Gid(
          HexFormat.fromHexDigitsToLong(file, 0, 16), HexFormat.fromHexDigitsToLong(file, 16, 32));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      return null;
    }
  }

  /** Whether the process of a host is gone. By one thread at a time: a JVM locks a file once. */
  private boolean isAbandoned(Gid host) throws IOException {
    if (OwnHosts.contains(host)) {
      return false;
    }
    synchronized (SharedFolder.class) {
      return isUnlocked(host);
    }
  }

  private boolean isUnlocked(Gid host) throws IOException {
    try (FileChannel channel =
        FileChannel.open(folder.resolve(fileOf(host) + HOST), StandardOpenOption.WRITE)) {
      return channel.tryLock() != null;
    } catch (NoSuchFileException e) {
      return true;
    } catch (OverlappingFileLockException e) {
      // Another class loader of this JVM looks at it just now, and tells.
      return false;
    }
  }

  // ---- rings

  /** Makes the file of rings from a host to another, of so many bytes, all 0. */
  MappedByteBuffer createRings(String file, int length) throws IOException {
    return createShared(file, length);
  }

  /** A name for that. */
  static String ringsName(Gid from, int number) {
    return fileOf(from) + "-" + number + RING;
  }

  /** Maps rings that another host has made, and removes the file. */
  MappedByteBuffer takeRings(String file, int length) throws IOException {
    Path path = folder.resolve(file).normalize();
    if (!folder.equals(path.getParent()) || !file.endsWith(RING)) {
      throw new IOException("rings: " + file + " (expected: a file in " + folder + ")");
    }
    MappedByteBuffer memory = map(path, length);
    Files.delete(path);
    return memory;
  }

  private MappedByteBuffer createShared(String file, int length) throws IOException {
    try (FileChannel channel = create(file)) {
      fill(channel, length);
      return channel.map(MapMode.READ_WRITE, 0, length);
    } catch (IOException e) {
      throw new IOException(
          e.getMessage() + " (" + length + " bytes of shared memory are needed in " + folder + ")",
          e);
    }
  }

  private FileChannel create(String file) throws IOException {
    return FileChannel.open(
        folder.resolve(file),
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
        PosixFilePermissions.asFileAttribute(OWNERS_FILE));
  }

  private static MappedByteBuffer map(Path path, int length) throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() < length) {
        throw new IOException(path + ": " + channel.size() + " bytes (expected: " + length + ")");
      }
      return channel.map(MapMode.READ_WRITE, 0, length);
    }
  }

  /** By writing: a page that there is no memory for would else end the JVM when it is touched. */
  private static void fill(FileChannel channel, int length) throws IOException {
    ByteBuffer zeroes = ByteBuffer.wrap(ZEROES);
    for (int at = 0; at < length; at += zeroes.position()) {
      zeroes.clear().limit(Math.min(ZEROES.length, length - at));
      channel.write(zeroes, at);
    }
  }

  // ---- services

  /**
   * Where a service is listened on.
   *
   * @param host the listener's
   * @param port its port there
   */
  public record Service(Gid host, int port) {}

  /**
   * Says that a service is listened on; false if it is already, by a process that lives.
   *
   * @param name of letters that a file's name may have
   */
  public boolean offer(String name, Service service) {
    ByteBuffer bytes = ByteBuffer.allocate(NAME_LENGTH);
    bytes.putLong(service.host().high()).putLong(service.host().low()).putInt(service.port());
    Path path = folder.resolve(name + NAME);
    Path made = folder.resolve(name + NAME + "-new");
    try {
      return FolderLock.hold(
          folder,
          () -> {
            if (find(name) != null) {
              return false;
            }
            Files.write(made, bytes.array());
            // Whoever looks sees the one or the other.
            Files.move(
                made, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return true;
          });
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "listen: " + path + ": " + e, e);
    }
  }

  /** Ends that. */
  public void withdraw(String name) {
    Path path = folder.resolve(name + NAME);
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "close listener: " + path + ": " + e, e);
    }
  }

  /** Returns where a service is listened on by a process that lives; null if it is not. */
  public @Nullable Service find(String name) {
    Path path = folder.resolve(name + NAME);
    try {
      Service found = read(path);
      if (found == null) {
        return null;
      }
      return isAbandoned(found.host()) ? null : found;
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "resolve: " + path + ": " + e, e);
    }
  }

  private static @Nullable Service read(Path path) throws IOException {
    ByteBuffer bytes;
    try {
      bytes = ByteBuffer.wrap(Files.readAllBytes(path));
    } catch (NoSuchFileException e) {
      return null;
    }
    return bytes.remaining() < NAME_LENGTH
        ? null
        : new Service(new Gid(bytes.getLong(), bytes.getLong()), bytes.getInt());
  }
}
