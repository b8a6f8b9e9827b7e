/**
 * The ledger of writes: a trigger of the database adds a row for each entry of a log, with its writer and the epoch that is
 * claimed at that moment.
 */
import { postgres } from "@troupe/store"
import { queries } from "../../packages/store/test/double/queries.ts"

/** The row of an entry. */
export interface Written {
  readonly chat: string
  readonly seq: number
  readonly writer: string
  /** The claimed epoch of the bucket; `undefined` if no epoch was claimed. */
  readonly epoch: number | undefined
}

/** A call that writes, as the tool notes it when it begins. */
export interface Call {
  readonly key: string
  readonly call: string
  readonly node: string
  /** When it began, in milliseconds. */
  readonly at: number
}

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

/** The rows of all entries, in the order of their logs. */
export const ledgerOf = async (url: string): Promise<ReadonlyArray<Written>> => {
  const rows = await queries(url, [`SELECT chat, seq, writer, epoch FROM public.storm_ledger ORDER BY chat, seq`])
  return rows.map(({ chat, seq, writer, epoch }) => ({
    chat: String(chat).replace("storm/", ""),
    seq: Number(seq),
    writer: String(writer),
    epoch: epoch === null ? undefined : Number(epoch)
  }))
}
