// SPDX-License-Identifier: Apache-2.0
/** Tests of classes shared by verbs providers. */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;
