// SPDX-License-Identifier: Apache-2.0
/** Tests of the meters of connections. */
@NullMarked
package io.verbena.reactor.meters;

import org.jspecify.annotations.NullMarked;
