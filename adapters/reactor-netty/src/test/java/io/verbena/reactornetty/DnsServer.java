// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A DNS server (RFC 1035) on UDP that knows one name with one IPv4 address. */
final class DnsServer implements AutoCloseable {
  private static final int HEADER = 12;
  private static final int FLAGS_AT = 2;
  private static final int ANSWERS_AT = 6;
  private static final int ADDITIONAL_AT = 10;
  private static final int ANSWER = 0x8180;
  private static final int NO_SUCH_NAME = 0x8183;
  private static final int TYPE_A = 1;
  private static final int CLASS_INTERNET = 1;
  private static final int NAME_OF_THE_QUESTION = 0xc000 | HEADER;

  private final DatagramSocket socket =
      new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  private final String name;
  private final InetAddress address;

  DnsServer(String name, InetAddress address) throws SocketException {
    this.name = name;
    this.address = address;
    Thread thread = new Thread(this::serve, "dns");
    thread.setDaemon(true);
    thread.start();
  }

  InetSocketAddress address() {
    return (InetSocketAddress) socket.getLocalSocketAddress();
  }

  private void serve() {
    byte[] bytes = new byte[512];
    try {
      while (!socket.isClosed()) {
        DatagramPacket query = new DatagramPacket(bytes, bytes.length);
        socket.receive(query);
        byte[] answer = answer(ByteBuffer.wrap(bytes, 0, query.getLength()));
        socket.send(new DatagramPacket(answer, answer.length, query.getSocketAddress()));
      }
    } catch (IOException e) {
      if (!socket.isClosed()) {
        throw new IllegalStateException(e);
      }
    }
  }

  private byte[] answer(ByteBuffer query) {
    StringBuilder asked = new StringBuilder();
    query.position(HEADER);
    for (int length = query.get(); length > 0; length = query.get()) {
      byte[] label = new byte[length];
      query.get(label);
      asked
          .append(asked.length() == 0 ? "" : ".")
          .append(new String(label, StandardCharsets.US_ASCII));
    }
    int type = query.getShort();
    query.getShort();
    boolean known = asked.toString().equals(name);
    ByteBuffer answer = ByteBuffer.allocate(512);
    answer.put(query.duplicate().flip());
    answer.putShort(FLAGS_AT, (short) (known ? ANSWER : NO_SUCH_NAME));
    answer.putShort(ADDITIONAL_AT, (short) 0);
    if (known && type == TYPE_A) {
      byte[] of = address.getAddress();
      answer.putShort(ANSWERS_AT, (short) 1);
      answer.putShort((short) NAME_OF_THE_QUESTION).putShort((short) TYPE_A);
      answer.putShort((short) CLASS_INTERNET).putInt(60).putShort((short) of.length).put(of);
    }
    byte[] bytes = new byte[answer.position()];
    answer.flip().get(bytes);
    return bytes;
  }

  @Override
  public void close() {
    socket.close();
  }
}
