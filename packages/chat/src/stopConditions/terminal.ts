/** Why a run stops. */

import type { HaltedReason, PendingApproval, PendingQuestion } from "../record/index.ts"
import type { ToolCall } from "../model/index.ts"

/** Why a chat stops, and with what data. */
export interface Terminal {
  readonly reason: HaltedReason
  readonly metadata: Readonly<Record<string, unknown>>
  readonly pendingQuestion?: PendingQuestion
  readonly pendingToolCalls?: ReadonlyArray<ToolCall>
  readonly pendingApprovals?: ReadonlyArray<PendingApproval>
}
