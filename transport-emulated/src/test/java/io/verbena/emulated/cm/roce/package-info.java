// SPDX-License-Identifier: Apache-2.0
/** Tests of RoCE connection management through the verbs. */
@NullMarked
package io.verbena.emulated.cm.roce;

import org.jspecify.annotations.NullMarked;
