// SPDX-License-Identifier: Apache-2.0
/** Tests of the block store, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.blockstore;

import org.jspecify.annotations.NullMarked;
