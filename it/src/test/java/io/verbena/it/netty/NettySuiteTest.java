// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.netty;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.guest.LeftOut;
import org.junit.jupiter.api.Tag;

/**
 * Runs a part of Netty's own suite on {@code disni://}: all tests of the channel itself, which
 * depend on the HCA and its connection manager (echoes with auto-read on and off, gathering writes,
 * files, half-closure, resets, failing connects, addresses), and two variants of a TLS echo.
 * Excludes tests of other handlers with the same bytes, and four tests of many bytes, which the
 * suite excludes itself.
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
