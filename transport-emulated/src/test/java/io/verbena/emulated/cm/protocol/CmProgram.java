// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A program at one end, which records its events and answers with the next step. */
final class CmProgram implements CmUser, CmListener {
  static final long SERVICE = ServiceId.of(ServiceId.TCP, 7);

  final Network network;
  final List<String> told = new ArrayList<>();
  @Nullable Communication communication;
  boolean refuses;
  boolean leaves;
  boolean leavesByDisconnect;
  int requests;
  int thinks = 1;

  private final @Nullable SharedSecret key;

  CmProgram(Network network) {
    this(network, null);
  }

  CmProgram(Network network, @Nullable SharedSecret key) {
    this.network = network;
    this.key = key;
  }

  /** Returns a connect request with an MTU. */
  static Request request(int mtu) {
    ByteBuffer data = Mad.padded(bytes("hello"), Mad.REQUEST_DATA);
    Gid unset = new Gid(0, 0);
    return new Request(
        0, 0, SERVICE, 0, 100, 1, 1, 0, 5, 7, 0xffff, mtu, 7, unset, unset, 14, data, null);
  }

  /** Returns an accepting reply. */
  static Reply reply() {
    return new Reply(0, 0, 0, 200, 6, 1, 1, 7, 0, Mad.padded(bytes("welcome"), Mad.REPLY_DATA));
  }

  static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  @Override
  public @Nullable SharedSecret key() {
    return key;
  }

  Communication communication() {
    if (communication == null) {
      throw new AssertionError("no communication");
    }
    return communication;
  }

  private void then(Runnable step) {
    network.time.schedule(network.soon(thinks), step);
  }

  @Override
  public CmUser requested(Communication made, Request request) {
    requests++;
    communication = made;
    if (leaves) {
      // Leaves at a random moment of the exchange, each step of which takes up to 1 ms.
      network.time.schedule(
          network.soon(8),
          () -> {
            if (leavesByDisconnect) {
              made.disconnect();
            } else {
              made.reject(CmReason.CONSUMER_DEFINED, bytes("no"));
            }
          });
    }
    then(
        () -> {
          if (refuses) {
            made.reject(CmReason.CONSUMER_DEFINED, bytes("no"));
          } else {
            made.accept(reply());
          }
        });
    return this;
  }

  @Override
  public void replied(Reply reply) {
    told.add("replied");
    then(communication()::ready);
  }

  @Override
  public void established() {
    told.add("established");
  }

  @Override
  public void rejected(Reject reject) {
    told.add("rejected " + reject.reason());
  }

  @Override
  public void unreachable(int why) {
    told.add(why == ConnectionEvent.NO_HCA ? "no HCA" : "unreachable");
  }

  @Override
  public void disconnected() {
    told.add("disconnected");
  }
}
