// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rsocket;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.guest.LeftOut;
import org.junit.jupiter.api.Tag;

/**
 * Runs the tests of the RSocket adapter, including RSocket's own, unchanged, on {@code disni://}.
 *
 * <p>To run only this class: {@code
 * -Dtest='io.verbena.it.rsocket.RSocketTest,io.verbena.rsocket.**.*Test'}; the selection must
 * include the excluded tests.
 */
@Tag("once")
@InSoftRoceGuest(
    packages = "io.verbena.rsocket",
    without = {
      @LeftOut(
          tests = "io.verbena.rsocket.FrameQueueTest",
          reason = "of a queue alone: there is no HCA in it"),
      @LeftOut(
          tests = "io.verbena.rsocket.suite.FragmentationTest",
          reason = "the same with shorter frames, which takes minutes under emulation"),
      @LeftOut(
          tests = {
            "io.verbena.rsocket.suite.ResumableTest",
            "io.verbena.rsocket.suite.ResumableFragmentationTest"
          },
          reason = "the same over connections that are cut, which the others are too")
    })
class RSocketTest {}
