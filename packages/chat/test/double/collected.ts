import { hop } from "./hop.ts"

/** Whether what is behind these references goes when nothing holds it. */
export const collected = async (refs: ReadonlyArray<WeakRef<object>>): Promise<ReadonlyArray<boolean>> => {
  const { gc } = globalThis
  if (gc === undefined) throw new Error("run this with --expose-gc")
  for (let turn = 0; turn < 20 && refs.some((ref) => ref.deref() !== undefined); turn++) {
    await hop()
    gc()
  }
  return refs.map((ref) => ref.deref() === undefined)
}
