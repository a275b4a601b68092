// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

/** A method of user code that the transport calls. */
enum Signal {
  ON_SUBSCRIBE,
  ON_NEXT,
  ON_ERROR,
  ON_COMPLETE,
  /** Of a publisher of the user. */
  SUBSCRIBE,
  /** Of that publisher's subscription. */
  REQUEST,
  /** Of that publisher's subscription. */
  CANCEL,
  /** Of the function that is given to bind. */
  APPLY
}
