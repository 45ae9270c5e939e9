import { type CollectionDefinition, f, type HistoryRow } from '@recordbus/client';
import { client } from '../api/client.ts';
import type { AnyRecord } from '../api/records.ts';
import { titleOf } from './values.ts';

type Actor = Pick<HistoryRow<AnyRecord>, 'actor_type' | 'actor_id'>;

/** The largest page. */
const perPage = 500;

/** Returns the titles of the records that still exist, by id. */
export async function titlesIn(
  collection: CollectionDefinition,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<(readonly [string, string])[]> {
  const filter = `id in (${ids.map((id) => String(f`${id}`)).join(', ')})`;
  const { data } = await client.from(collection.name).list({ filter, perPage, skipTotal: true, signal });
  return (data as readonly AnyRecord[]).map((record) => [record.id, titleOf(record, collection)]);
}

/** Returns actors' names by id: addresses of admins, names of keys, and titles of accounts that still exist. */
export async function actorNames(
  actors: readonly Actor[],
  collections: readonly CollectionDefinition[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (type: string): readonly string[] => [
    ...new Set(actors.flatMap((actor) => (actor.actor_type === type && actor.actor_id ? [actor.actor_id] : []))),
  ];
  const users = idsOf('user').slice(0, perPage);
  const found = await Promise.all([
    idsOf('admin').length > 0 ? client.admin.admins.list({ signal }) : [],
    idsOf('service').length > 0 ? client.admin.keys.list({ perPage }, { signal }).then(({ data }) => data) : [],
    ...collections
      .filter(({ type }) => type === 'auth' && users.length > 0)
      .map((collection) => titlesIn(collection, users, signal)),
  ] as const);
  const [admins, keys, ...accounts] = found;
  return new Map([
    ...admins.map(({ id, email }) => [id, email] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
    ...accounts.flat(),
  ]);
}
