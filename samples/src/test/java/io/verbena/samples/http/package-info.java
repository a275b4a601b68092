// SPDX-License-Identifier: Apache-2.0
/** Tests of what the sample of HTTP on Reactor Netty promises, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.http;

import org.jspecify.annotations.NullMarked;
