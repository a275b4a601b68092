/** Reactor Netty's clients and servers over RDMA. */
package io.verbena.reactornetty;
