// SPDX-License-Identifier: Apache-2.0
/** Tests of the sample of HTTP on Reactor Netty, over RDMA and over TCP. */
@NullMarked
package io.verbena.samples.http;

import org.jspecify.annotations.NullMarked;
