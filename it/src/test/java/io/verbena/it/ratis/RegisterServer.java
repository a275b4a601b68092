// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import io.verbena.ratis.VerbenaConfigKeys;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage.StartupOption;
import org.apache.ratis.util.SizeInBytes;

/**
 * A program that runs one of the servers that replicate the registers, until it is terminated.
 * After a restart it continues from its storage. Ratis's time limits have their defaults. The
 * server keeps little of the log that a snapshot covers, so that a server that was down receives
 * the snapshot.
 */
public final class RegisterServer {
  public static final String READY = "serving";

  /** Precedes the jar of Ratis in use. */
  public static final String RATIS = "ratis: ";

  /** Precedes the time at which the server became the leader, by {@link System#nanoTime}. */
  static final String LEADS = "leads: ";

  /** Precedes the index of a snapshot that the leader has sent. */
  static final String INSTALLED = "installed: ";

  private static final String LOG_SEGMENT = "4KB";
  private static final int SNAPSHOTS_KEPT = 3;

  private RegisterServer() {}

  private static final class Teller implements RegisterStateMachine.Listener {
    @Override
    public void leads() {
      System.out.println(LEADS + System.nanoTime());
    }

    @Override
    public void installed(long index) {
      System.out.println(INSTALLED + index);
    }
  }

  /**
   * Runs the program: the id, the URI of the HCA, the folder, the number of writes per snapshot,
   * the number of those writes that stay in the log, and all servers as id=host:port. If writes
   * come faster than a snapshot is sent and loaded, some must be kept, so that a server that
   * receives a snapshot can catch up.
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    RaftPeerId id = RaftPeerId.valueOf(args[0]);
    File storage = new File(args[2]);
    RaftGroup group = RegisterGroup.of(Stream.of(args).skip(5));
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(id)
            .setGroup(group)
            .setProperties(
                properties(
                    args[1],
                    group.getPeer(id),
                    storage,
                    Integer.parseInt(args[3]),
                    Integer.parseInt(args[4])))
            .setOption(isNew(storage) ? StartupOption.FORMAT : StartupOption.RECOVER)
            .setStateMachine(new RegisterStateMachine(new Teller()))
            .build();
    server.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
    System.out.println(
        RATIS + RaftServer.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    System.out.println(READY);
    new CountDownLatch(1).await();
  }

  private static RaftProperties properties(
      String hca, RaftPeer self, File storage, int writesPerSnapshot, int writesKept) {
    RaftProperties properties = RegisterGroup.properties(hca);
    String address = self.getAddress();
    VerbenaConfigKeys.Server.setPort(
        properties, Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
    RaftServerConfigKeys.setStorageDir(properties, List.of(storage));
    // The default is to read the leader's value, even if another server leads by then.
    RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, writesPerSnapshot);
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(properties, SNAPSHOTS_KEPT);
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
    RaftServerConfigKeys.Log.setPurgeGap(properties, 1);
    RaftServerConfigKeys.Log.setPurgePreservationLogNum(properties, writesKept);
    RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(LOG_SEGMENT));
    return properties;
  }

  private static boolean isNew(File storage) {
    String[] files = storage.list();
    return files == null || files.length == 0;
  }

  private static void close(RaftServer server) {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
