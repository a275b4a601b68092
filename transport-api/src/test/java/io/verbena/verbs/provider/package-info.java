// SPDX-License-Identifier: Apache-2.0
/** Tests of the classes that providers of verbs share. */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;
