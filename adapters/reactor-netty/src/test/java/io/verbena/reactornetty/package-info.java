// SPDX-License-Identifier: Apache-2.0
/** Tests of Reactor Netty's clients and servers over RDMA. */
package io.verbena.reactornetty;
