// SPDX-License-Identifier: Apache-2.0
/** What the meters in a Micrometer registry promise. */
@NullMarked
package io.verbena.core.micrometer;

import org.jspecify.annotations.NullMarked;
