// SPDX-License-Identifier: Apache-2.0
/** What the tests of the transport are set up with. */
@NullMarked
package io.verbena.reactor.testing;

import org.jspecify.annotations.NullMarked;
