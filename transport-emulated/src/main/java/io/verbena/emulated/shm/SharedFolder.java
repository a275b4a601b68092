// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.verbs.Gid;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
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
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The folder in which processes of one user find each other:
 *
 * <pre>
 *  HOST.host        locked by the host's process while it is alive
 *  HOST.flag        set while the host sleeps
 *  HOST.sock        the Unix domain socket on which others introduce themselves and wake it
 *  HOST-N.ring      the rings between two hosts, until both have mapped them
 *  HOST-N.slab      memory that the host's peers may map
 *  SERVICE.name     the listener of a service: GID and port
 * </pre>
 *
 * <p>The kernel releases a lock however a process ends. So the files of a host whose {@code .host}
 * file is not locked are left over; they are removed when the next host opens.
 */
public final class SharedFolder {
  private static final String HOST = ".host";
  private static final String FLAG = ".flag";
  private static final int FLAG_LENGTH = SleepFlag.LENGTH + GrantTable.LENGTH;
  private static final String SOCKET = ".sock";
  private static final String RING = ".ring";
  private static final String SLAB = ".slab";
  private static final String NAME = ".name";
  private static final String NEW_NAME = ".name-new";

  /** The number of digits of a host's GID, with which the names of its files begin. */
  private static final int DIGITS = 32;

  private static final Set<PosixFilePermission> OWNER =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OWNERS_FILE =
      PosixFilePermissions.fromString("rw-------");

  /** fd00::/8, with a global ID of our own. */
  private static final long PREFIX = 0xfd56_6572L << 32;

  private static final long PID_MASK = 0xffff_ffffL;

  /** The longest path that the kernel's socket addresses hold, in bytes. */
  private static final int LONGEST_SOCKET_PATH = 107;

  /** The bytes of the folder that slabs leave free for rings; at most a quarter of the folder. */
  private static final long MOST_LEFT_BY_SLABS = 64 << 20;

  private static final int NAME_LENGTH = 20;
  private static final byte[] ZEROES = new byte[1 << 16];

  private final Path folder;

  private SharedFolder(Path folder) {
    this.folder = folder;
  }

  /**
   * Opens a folder of this user, and creates it if there is none.
   *
   * @param path an absolute path, or null for the default one: in {@code /dev/shm} if there is one
   * @throws VerbsException {@code INVALID} for a folder of another user, a folder that others may
   *     access, a path that is not absolute, or a path too long for a socket; {@code IO} if the
   *     folder cannot be created
   */
  public static SharedFolder open(@Nullable String path) {
    try {
      Path folder = path == null ? defaultFolder() : Path.of(path);
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
      // Another process was first: the folder is checked below.
      return;
    }
  }

