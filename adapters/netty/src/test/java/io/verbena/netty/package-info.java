// SPDX-License-Identifier: Apache-2.0
/**
 * Tests of RDMA channels where they differ from sockets, or where Netty's test suite has no test.
 */
@NullMarked
package io.verbena.netty;

import org.jspecify.annotations.NullMarked;
