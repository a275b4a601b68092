// SPDX-License-Identifier: Apache-2.0
/** Tests of parts of the provider that need a device. */
@NullMarked
package io.verbena.disni;

import org.jspecify.annotations.NullMarked;
