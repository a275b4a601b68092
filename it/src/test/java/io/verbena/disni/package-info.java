// SPDX-License-Identifier: Apache-2.0
/** What of the provider's inside only shows on a device. */
@NullMarked
package io.verbena.disni;

import org.jspecify.annotations.NullMarked;
