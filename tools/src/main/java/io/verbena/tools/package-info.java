// SPDX-License-Identifier: Apache-2.0
/**
 * The command-line tools: what {@code ibv_devinfo}, {@code ibv_rc_pingpong}, {@code rping} and
 * perftest do, on every verbs provider by URI. The programs that they are named after can be the
 * peers.
 */
@NullMarked
package io.verbena.tools;

import org.jspecify.annotations.NullMarked;