  private static Path defaultFolder() throws IOException {
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
   * Returns a GID for a host of this process: a unique local address (RFC 4193) that ends in the 64
   * random bits of {@code chance}.
   */
  static Gid newHost(long chance) {
    return new Gid(PREFIX | (ProcessHandle.current().pid() & PID_MASK), chance);
  }

  /** Returns the process ID in a host's GID; a host in another container may have the same. */
  static long process(Gid host) {
    return host.high() & PID_MASK;
  }

  /**
   * Registers a host as alive until the returned file is closed, and removes the files of hosts
   * whose process is gone.
   *
   * @throws IOException if files cannot be created or locked
   */
  FileChannel createHost(Gid host) throws IOException {
    OwnHosts.add(host);
    return FolderLock.hold(
        folder,
        () -> {
          sweep();
          return createAndLock(host);
        });
  }

  /**
   * Creates and locks a host's file. Called under the folder's lock: otherwise another process that
   * sweeps would remove the file before it is locked.
   */
  private FileChannel createAndLock(Gid host) throws IOException {
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

  /**
   * Creates the flag that is set while a host sleeps, followed by the host's {@link GrantTable}.
   */
  Mapping createFlag(Gid host) throws IOException {
    return createShared(fileOf(host) + FLAG, FLAG_LENGTH);
  }

  /** Maps the flag and the grants of another host. */
  Mapping mapFlag(Gid host) throws IOException {
    return map(folder.resolve(fileOf(host) + FLAG), FLAG_LENGTH);
  }

  /** Removes the files of a host of this process, when the host closes. */
  void removeHost(Gid host) throws IOException {
    try {
      removeAll(fileOf(host));
    } finally {
      OwnHosts.remove(host);
    }
  }

  private void removeAll(String prefix) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, prefix + "*")) {
      for (Path each : files) {
        Files.deleteIfExists(each);
      }
    }
  }

  /**
   * Removes the files of hosts whose process is gone; any of their files may be the only one left.
   */
  private void sweep() throws IOException {
    Set<Gid> hosts = new HashSet<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path each : files) {
        String file = each.getFileName().toString();
        Gid host = gidOf(file);
        if (file.endsWith(NAME)) {
          removeAbandoned(each);
        } else if (file.endsWith(NEW_NAME)) {
          // Such a file is written under the folder's lock, which this thread holds: so it is left
          // over.
          Files.deleteIfExists(each);
        } else if (host != null) {
          hosts.add(host);
        }
      }
    }
    for (Gid each : hosts) {
      boolean unused = removeAbandoned(each);
    }
  }

  /** Removes the files of a host if its process is gone; returns whether it is. */
  boolean removeAbandoned(Gid host) throws IOException {
    boolean gone = uninterrupted(() -> isAbandoned(host));
    if (gone) {
      removeAll(fileOf(host));
    }
    return gone;
  }

  /**
   * Uses a file, and clears the thread's interrupt status meanwhile. The thread may be a program's
   * that polls: an interrupt would close the file, and break connections.
   */
  private static <T> T uninterrupted(FolderLock.Action<T> use) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      return use.run();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void removeAbandoned(Path name) throws IOException {
    Service service = read(name);
    if (service != null && isAbandoned(service.host())) {
      Files.deleteIfExists(name);
    }
  }

  private static @Nullable Gid gidOf(String file) {
    if (file.length() <= DIGITS || ".-".indexOf(file.charAt(DIGITS)) < 0) {
      return null;
    }
    try {
      return new Gid(
          HexFormat.fromHexDigitsToLong(file, 0, DIGITS / 2),
          HexFormat.fromHexDigitsToLong(file, DIGITS / 2, DIGITS));
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /**
   * Returns whether the process of a host is gone. One thread at a time checks: a JVM can lock a
   * file only once.
   */
  private boolean isAbandoned(Gid host) throws IOException {
    if (OwnHosts.contains(host)) {
      return false;
    }
    synchronized (OwnHosts.monitor()) {
      return isUnlocked(host);
    }
  }

  /**
   * Tries a shared lock: two processes that check at the same time must not take each other for the
   * host.
   */
  private boolean isUnlocked(Gid host) throws IOException {
    try (FileChannel channel =
        FileChannel.open(folder.resolve(fileOf(host) + HOST), StandardOpenOption.READ)) {
      return channel.tryLock(0, Long.MAX_VALUE, true) != null;
    } catch (NoSuchFileException e) {
      return true;
    }
  }

  // ---- rings

  /** Creates the file of rings between two hosts, with {@code length} bytes, all 0. */
  Mapping createRings(String file, int length) throws IOException {
    return createShared(file, length);
  }

  /** Returns the name of a file of rings. */
  static String ringsName(Gid from, int number) {
    return fileOf(from) + "-" + number + RING;
  }

  /** Maps rings that another host has created, and removes the file. */
  Mapping takeRings(String file, int length) throws IOException {
    Path name = Path.of(file);
    if (name.isAbsolute() || name.getNameCount() != 1 || !file.endsWith(RING)) {
      throw new IOException("rings: " + file + " (expected: a file in " + folder + ")");
    }
    Path path = folder.resolve(name);
    Mapping memory = map(path, length);
    Files.deleteIfExists(path);
    return memory;
  }

  /** Removes rings of a host of this process, unless the other host has taken them. */
  void discardRings(String file) throws IOException {
    Files.deleteIfExists(folder.resolve(file));
  }

  // ---- slabs

  /**
   * Creates a zeroed slab of a host of this process; its file stays until {@link #removeSlab}.
   *
   * @throws IOException also if the slab would leave too little room for the rings of later
   *     connections
   */
  ByteBuffer createSlab(Gid host, int number, int length) throws IOException {
    File room = folder.toFile();
    long left = Math.min(MOST_LEFT_BY_SLABS, room.getTotalSpace() >> 2);
    if (room.getUsableSpace() - length < left) {
      throw noRoom(length, "it would leave less than " + left + " bytes", null);
    }
    String file = slabName(host, number);
    try (FileChannel channel = create(file)) {
      return uninterrupted(
          () -> {
            fill(channel, length);
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
          });
    } catch (IOException e) {
      Files.deleteIfExists(folder.resolve(file));
      throw noRoom(length, e.getMessage(), e);
    }
  }

  private IOException noRoom(int length, String why, @Nullable IOException cause) {
    return new IOException(
        "cannot create " + length + " bytes of shared memory in " + folder + ": " + why, cause);
  }

  /** Removes a slab of a host of this process. */
  void removeSlab(Gid host, int number) throws IOException {
    Files.deleteIfExists(folder.resolve(slabName(host, number)));
  }

  /** Maps a slab of another host. */
  Mapping mapSlab(Gid host, int number) throws IOException {
    Path path = folder.resolve(slabName(host, number));
    long length = Files.size(path);
    if (length < 1 || length > Integer.MAX_VALUE) {
      throw new IOException(path + ": " + length + " bytes (expected: 1 to 2 GiB)");
    }
    return map(path, (int) length);
  }

  /** Returns whether a slab of another host is still there. */
  boolean hasSlab(Gid host, int number) {
    return Files.exists(folder.resolve(slabName(host, number)));
  }

  private static String slabName(Gid host, int number) {
    return fileOf(host) + "-" + number + SLAB;
  }

  // ---- files

  private Mapping createShared(String file, int length) throws IOException {
    try (FileChannel channel = create(file)) {
      return uninterrupted(
          () -> {
            fill(channel, length);
            return Mapping.of(channel, length);
          });
    } catch (IOException e) {
      Files.deleteIfExists(folder.resolve(file));
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

  /** Opens the flag of a host of this process. */
  FileChannel openFlag(Gid host) throws IOException {
    return FileChannel.open(folder.resolve(fileOf(host) + FLAG), StandardOpenOption.READ);
  }

  private static Mapping map(Path path, int length) throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return uninterrupted(
          () -> {
            if (channel.size() < length) {
              throw new IOException(
                  path + ": " + channel.size() + " bytes (expected: " + length + ")");
            }
            return Mapping.of(channel, length);
          });
    }
  }

  /**
   * Fills a file with zeroes, so that a lack of memory is found here: an access to a mapped page
   * for which there is no memory would crash the JVM.
   */
  private static void fill(FileChannel channel, int length) throws IOException {
    ByteBuffer zeroes = ByteBuffer.wrap(ZEROES);
    for (int at = 0; at < length; at += zeroes.position()) {
      zeroes.clear().limit(Math.min(ZEROES.length, length - at));
      channel.write(zeroes, at);
    }
  }

  // ---- services

  /**
   * The listener of a service.
   *
   * @param host the listener's host
   * @param port the listener's port there
   */
  public record Service(Gid host, int port) {}

  /**
   * Publishes a listener of a service; returns false if a process that is alive has one already.
   *
   * @param name the service, in characters that a file's name may have
   * @throws VerbsException {@code IO} if the folder cannot be read or written
   */
  public boolean offer(String name, Service service) {
    ByteBuffer bytes = ByteBuffer.allocate(NAME_LENGTH);
    bytes.putLong(service.host().high()).putLong(service.host().low()).putInt(service.port());
    Path path = folder.resolve(name + NAME);
    Path made = folder.resolve(name + NEW_NAME);
    try {
      return FolderLock.hold(
          folder,
          () -> {
            if (find(name) != null) {
              return false;
            }
            Files.write(made, bytes.array());
            // A reader sees the old or the new file.
            Files.move(
                made, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return true;
          });
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "listen: " + path + ": " + e, e);
    }
  }

  /**
   * Removes the listener of a service.
   *
   * @throws VerbsException {@code IO} if its file cannot be removed
   */
  public void withdraw(String name) {
    Path path = folder.resolve(name + NAME);
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "close listener: " + path + ": " + e, e);
    }
  }

  /**
   * Returns the listener of a service; null if there is none in a process that is alive.
   *
   * @throws VerbsException {@code IO} if the folder cannot be read
   */
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
