import type { Query } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { checkEventFilter, ownersSchema, QueryError } from '@recordbus/query';
import { type Collection, loadCollections } from '@recordbus/schema';

/** A webhook's members that a filter depends on. */
export interface Filtered {
  readonly events: readonly string[];
  readonly filter: string | null;
  /** The record that owns the webhook; null for an admin's. */
  readonly owner: unknown;
}

/** Finds what is wrong with a webhook's filter (webhooks §1.7); undefined if it can be used. */
export function findFilterProblem(
  { events, filter, owner }: Filtered,
  collections: readonly Collection[],
): string | undefined {
  if (filter === null) return undefined;
  const byName = new Map(collections.map((collection) => [collection.name, collection]));
  try {
    checkEventFilter(filter, {
      collections: collections.filter((collection) => hasEventsOf(events, collection)),
      hasOthers: events.some((pattern) => !byName.has(pattern.split('.')[0] ?? '')),
      schema: owner ? ownersSchema({}) : { findCollection: (name) => byName.get(name) },
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
}

/** Whether the patterns match events of the collection's records. */
export const hasEventsOf = (patterns: readonly string[], { name, type }: Collection): boolean =>
  type !== 'view' &&
  patterns.some(
    (pattern) => pattern === '*' || pattern.startsWith(`${name}.`) || `${name}.`.startsWith(prefixOf(pattern)),
  );

/** `shop.*` also means the events of a collection whose name continues `shop.`; a text that ends otherwise is one name. */
const prefixOf = (pattern: string): string => (pattern.endsWith('.*') ? pattern.slice(0, -1) : '\0');

/**
 * Keeps the collections from changing until the transaction ends. Call it before a webhook changes: a change to the
 * collections locks in the same order.
 */
export async function keepCollections(query: Query): Promise<void> {
  await query({ text: "select version from system.versions where name = 'schema' for share", values: [] });
}

/** Throws 422 for a filter that cannot be used with the collections. */
export async function requireUsableFilter(query: Query, webhook: Filtered): Promise<void> {
  if (webhook.filter === null) return;
  const { collections } = await loadCollections(query);
  const problem = findFilterProblem(webhook, collections);
  if (problem !== undefined) throw validationFailed({ filter: problem });
}
