// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.netty;

import io.verbena.it.guest.InSoftRoceGuest;

/** The tests of the Netty channels, unchanged, on {@code disni://}. */
@InSoftRoceGuest(packages = "io.verbena.netty")
class NettyTest {}
