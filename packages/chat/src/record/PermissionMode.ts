/** The permission modes of calls. */

import * as z from "zod"

/** The modes, from strict to loose. */
export const modes = ["plan", "default", "acceptEdits", "trusted", "bypass"] as const

/**
 * Which calls run without asking a person.
 *
 * - `plan`: only reads run, and if a person can be asked, only after asking
 * - `default`: a person is asked for every call
 * - `acceptEdits`: reads and the tools of `edits` run without asking
 * - `trusted`: every call runs without asking
 * - `bypass`: as `trusted`; the loosest in comparisons
 */
export const Mode = z.enum(modes)

export type Mode = z.infer<typeof Mode>

/** The mode, the loosest mode that calls may set, and the mode that the host set, if it differs from the loosest. */
export const ModeStanding = z.lazy(() => z.object({ mode: Mode, loosest: Mode, host: Mode.optional() }).readonly())

export type ModeStanding = z.infer<typeof ModeStanding>
