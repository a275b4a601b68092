// SPDX-License-Identifier: Apache-2.0
/** Tests of what the sample of ticks over RSocket promises, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.rsocket;

import org.jspecify.annotations.NullMarked;
