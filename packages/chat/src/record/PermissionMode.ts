/** How freely the calls of a run may run. */

import * as z from "zod"

/** The modes, from strict to loose. */
export const modes = ["plan", "default", "acceptEdits", "trusted", "bypass"] as const

/**
 * How freely calls run.
 *
 * - `plan`: only what reads, and only after a question if somebody can be asked
 * - `default`: every call is asked about
 * - `acceptEdits`: reads and the tools of `edits` are not asked about
 * - `trusted`: no call is asked about
 * - `bypass`: as `trusted`; the loosest when modes are compared
 */
export const Mode = z.enum(modes)

export type Mode = z.infer<typeof Mode>

/** The mode, the loosest one that calls may choose, and the mode that the host set, where that is another than the loosest. */
export const ModeStanding = z.object({ mode: Mode, loosest: Mode, host: Mode.optional() }).readonly()

export type ModeStanding = z.infer<typeof ModeStanding>
