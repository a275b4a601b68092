// SPDX-License-Identifier: Apache-2.0
/**
 * A user who misbehaves in every callback, in every way and at every moment of a connection's life.
 * Only this user's operation or connection may suffer.
 */
@NullMarked
package io.verbena.reactor.misuse;

import org.jspecify.annotations.NullMarked;
