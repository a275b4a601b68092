// SPDX-License-Identifier: Apache-2.0
/** Fixtures for the tests of the transport. */
@NullMarked
package io.verbena.reactor.testing;

import org.jspecify.annotations.NullMarked;
