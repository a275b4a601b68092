// SPDX-License-Identifier: Apache-2.0
/** RoCEv2 and iWARP between containers on a Docker network, and the faults that befall its ends. */
@NullMarked
package io.verbena.it.containers.hca;

import org.jspecify.annotations.NullMarked;
