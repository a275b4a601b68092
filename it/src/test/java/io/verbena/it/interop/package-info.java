// SPDX-License-Identifier: Apache-2.0
/** Tests of the providers against third-party programs, in the protocols of these programs. */
@NullMarked
package io.verbena.it.interop;

import org.jspecify.annotations.NullMarked;
