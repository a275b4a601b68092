// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.reactornetty;

import io.verbena.it.guest.InSoftRoceGuest;

/** Runs the tests of Reactor Netty's TCP and HTTP, unchanged, on {@code disni://}. */
@InSoftRoceGuest(packages = "io.verbena.reactornetty")
class ReactorNettyTest {}
