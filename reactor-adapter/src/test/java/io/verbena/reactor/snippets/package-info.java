// SPDX-License-Identifier: Apache-2.0
/** Programs that docs/ quotes. */
@NullMarked
package io.verbena.reactor.snippets;

import org.jspecify.annotations.NullMarked;
