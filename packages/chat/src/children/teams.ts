/**
 * The supervisors of children, and of the teams that chats lead.
 *
 * Owns: a supervisor for each process that has children, one for each process of a leader whose members work, and how each member is started.
 * Does not own the chats, nor the runs that they work for.
 *
 * TEAM3. The process of a member that works is a child of the supervisor of its team. When it crashes, that is restarted with those that
 *        `strategy` names, and each continues its turn. Members that rest have no process, and stay so.
 * TEAM4. When a team has more than `maxRestarts` crashes in `maxSeconds`, the work of all its members fails with `team_down`. The next task
 *        begins another supervisor.
 * TEAM5. When a member crashes, the leader and the other members that work read it as a message: which one, why, and whether it goes on.
 */
import { DynamicSupervisor, EventLoop, ExitReason, OtpError, type Pid, Process, Supervisor } from "@troupe/otp"
import type { Team } from "../agents/index.ts"
import { ignoreRejection } from "../async/index.ts"
import { shortened } from "../errors/index.ts"
import { memberId } from "../family/index.ts"
import type { UserMessage } from "../model/index.ts"
import { agentIn, shortIdOf } from "../record/index.ts"
import { describe } from "../values/index.ts"
import { chatStopped } from "../view/index.ts"
import type { Sending } from "./childCalls.ts"

type Start<P extends Pid> = (parent: Pid) => P | "ignore"

/** How members are started under a supervisor, by the ids of their chats. */
type Starts = Map<string, Start<Pid>>

const usual = { maxRestarts: 3, maxSeconds: 5 }

/** The functions that the supervisors of children need. */
interface SupervisorsHome {
  readonly living: (id: string) => { readonly pid: Pid | undefined } | undefined
  readonly called: (id: string) => Promise<Pick<Sending, "note">>
}

/** A call that runs a child. */
interface Supervised {
  readonly parent: string
  readonly pid: Pid
  /** The team that the child is a member of. */
  readonly team: Team | undefined
  /** The last supervisor of the team, and the process of the leader then. */
  supervisor: { readonly pid: Pid; readonly leader: Pid } | undefined
}

export class ChildSupervisors {
  readonly #home: SupervisorsHome
  /** By the process that the children are below. */
  readonly #above = new WeakMap<Pid, Promise<Pid>>()
  /** By the process of the leader. */
  readonly #teams = new WeakMap<Pid, Promise<Pid>>()
  /** By the supervisor of the team. */
  readonly #starts = new WeakMap<Pid, Starts>()

  constructor(home: SupervisorsHome) {
    this.#home = home
  }

