// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.netty.buffer.ByteBuf;
import io.verbena.reactor.receive.ImmediateReceiver;
import io.verbena.reactor.receive.MessageReceiver;
import io.verbena.reactor.send.MessageSender;
import io.verbena.reactor.wire.FrameReader;

/** Routes each record of the peer's frames to the part of the connection that handles it. */
final class FrameRouter implements FrameReader.Handler {
  private final MessageSender sender;
  private final MessageReceiver receiver;
  private final ImmediateReceiver immediates;
  private final GracefulClose close;

  FrameRouter(
      MessageSender sender,
      MessageReceiver receiver,
      ImmediateReceiver immediates,
      GracefulClose close) {
    this.sender = sender;
    this.receiver = receiver;
    this.immediates = immediates;
    this.close = close;
  }

  @Override
  public void granted(int frames, int messages, int newImmediates) {
    sender.granted(frames, messages, newImmediates);
  }

  @Override
  public void message(ByteBuf frame, int start, int length) {
    receiver.message(frame, start, length);
  }

  @Override
  public void rendezvous(int length, int id, int key, long address) {
    receiver.rendezvous(length, id, key, address);
  }

  @Override
  public void done(int id) {
    sender.done(id);
  }

  @Override
  public void closing(boolean stop) {
    receiver.closeCame();
    close.closeCame(stop);
  }

  @Override
  public void returned(int count) {
    receiver.returned(count);
  }

  @Override
  public void immediate(int value, int length) {
    immediates.arrived(value, length);
  }
}
