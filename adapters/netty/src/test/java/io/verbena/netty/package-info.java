// SPDX-License-Identifier: Apache-2.0
/** RDMA channels where they are not like those of sockets, or where Netty's suite has no test. */
@NullMarked
package io.verbena.netty;

import org.jspecify.annotations.NullMarked;
