import { createHash } from 'node:crypto';
import { callApi } from '@recordbus/stack-calls';
import type { Move } from './move-in.ts';
import type { OrderedCollection } from './order-collections.ts';
import type { MovedCollection } from './report.ts';

/** How many accounts' keys one request has. */
const together = 1000;

interface SentKey {
  readonly id: string;
  /** Null ends the account's tokens. */
  readonly key: string | null;
  readonly updated: number;
}

type Kept = Pick<Move, 'source' | 'state' | 'address'>;

/**
 * Keeps the tokens valid that PocketBase signed for a collection's accounts. A key is sent once, and again when PocketBase
 * has changed it. An account that was changed here since gets none: its password may be another one.
 */
export async function keepSessions(
  { source, state, address }: Kept,
  { collection: { from, to } }: OrderedCollection,
  moved: MovedCollection,
): Promise<void> {
  const secret = from.options.authToken?.secret ?? '';
  if (from.type !== 'auth' || secret.length < 30) return;
  const keys = function* (): Generator<SentKey> {
    for (const { id, updated } of [...state.movedRows(from.name)]) {
      const tokenKey = String(source.findRow(from.name, id)?.tokenKey ?? '');
      const key = tokenKey + secret;
      if (tokenKey.length >= 30 && state.keyOf(from.name, id) !== digestOf(key)) yield { id, key, updated };
    }
  };
  for (const some of chunks(keys())) {
    const kept = await putKeys(address, to.name, some);
    state.noteKeys(from.name, new Map(some.flatMap(({ id, key }) => (kept.has(id) ? [[id, digestOf(key)]] : []))));
    moved.sessions_kept += kept.size;
  }
}

/** Ends the tokens that earlier runs kept valid, and the sessions that they opened. */
export async function endSessions(
  { state, address }: Kept,
  { collection: { from, to } }: OrderedCollection,
): Promise<void> {
  const keys = function* (): Generator<SentKey> {
    for (const { id, updated } of [...state.movedRows(from.name)]) {
      const digest = state.keyOf(from.name, id);
      if (digest !== undefined && digest !== ended) yield { id, key: null, updated };
    }
  };
  for (const some of chunks(keys())) {
    await putKeys(address, to.name, some);
    state.noteKeys(from.name, new Map(some.map(({ id }) => [id, ended])));
  }
}

/** Stands in the notes for the digest of a key that a run has taken away. */
const ended = '';

function* chunks(keys: Iterable<SentKey>): Generator<readonly SentKey[]> {
  let some: SentKey[] = [];
  for (const key of keys) {
    some.push(key);
    if (some.length < together) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** Sends accounts' keys. Returns the accounts that have theirs now. */
async function putKeys(
  address: Move['address'],
  collection: string,
  keys: readonly SentKey[],
): Promise<ReadonlySet<string>> {
  const path = `/api/v1/admin/moved-sessions/${encodeURIComponent(collection)}`;
  const { kept } = (await callApi(address, 'PUT', path, { keys })) as { readonly kept: readonly string[] };
  return new Set(kept);
}

const digestOf = (key: string | null): string =>
  createHash('sha256')
    .update(key ?? '')
    .digest('base64');
