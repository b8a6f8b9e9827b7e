/**
 * The ledger of writes: a trigger of the database adds a row for each entry of a log, with its writer and the epoch that is
 * claimed at that moment.
 */
import { postgres } from "@troupe/store"
import { queries } from "../../../packages/store/test/double/queries.ts"
import type { Entry, Kept } from "../check/kept.ts"

/** Creates the tables of the store, with the trigger. */
export const keepLedger = async (url: string): Promise<void> => {
  const store = postgres(url)
  await store.list()
  await store.close()
  await queries(url, [
    `CREATE TABLE public.storm_ledger (chat TEXT NOT NULL, seq BIGINT NOT NULL, writer TEXT, epoch BIGINT)`,
    `CREATE FUNCTION public.storm_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO public.storm_ledger (chat, seq, writer, epoch)
         SELECT id, NEW.seq, writer, (SELECT epoch FROM troupe.fences WHERE fences.key = '"bucket:' || bucket || '"')
         FROM troupe.chats WHERE chats.key = NEW.chat;
       RETURN NULL;
     END $$`,
    `CREATE TRIGGER storm_note AFTER INSERT ON troupe.commits FOR EACH ROW EXECUTE FUNCTION public.storm_note()`
  ])
}

/** The logs of all conversations. */
export const ledgerOf = async (url: string): Promise<Kept["logs"]> => {
  const rows = await queries(url, [`SELECT chat, seq, writer, epoch FROM public.storm_ledger ORDER BY chat, seq`])
  const entryOf = ({ seq, writer, epoch }: (typeof rows)[number]): Entry => ({
    seq: Number(seq),
    writer: String(writer),
    epoch: epoch === null ? undefined : Number(epoch)
  })
  return new Map(
    Array.from(
      Map.groupBy(rows, ({ chat }) => String(chat)),
      ([chat, log]) => [chat, log.map(entryOf)]
    )
  )
}

/** The rows of the database that explain a fault. */
export const tablesOf = async (url: string): Promise<object> => ({
  log: await queries(url, [
    `SELECT id, commits.* FROM troupe.commits JOIN troupe.chats ON chats.key = commits.chat ORDER BY id, commits.seq`
  ]),
  fences: await queries(url, [`SELECT * FROM troupe.fences WHERE key LIKE '%resume%' ORDER BY key`])
})

/** How many entries each build has written. Without a node of the next build there is no column that says so. */
export const entriesOf = async (url: string): Promise<string> => {
  const rows = await queries(url, [
    `SELECT to_jsonb(commits) ->> 'build' AS build, count(*) AS count FROM troupe.commits GROUP BY 1 ORDER BY 1`
  ])
  return rows.map(({ build, count }) => `${String(count)} of ${build === null ? "this" : "the next"} build`).join(", ")
}
