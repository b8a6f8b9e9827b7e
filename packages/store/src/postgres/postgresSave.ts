/**
 * A save in PostgreSQL: one statement, which is a transaction of its own.
 *
 * ONESAVE1. The statement writes the entry, its items, its waits and the row of the conversation, and removes the inputs that
 *           the entry takes, or nothing.
 * ONESAVE2. It writes nothing unless the entry before is still the newest one when the row of the conversation is locked, and
 *           nothing while a newer epoch of its fence is claimed. Then the save runs in a transaction, which finds the reason.
 *
 * ONESAVE3. Its cost does not grow with the messages before: it reads the items from the first that the entry replaces on.
 *
 * A save that waits for the row of its conversation, while another program writes it:
 *   1. the statement sees the row as it was at its beginning, and waits for the lock.
 *   2. the other program commits. PostgreSQL checks the condition again on the new row.
 *   3. if the number of the newest entry is still the same, the items that the statement sees are those of that entry.
 */
import { type Asking, changedWait, type EntrySave, lists, numberIn, partOf, rowsOf } from "../sql/index.ts"

/** Saves the entry, and returns the key of its conversation; `undefined` if nothing was written. */
export const saveAtOnce = (prefix: string) => {
  const [chats, commits, items, inbox, fences] = ["chats", "commits", "items", "inbox", "fences"].map(
    (table) => prefix + table
  )
  const waiting = `${prefix}waiting`
  const statement = `WITH given AS MATERIALIZED (
      SELECT ?::text AS id, ?::bigint AS after, ?::bigint AS known_key, ?::text AS fence,
        ?::bigint AS epoch, ?::integer AS bucket, ?::text AS title, ?::integer AS messages, ?::integer AS running, ?::bigint AS now,
        ?::integer AS is_step, ?::text AS body, ?::integer AS kept, ?::integer AS known_kept,
        ?::text AS part, ?::bigint AS waits
    ), fence AS MATERIALIZED (
      SELECT epoch FROM ${fences} WHERE key = (SELECT fence FROM given) FOR SHARE
    ), allowed AS MATERIALIZED (
      SELECT given.* FROM given WHERE fence IS NULL OR (SELECT epoch FROM fence) <= given.epoch
    ), head AS MATERIALIZED (
      SELECT key, waits FROM ${chats} WHERE id = (SELECT id FROM allowed) AND seq = (SELECT after FROM allowed)
        AND moved >= seq AND noted >= seq
        AND (key = (SELECT known_key FROM given) OR (SELECT known_key FROM given) IS NULL)
      FOR UPDATE
    ), taken AS (
      DELETE FROM ${inbox} USING head WHERE chat = head.key AND ${inbox}.id = ANY (?::text[]) RETURNING 1
    ), begun AS (
      INSERT INTO ${chats} (seq, writer, title, messages, running, updated_at, moved, noted, waits, created_at, id, bucket,
        written)
      SELECT 1, NULL, title, messages, running, now, 1, 1, waits, now, id, bucket, nextval('${prefix}writes') FROM allowed
      WHERE after = 0 AND NOT EXISTS (SELECT FROM head) ON CONFLICT (id) DO NOTHING RETURNING key
    ), continued AS (
      UPDATE ${chats} SET seq = after + 1, writer = NULL, title = given.title, messages = given.messages,
        running = given.running, updated_at = now, moved = after + 1, noted = after + 1, waits = given.waits, written = nextval('${prefix}writes'),
        waiting = waiting - (SELECT count(*) FROM taken)
      FROM head, given WHERE ${chats}.key = head.key RETURNING ${chats}.key
    ), saved AS MATERIALIZED (
      SELECT key FROM begun UNION ALL SELECT key FROM continued
    ), entry AS (
      INSERT INTO ${commits} (chat, seq, is_step, body) SELECT key, after + 1, is_step, body FROM saved, given
    ), superseded AS (
      UPDATE ${items} SET until = after + 1 FROM head, given
      WHERE chat = head.key AND list = ${lists.messages} AND position >= (SELECT kept FROM given) AND until IS NULL
    ), forgotten AS (
      UPDATE ${items} SET until = after + 1 FROM head, given
      WHERE chat = head.key AND list = ${lists.known} AND position >= (SELECT known_kept FROM given) AND until IS NULL
    ), said AS (
      INSERT INTO ${items} (chat, list, position, seq, body, words)
      SELECT saved.key, ${lists.messages}, kept + place - 1, after + 1, added.body, nullif(words, '')
      FROM saved, given, unnest(?::text[], ?::text[]) WITH ORDINALITY AS added (body, words, place)
    ), learned AS (
      INSERT INTO ${items} (chat, list, position, seq, body)
      SELECT saved.key, ${lists.known}, known_kept + place - 1, after + 1, added.body
      FROM saved, given, unnest(?::text[]) WITH ORDINALITY AS added (body, place)
    ), wait AS (
      SELECT * FROM json_to_recordset(?::json)
        AS given (call text, kind text, agent text, "askedAt" bigint, "expiresAt" bigint, body text)
    ), ended AS (
      DELETE FROM ${waiting} USING head
      WHERE head.waits > 0 AND ${waiting}.chat = head.key AND ${waiting}.call NOT IN (SELECT call FROM wait)
    ), asked AS (
      INSERT INTO ${waiting} (chat, call, id, part, kind, agent, asked_at, expires_at, body)
      SELECT saved.key, wait.call, given.id, part, kind, agent, "askedAt", "expiresAt", wait.body FROM saved, given, wait
      ON CONFLICT (chat, call) DO UPDATE SET ${changedWait(waiting)}
    )
    SELECT key FROM saved`

  return function* (save: EntrySave, words: ReadonlyArray<string>): Asking<number | undefined> {
    const { id, bucket, after, knownKey, fence, title, count, running, now, isStep, body, kept, knownKept } = save
    const lock = [id, after, knownKey ?? null, fence?.key ?? null, fence?.epoch ?? null] as const
    const entry = [
      bucket,
      title,
      count,
      running,
      now,
      isStep,
      body,
      kept,
      knownKept,
      partOf(id),
      save.waits.length
    ] as const
    const added = [save.takes, save.messages, words, save.known, JSON.stringify(save.waits)] as const
    const [row] = yield* rowsOf(statement, ...lock, ...entry, ...added)
    return row === undefined ? undefined : numberIn(row, "key")
  }
}
