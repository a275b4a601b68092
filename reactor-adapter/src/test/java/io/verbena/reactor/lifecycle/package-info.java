// SPDX-License-Identifier: Apache-2.0
/** Tests of connecting, closing, losing a peer, and cancelling. */
@NullMarked
package io.verbena.reactor.lifecycle;

import org.jspecify.annotations.NullMarked;
