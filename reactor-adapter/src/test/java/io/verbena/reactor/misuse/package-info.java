// SPDX-License-Identifier: Apache-2.0
/**
 * Tests of user code that misbehaves in every callback, in every way and at every moment of a
 * connection. Only the user's own operation or connection may suffer.
 */
@NullMarked
package io.verbena.reactor.misuse;

import org.jspecify.annotations.NullMarked;
