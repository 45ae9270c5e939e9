import type { Query } from '@recordbus/database';
import type { QuerySchema } from '@recordbus/query';
import type { Collection, CollectionCache } from '@recordbus/schema';
import { findOwnerUrlProblem, mayOwnersGet, type Settings } from '@recordbus/settings';

/** What decisions about owners' webhooks need. */
export interface OwnersDeps {
  readonly query: Query;
  readonly collections: Pick<CollectionCache, 'all' | 'find' | 'version' | 'reload'>;
  readonly settings: Pick<Settings, 'getNamed' | 'refresh'>;
  /** The collation for text without case; undefined for the default. */
  readonly collation: () => string | undefined;
}

/** The current collections and settings. */
export interface CurrentRules {
  readonly schema: QuerySchema;
  findById(id: string): Collection | undefined;
  findByName(name: string): Collection | undefined;
  /** Whether webhooks that the collection's records own may get the event. */
  mayGet(owner: Collection, event: string): boolean;
  /** Whether they may have the URL; a webhook that is read has an empty one. */
  mayCall(owner: Collection, url: string): boolean;
}

/**
 * Reads the rules as they are committed. The copies in memory may be behind, and what a change has taken away must not be
 * sent.
 */
export async function readCurrentRules({ query, collections, settings, collation }: OwnersDeps): Promise<CurrentRules> {
  const rows = await query<{ name: string; version: number }>({
    name: 'owners.versions',
    text: "select version from system.versions where name = 'schema'",
    values: [],
  });
  if (rows[0]?.version !== collections.version) await collections.reload();
  await settings.refresh();
  const all = collections.all();
  const byId = new Map(all.map((one) => [one.id, one]));
  const byName = new Map(all.map((one) => [one.name, one]));
  const ownersOf = ({ name }: Collection) => settings.getNamed('webhooks.owners.<collection>', name);
  return {
    schema: { findCollection: (name) => byName.get(name), collation: collation() },
    findById: (id) => byId.get(id),
    findByName: (name) => byName.get(name),
    mayGet(owner, event) {
      const owners = ownersOf(owner);
      return owners !== undefined && mayOwnersGet(owners, event);
    },
    mayCall(owner, url) {
      const owners = ownersOf(owner);
      return owners !== undefined && (url === '' || findOwnerUrlProblem(owners, url) === undefined);
    },
  };
}
