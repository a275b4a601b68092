// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.netty;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.guest.LeftOut;
import org.junit.jupiter.api.Tag;

/**
 * Runs the tests of the Netty channels, unchanged, on {@code disni://}.
 *
 * <p>The second JDK runs them on the host, and here Reactor Netty's TCP and HTTP on these channels.
 */
@Tag("once")
@InSoftRoceGuest(
    packages = "io.verbena.netty",
    without = {
      @LeftOut(
          tests = "io.verbena.netty.PagesTest",
          reason = "of pages in docs/: there is no HCA in it"),
      @LeftOut(
          tests = "io.verbena.netty.StreamReceiveQueueTest",
          reason = "on a pool of receives that the test is itself: no HCA is asked")
    })
class NettyTest {}
