// SPDX-License-Identifier: Apache-2.0
/** Reactor Netty's clients and servers over RDMA. */
package io.verbena.reactornetty;
