// SPDX-License-Identifier: Apache-2.0
/** Reactor Netty on Linux's own RDMA stack. */
@NullMarked
package io.verbena.it.reactornetty;

import org.jspecify.annotations.NullMarked;
