import { createHash } from 'node:crypto';
import { preconditionFailed } from '@recordbus/errors';
import { guestActions } from '@recordbus/query';
import { type Collection, collectionJson, presentCollection } from '@recordbus/schema';
import { z } from 'zod';

/** A collection as its routes show it: the definition, with its ETag and what its rules let guests do. */
export const taggedCollectionJson = collectionJson
  .extend({
    etag: z.string().describe("the definition's version, for If-Match"),
    guests: z
      .array(z.enum(['list', 'view', 'create', 'update', 'delete']))
      .describe('what the rules may let guests do, with some record'),
  })
  .meta({ id: 'Collection' });

/** Returns a collection as its routes show it. Its rules may name other collections. */
export function presentTagged(
  collection: Collection,
  findCollection: (name: string) => Collection | undefined,
): z.output<typeof taggedCollectionJson> {
  const shown = presentCollection(collection);
  return { ...shown, etag: `W/"${versionOf(shown)}"`, guests: guestActions(collection, { findCollection }) };
}

/**
 * A definition's version: a hash of its text in answers. Renaming another collection may change it, so its `updated_at`
 * is not enough (collections §9.4).
 */
const versionOf = (shown: z.output<typeof collectionJson>): string =>
  createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, versionLength);

/** 162 bits. */
const versionLength = 27;

/** Throws 412 unless the collection has one of the versions; undefined admits any. */
export function requireVersion(collection: Collection, versions: readonly string[] | undefined): void {
  if (versions === undefined) return;
  const version = versionOf(presentCollection(collection));
  if (!versions.includes(version)) throw preconditionFailed(`W/"${version}"`, 'the collection has changed');
}
