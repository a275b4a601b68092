// SPDX-License-Identifier: Apache-2.0
/** Reactor Netty over RDMA: loop resources with the channels of {@link io.verbena.netty}. */
@NullMarked
package io.verbena.reactornetty;

import org.jspecify.annotations.NullMarked;
