// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;

/**
 * Passes the events of a channel's pipeline to the pipeline of the channel in front of it. It stops
 * reads and life-cycle events, because the channel in front has its own.
 */
class Bridge extends ChannelDuplexHandler {
  private final Channel front;

  Bridge(Channel front) {
    this.front = front;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    // The channel in front fires its own event.
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    // The channel in front closes with this one, and fires the event.
  }

  @Override
  public void read(ChannelHandlerContext context) {
    // The channel in front begins its reads itself.
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    front.pipeline().fireChannelRead(message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    front.pipeline().fireChannelReadComplete();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    front.pipeline().fireUserEventTriggered(event);
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    front.pipeline().fireChannelWritabilityChanged();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    front.pipeline().fireExceptionCaught(cause);
  }
}
