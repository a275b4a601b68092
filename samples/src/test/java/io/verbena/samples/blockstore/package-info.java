// SPDX-License-Identifier: Apache-2.0
/** Tests of what the block store promises, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.blockstore;

import org.jspecify.annotations.NullMarked;