  /** The supervisor of the child of a run. Throws when that of its team has ended since the run began (TEAM4). */
  async of(run: Supervised): Promise<Pid> {
    const { parent, team, supervisor } = run
    if (team === undefined) return this.#under(run.pid)
    if (this.#home.living(parent)?.pid === undefined) await this.#home.called(parent)
    const leader = this.#home.living(parent)?.pid
    if (leader === undefined) throw chatStopped(parent)
    if (supervisor?.leader === leader && !Process.isAlive(supervisor.pid)) throw new TeamDown(team)
    const pid = await aliveIn(this.#teams, leader, () => this.#make(parent, team, leader))
    // The supervisor may have ended since.
    if (supervisor?.leader === leader && supervisor.pid !== pid) throw new TeamDown(team)
    run.supervisor = { pid, leader }
    return pid
  }

  #under(above: Pid): Promise<Pid> {
    return aliveIn(this.#above, above, () =>
      DynamicSupervisor.startLink(above, {
        label: "SubagentSupervisor",
        // The call counts the crashes of its child.
        maxRestarts: Number.MAX_SAFE_INTEGER
      })
    )
  }

  /**
   * Starts a member again that crashed, and has the leader and the members that work read that (TEAM5). Throws if its team has ended. `works` is
   * whether a child works for a call.
   */
  async down(id: string, cause: unknown, run: Supervised, works: (child: string) => boolean): Promise<void> {
    const { called } = this.#home
    const ended: unknown = await called(id).then(
      () => undefined,
      (error: unknown) => error
    )
    // A member that its supervisor ended has not crashed.
    if (ExitReason.isAbnormal(cause)) {
      const message = downMessage(id, cause, ended)
      const members = (run.team?.members ?? []).map((member) => memberId(run.parent, member))
      const send = async (to: string): Promise<void> => void (await called(to)).note(message, { whenBusy: "steer" })
      // A chat that has ended meanwhile reads nothing.
      for (const to of [run.parent, ...members.filter((one) => one !== id && works(one))]) ignoreRejection(send(to))
    }
    if (ended !== undefined) throw ended
  }

  async #make(leader: string, team: Team, above: Pid): Promise<Pid> {
    const { members, strategy = "oneForOne", maxRestarts = usual.maxRestarts, maxSeconds = usual.maxSeconds } = team
    const starts: Starts = new Map()
    const pid = await DynamicSupervisor.startChild(await this.#under(above), {
      id: "Team",
      type: "supervisor",
      // The leader outlives its team (TEAM4).
      restart: "temporary",
      start: (parent: Pid) =>
        Supervisor.startLink(parent, {
          label: "Team",
          strategy,
          maxRestarts,
          maxSeconds,
          children: members.map((member) => {
            const id = memberId(leader, member)
            return { id, restart: "transient" as const, start: (by: Pid) => starts.get(id)?.(by) ?? "ignore" }
          })
        })
    })
    this.#starts.set(pid, starts)
    return pid
  }

  /** Starts a chat below its supervisor. */
  async start<P extends Pid>(id: string, supervisor: Pid, start: Start<P>): Promise<P> {
    const starts = this.#starts.get(supervisor)
    if (starts === undefined) return DynamicSupervisor.startChild(supervisor, { id, restart: "transient", start })
    starts.set(id, start)
    try {
      const pid = await Supervisor.restartChild(supervisor, id)
      if (pid !== undefined) return pid as P
    } catch (error) {
      // The supervisor starts it itself, or has not handled its end.
      if (!(error instanceof OtpError.ChildRefused)) throw error
      await new Promise<void>(EventLoop.nextTurn)
    }
    throw new OtpError.StartIgnored()
  }

  /** Ends the process of a chat; its supervisor does not restart it. */
  end(id: string, supervisor: Pid, pid: Pid): Promise<void> {
    const starts = this.#starts.get(supervisor)
    if (starts === undefined) return DynamicSupervisor.terminateChild(supervisor, pid)
    starts.delete(id)
    return Supervisor.terminateChild(supervisor, id)
  }
}

/** The process that was made for another one, or a new one. Children of one batch start together: the first makes it, and the others wait. */
const aliveIn = async (made: WeakMap<Pid, Promise<Pid>>, key: Pid, make: () => Promise<Pid>): Promise<Pid> => {
  const known = made.get(key)
  if (known !== undefined) {
    const pid = await known
    if (Process.isAlive(pid)) return pid
  }
  const making = make()
  made.set(key, making)
  return making
}

/** Why the work of a team has ended (TEAM4). */
export class TeamDown extends Error {
  constructor({ maxRestarts = usual.maxRestarts, maxSeconds = usual.maxSeconds }: Team) {
    super(`its team had more than ${maxRestarts} crashes in ${maxSeconds} seconds, and has ended`)
  }
}

/** What the others read of a member whose process crashed. */
const downMessage = (chat: string, cause: unknown, ended: unknown): UserMessage => {
  const agent = agentIn(chat)
  const reason = shortened(describe(cause))
  const then = ended === undefined ? "was started again, and goes on" : `does not go on: ${shortened(describe(ended))}`
  return {
    role: "user",
    content: `The agent ${shortIdOf(chat, agent)} of your team crashed: ${reason}. It ${then}.`,
    metadata: { down: { chat, agent, reason, restarted: ended === undefined } }
  }
}
