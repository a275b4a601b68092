package io.verbena.reactor.connection;

import io.verbena.RdmaException;

/** Who a work request in the send queue belongs to. Called on the loop, once per request. */
interface Posted {

  /** What it is, for errors. */
  String operation();

  /** The HCA takes too long; the connection is about to be given up, and the request flushed. */
  void overdue(RdmaException error);

  /** The request is done. */
  void succeeded();

  /** The request failed or was flushed, and the HCA has let go of its buffers. */
  void failed(RdmaException error);
}
