// SPDX-License-Identifier: Apache-2.0
/**
 * The reactive transport over any verbs provider. Programs reach it through {@link
 * io.verbena.RdmaTransport}; nothing here is for them.
 */
@NullMarked
package io.verbena.reactor;

import org.jspecify.annotations.NullMarked;
