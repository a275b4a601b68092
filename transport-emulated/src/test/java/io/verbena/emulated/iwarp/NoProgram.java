// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.iwarp.frame.MpaFrame;

/** Ignores all requests. */
final class NoProgram implements TcpStream.Asked {
  @Override
  public void requested(TcpStream stream, MpaFrame request) {}

  @Override
  public void withdrawn(TcpStream stream) {}
}
