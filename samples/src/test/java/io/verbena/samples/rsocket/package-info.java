// SPDX-License-Identifier: Apache-2.0
/** Tests of the sample of ticks over RSocket, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.rsocket;

import org.jspecify.annotations.NullMarked;
