// SPDX-License-Identifier: Apache-2.0
/** RSocket's own tests of a transport, in their four variants. */
@NullMarked
package io.verbena.rsocket.suite;

import org.jspecify.annotations.NullMarked;
