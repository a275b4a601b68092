// SPDX-License-Identifier: Apache-2.0
/** Tests of the provider when packets, peers and links are lost. */
@NullMarked
package io.verbena.it.faults;

import org.jspecify.annotations.NullMarked;
