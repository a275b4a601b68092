// SPDX-License-Identifier: Apache-2.0
/**
 * The reactive transport over any verbs provider. Programs use it through {@link
 * io.verbena.RdmaTransport}; this package is not their API.
 */
@NullMarked
package io.verbena.reactor;

import org.jspecify.annotations.NullMarked;
