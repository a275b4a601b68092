// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;

/**
 * Passes the events of a channel's own pipeline to that of the channel in front of it, which alone
 * asks for reads, and has a life cycle of its own.
 */
class Bridge extends ChannelDuplexHandler {
  private final Channel front;

  Bridge(Channel front) {
    this.front = front;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    // The channel in front is active when it says so.
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    // The channel in front closes with this one, and fires the event.
  }

  @Override
  public void read(ChannelHandlerContext context) {
    // The channel in front begins it.
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
