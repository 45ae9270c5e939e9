import type { Query } from '@recordbus/database';
import type { KeptReply } from '@recordbus/http';
import { createKeySeal } from './key-seal.ts';

/** How many encrypted answers are looked into at once. */
const pageSize = 500;

/** A repeated request gets this instead of the answer that named an erased record. */
const emptied = '{"data":null}';

interface SealedAnswer {
  readonly id: Buffer;
  readonly answer: Buffer;
}

/**
 * Empties the kept answers that name one of the ids as a whole JSON string. Their keys stay, so that a repeated request does not
 * write again. `secret` is the deployment's token secret.
 */
export async function eraseAnswers(query: Query, secret: Uint8Array, ids: readonly string[]): Promise<void> {
  await query({
    text: `update system.idempotency_keys set json = '${emptied}' where json is not null and exists (
        select from regexp_matches(json, '"([A-Za-z0-9_-]{1,64})"', 'g') as named where named[1] = any($1::text[]))`,
    values: [ids],
  });
  const seal = createKeySeal(secret);
  const wanted = new Set(ids);
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    const rows = await query<SealedAnswer>({
      text: `select id, answer from system.idempotency_keys where answer is not null and id > $1 order by id limit ${pageSize}`,
      values: [after],
    });
    for (const { id, answer } of rows) {
      const reply = openAnswer(seal, id, answer);
      if (!reply || !namesOneOf(reply.json, wanted)) continue;
      await query({
        text: 'update system.idempotency_keys set answer = $2 where id = $1 and answer = $3',
        values: [id, seal.seal(id, { ...reply, json: emptied }), answer],
      });
    }
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    after = last.id;
  }
}

/** Undefined for an answer that was sealed with an earlier secret: nobody can read it. */
function openAnswer(seal: ReturnType<typeof createKeySeal>, id: Buffer, answer: Buffer): KeptReply | undefined {
  try {
    return seal.open(id, answer);
  } catch {
    return undefined;
  }
}

function namesOneOf(text: string, ids: ReadonlySet<string>): boolean {
  for (const [, name = ''] of text.matchAll(/"([A-Za-z0-9_-]{1,64})"/g)) if (ids.has(name)) return true;
  return false;
}
