import { recordAudit } from '@recordbus/audit';
import type { Database, Query } from '@recordbus/database';
import { conflict } from '@recordbus/errors';
import { newKeyText } from '@recordbus/sessions';
import type { Actor } from '../audit/actor.ts';
import { requireWithinBounds } from './bounds.ts';
import type { KeyChange, KeyJson, NewKey } from './key-schema.ts';
import { countKeys, deleteKeyRow, getKey, insertKey, listKeys, updateKey } from './key-store.ts';

/** How long a key that no rate limit counts lives at most, in seconds. */
const maxUncountedSec = 86_400;

/** How many keys there may be. Every gateway holds them all in memory. */
const maxKeys = 1000;

/** A new key with its text. */
export type MadeKey = KeyJson & { readonly key: string };

/** Makes a key. Throws 403 beyond the actor's rights, 409 when there are too many keys, and 422. */
export function createKey(
  { transaction }: Pick<Database, 'transaction'>,
  wanted: NewKey,
  nowSec: number,
  actor: Actor,
): Promise<MadeKey> {
  return transaction(async (query) => {
    await requireWithinBounds(query, actor, wanted);
    if ((await countKeys(query)) >= maxKeys) throw conflict('too_many_keys', `there are ${maxKeys} keys already`);
    const { id, hash, text } = newKeyText();
    await insertKey(query, { ...wanted, id, hash, createdBy: makerOf(actor) }, problemsOf(wanted, wanted, nowSec));
    const made = await getKey(query, id);
    await audit(query, actor, 'keys.create', made, { name: made.name, scopes: made.scopes });
    return { ...made, key: text };
  });
}

/** Changes a key's members. Throws 403 beyond the actor's rights, 404, and 422. */
export function changeKey(
  { transaction }: Pick<Database, 'transaction'>,
  id: string,
  change: KeyChange,
  nowSec: number,
  actor: Actor,
): Promise<KeyJson> {
  return transaction(async (query) => {
    const wanted = { ...(await getKey(query, id, 'for update')), ...change };
    await requireWithinBounds(query, actor, wanted);
    await updateKey(query, id, wanted, problemsOf(change, wanted, nowSec));
    const changed = await getKey(query, id);
    await audit(query, actor, 'keys.update', changed, { changed: Object.keys(change), scopes: changed.scopes });
    return changed;
  });
}

/** Revokes a key. Only audit rows remain. Throws 404. */
export function deleteKey({ transaction }: Pick<Database, 'transaction'>, id: string, actor: Actor): Promise<KeyJson> {
  return transaction(async (query) => {
    const key = await getKey(query, id, 'for update');
    await deleteKeyRow(query, id);
    await audit(query, actor, 'keys.delete', key, { name: key.name });
    return key;
  });
}

/** Returns all keys, newest first. */
export const listAllKeys = async (query: Query): Promise<readonly KeyJson[]> =>
  (await listKeys(query, { page: 1, perPage: maxKeys })).rows;

/** The problems of a change, and of the key as it will be, that need no other row. */
function problemsOf(
  { expires_at: newEndSec }: Pick<KeyChange, 'expires_at'>,
  { expires_at: endSec, rate_limited: isCounted }: Pick<NewKey, 'expires_at' | 'rate_limited'>,
  nowSec: number,
): Record<string, string> {
  if (newEndSec !== undefined && newEndSec !== null && newEndSec <= nowSec)
    return { expires_at: 'must be in the future' };
  if (!isCounted && (endSec === null || endSec > nowSec + maxUncountedSec))
    return { rate_limited: 'must be true, unless the key ends within a day' };
  return {};
}

function makerOf({ context }: Actor): { readonly type: string; readonly id: string | null } {
  if (context === 'system') return { type: 'system', id: null };
  const { principal } = context;
  return { type: principal.type, id: principal.type === 'guest' ? null : principal.id };
}

const audit = (
  query: Query,
  actor: Actor,
  action: string,
  { id }: KeyJson,
  details: Readonly<Record<string, unknown>>,
): Promise<void> => recordAudit(query, { ...actor, action, target: { type: 'key', id }, details });
