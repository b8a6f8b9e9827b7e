/** A listener that records its calls, and checks that they alternate for each bucket. */
import type { PlacementListener } from "../../src/index.ts"

/** A call of the listener. */
interface Call {
  readonly verb: "gained" | "released" | "lost"
  readonly buckets: ReadonlyArray<number>
  readonly epoch?: number
}

/** A recording listener: its calls, the epochs of its buckets, and the violations of LEASE2. */
export interface Recording extends PlacementListener {
  readonly calls: Array<Call>
  readonly epochs: Map<number, number>
  readonly violations: Array<string>
}

/** What the calls wait for. */
export interface RecordingOptions {
  readonly gained?: (buckets: ReadonlyArray<number>, epoch: number) => Promise<void>
  readonly losing?: (buckets: ReadonlyArray<number>) => Promise<void>
}

/** Makes it. */
export const recording = ({ gained = async () => {}, losing = async () => {} }: RecordingOptions = {}): Recording => {
  const calls: Array<Call> = []
  const epochs = new Map<number, number>()
  const violations: Array<string> = []
  const states = new Map<number, "gaining" | "gained" | "losing">()
  return {
    calls,
    epochs,
    violations,
    gained: async (buckets, epoch) => {
      calls.push({ verb: "gained", buckets, epoch })
      for (const bucket of buckets) {
        if (states.has(bucket)) violations.push(`${bucket} gained while ${states.get(bucket)}`)
        if ((epochs.get(bucket) ?? 0) >= epoch) violations.push(`${bucket} gained with the old epoch ${epoch}`)
        epochs.set(bucket, epoch)
        states.set(bucket, "gaining")
      }
      try {
        await gained(buckets, epoch)
      } catch (error) {
        for (const bucket of buckets) states.delete(bucket)
        throw error
      }
      for (const bucket of buckets) states.set(bucket, "gained")
    },
    losing: async (buckets, why) => {
      calls.push({ verb: why, buckets })
      for (const bucket of buckets) {
        if (states.get(bucket) !== "gained") violations.push(`${bucket} ${why} while ${states.get(bucket)}`)
        states.set(bucket, "losing")
      }
      await losing(buckets)
      for (const bucket of buckets) states.delete(bucket)
    }
  }
}
