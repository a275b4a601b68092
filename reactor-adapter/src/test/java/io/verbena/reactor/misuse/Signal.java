// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

/** A method of user code that the transport calls. */
enum Signal {
  ON_SUBSCRIBE,
  ON_NEXT,
  ON_ERROR,
  ON_COMPLETE,
  /** {@code subscribe} of a user's publisher. */
  SUBSCRIBE,
  /** {@code request} of that publisher's subscription. */
  REQUEST,
  /** {@code cancel} of that publisher's subscription. */
  CANCEL,
  /** A call of the function given to bind. */
  APPLY
}
