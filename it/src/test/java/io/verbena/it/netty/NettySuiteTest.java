// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.netty;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.guest.LeftOut;
import org.junit.jupiter.api.Tag;

/**
 * A part of Netty's own suite on {@code disni://}: all that is about the channel itself, where the
 * HCA and its connection manager decide what happens (echoes with auto-read on and off, gathering
 * writes, files, half-closure, resets, connects that fail, addresses), and two of the variants of a
 * TLS echo. Left out is what runs the same bytes through other handlers, and, where the suite says
 * so itself, four tests of many bytes.
 */
@Tag("once")
@InSoftRoceGuest(
    packages = "io.verbena.nettysuite",
    without = {
      @LeftOut(
          tests = "io.verbena.nettysuite.HandlerSuiteTest",
          reason = "of codecs and traffic shaping: half a minute in which the HCA has little part"),
      @LeftOut(
          tests = "io.verbena.nettysuite.TlsSuiteTest",
          reason = "of handshakes and sessions: much arithmetic, which a guest is slow at")
    })
class NettySuiteTest {}
