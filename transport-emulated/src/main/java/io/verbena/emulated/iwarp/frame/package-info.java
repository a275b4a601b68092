// SPDX-License-Identifier: Apache-2.0
/**
 * The layouts of iWARP: the frames with which MPA starts (RFC 5044, section 7; RFC 6581), FPDUs,
 * and the headers of DDP (RFC 5041) and RDMAP (RFC 5040, 7306) in them. Parsers accept any bytes,
 * and return the first fault that they find. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.iwarp.frame;

import org.jspecify.annotations.NullMarked;
