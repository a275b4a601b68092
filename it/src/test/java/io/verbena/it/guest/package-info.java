// SPDX-License-Identifier: Apache-2.0
/** Tests of the engine that runs tests in the guest, and of the guest itself. */
@NullMarked
package io.verbena.it.guest;

import org.jspecify.annotations.NullMarked;
