// SPDX-License-Identifier: Apache-2.0
/** Netty channels on Linux's own RDMA stack. */
@NullMarked
package io.verbena.it.netty;

import org.jspecify.annotations.NullMarked;
