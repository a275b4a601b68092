// SPDX-License-Identifier: Apache-2.0
/** What is metered of connections. */
@NullMarked
package io.verbena.reactor.meters;

import org.jspecify.annotations.NullMarked;
