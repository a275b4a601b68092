// SPDX-License-Identifier: Apache-2.0
/** Tests of parts of the provider that only a device can show. */
@NullMarked
package io.verbena.disni;

import org.jspecify.annotations.NullMarked;
