// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A UDP source port to send from. Its socket is not connected: only then, and with the option
 * {@code IP_DONTFRAGMENT} of JDK 19, does Linux leave the IP identification 0, which the invariant
 * CRC covers.
 *
 * <p>Where no receiver checks it, and much goes to one address, a second socket of the same port is
 * connected to that address: then the kernel need not look up the route for each packet, which took
 * about 0.3 us of each.
 */
final class UdpFlow implements AutoCloseable {
  /** Packets in a row to one address after which a socket is connected. */
  static final int ROW = 1024;

  /** The most addresses whose ICMP errors are counted at once. */
  static final int MOST_WATCHES = 64;

  private static final int BUFFER_BYTES = 4 << 20;
  private static final String DO_NOT_FRAGMENT = "IP_DONTFRAGMENT";

  private final InetSocketAddress local;
  private final DatagramChannel channel;
  private final boolean leavesIdentification;
  private @Nullable DatagramChannel connected;
  private @Nullable InetSocketAddress last;
  private final Map<InetSocketAddress, Watch> watches = new HashMap<>();

  /** The socket that recently had no room for a packet; read by the thread that selects. */
  private volatile @Nullable DatagramChannel full;

  /** Packets in a row to {@link #last} that need no identification of 0. */
  private int row;

  UdpFlow(InetAddress address) throws IOException {
    channel = open(address);
    try {
      leavesIdentification = doNotFragment(channel);
      channel.bind(new InetSocketAddress(address, 0));
      // Only now: a socket that binds with this option may get a port that another socket has.
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      local = (InetSocketAddress) channel.getLocalAddress();
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  private static DatagramChannel open(InetAddress address) throws IOException {
    DatagramChannel channel = DatagramChannel.open(UdpWire.family(address));
    try {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  @SuppressWarnings("unchecked") // there is one option of that name, and it is a Boolean
  private static boolean doNotFragment(DatagramChannel channel) throws IOException {
    for (SocketOption<?> option : channel.supportedOptions()) {
      if (option.name().equals(DO_NOT_FRAGMENT)) {
        channel.setOption((SocketOption<Boolean>) option, true);
        return true;
      }
    }
    return false;
  }

  int port() {
    return local.getPort();
  }

  /** Returns whether packets leave with IP identification 0 if they are sent as identified. */
  boolean leavesIdentification() {
    return leavesIdentification;
  }

  /**
   * Sends a packet.
   *
   * @param identified whether a receiver checks the IP identification, which then has to be 0
   * @return false if the socket's buffer is full
   */
  boolean send(ByteBuffer bytes, InetSocketAddress to, boolean identified) throws IOException {
    if (identified || !to.equals(last)) {
      last = to;
      row = 0;
      disconnect();
    } else if (connected != null) {
      return write(connected, bytes, to);
    } else if (++row == ROW) {
      connected = connected(to);
    }
    return sent(channel, channel.send(bytes, to));
  }

  private boolean sent(DatagramChannel way, int count) {
    if (count == 0) {
      full = way;
    }
    return count > 0;
  }

  private boolean write(DatagramChannel way, ByteBuffer bytes, InetSocketAddress to)
      throws IOException {
    try {
      return sent(way, way.write(bytes));
    } catch (IOException e) {
      // Mostly an ICMP error of an earlier packet: this one has not been tried yet.
      row = 0;
      disconnect();
      return sent(channel, channel.send(bytes, to));
    }
  }

  /** Opens another socket of this port, connected; null where two sockets may not share a port. */
  private @Nullable DatagramChannel connected(InetSocketAddress to) {
    DatagramChannel way = null;
    try {
      way = open(local.getAddress());
      way.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      way.bind(local);
      way.connect(to);
      return way;
    } catch (IOException e) {
      close(way);
      return null;
    }
  }

  /**
   * Counts the ICMP errors of packets that go from here to an address; null if the kernel does not
   * report them, or too many addresses are watched. Callers with the same address share a socket.
   */
  @Nullable UnreachableReports unreachableReports(InetSocketAddress of) {
    Watch watch = watches.get(of);
    if (watch == null) {
      DatagramChannel socket = watches.size() < MOST_WATCHES ? connected(of) : null;
      if (socket == null) {
        return null;
      }
      watch = new Watch(of, socket);
      watches.put(of, watch);
    }
    watch.holders++;
    return watch;
  }

  /**
   * A socket that sends nothing: the kernel reports ICMP errors for packets of the unconnected
   * socket to it, since it is connected to their destination.
   */
  private final class Watch implements UnreachableReports {
    private final InetSocketAddress of;
    private final DatagramChannel socket;
    private int holders;
    private int count;

    Watch(InetSocketAddress of, DatagramChannel socket) {
      this.of = of;
      this.socket = socket;
    }

    @Override
    public int count() {
      try {
        int unused = socket.read(ByteBuffer.allocate(1));
      } catch (PortUnreachableException e) {
        count++;
      } catch (IOException e) {
        // Closed with the wire, or another failure of the network, which may pass.
        return count;
      }
      return count;
    }

    @Override
    public void close() {
      if (--holders == 0) {
        watches.remove(of);
        UdpFlow.close(socket);
      }
    }
  }

  /**
   * Registers the socket that was full with a selector, or ends that, to learn when it has room;
   * for the thread that selects.
   *
   * @throws IOException if that socket is closed: there is another one then
   */
  void tellOfRoom(Selector selector, boolean tell) throws IOException {
    DatagramChannel waitedFor = full;
    if (waitedFor != null) {
      SelectionKey unused = waitedFor.register(selector, tell ? SelectionKey.OP_WRITE : 0);
    }
  }

  boolean isConnected() {
    return connected != null;
  }

  private void disconnect() {
    close(connected);
    connected = null;
  }

  @Override
  public void close() {
    disconnect();
    close(channel);
    watches.values().forEach(watch -> close(watch.socket));
  }

  private static void close(@Nullable DatagramChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      throw new IllegalStateException("close socket", e);
    }
  }
}
