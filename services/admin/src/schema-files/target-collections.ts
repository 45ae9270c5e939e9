import { newId } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import { startSlice } from '@recordbus/limits/time-slice';
import {
  type Collection,
  type CollectionIndex,
  type Field,
  findCollectionNameProblem,
  type Problems,
  readFieldDefinitions,
} from '@recordbus/schema';
import { isObject } from '@recordbus/text/json';
import { refuseCaseChanges } from '../collections/case-changes.ts';
import { refuseEncryptionChanges } from '../collections/encryption-changes.ts';
import { isSameDefinition } from '../collections/is-same-definition.ts';
import { readAlias } from '../collections/read-alias.ts';
import { readDurability } from '../collections/read-durability.ts';
import { readFresh } from '../collections/read-fresh.ts';
import { readRetention } from '../collections/read-retention.ts';
import { defaultRules, readRules, refuseOtherTypesRules } from '../collections/read-rules.ts';
import { refuseSearchedFields } from '../collections/searched-fields.ts';
import { isSameIndex } from '../indexes/is-same-index.ts';
import { readIndex } from '../indexes/read-index.ts';
import { type CollectionPair, matchCollections } from './match-collections.ts';
import { matchFields } from './match-fields.ts';
import type { CollectionFile } from './schema-document.ts';

/** A kept collection, before and after the change. */
export interface KeptCollection {
  readonly before: Collection;
  readonly after: Collection;
}

/** The collections after the apply. Views have their former queries' fields, or none. */
export interface CollectionChanges {
  readonly created: readonly Collection[];
  readonly kept: readonly KeptCollection[];
  readonly dropped: readonly Collection[];
  /** All collections after the change, in file order. */
  readonly after: readonly Collection[];
}

interface Context {
  readonly pairs: readonly CollectionPair[];
  readonly problems: Problems;
  readonly nowSec: number;
  readonly collections: readonly Collection[];
  /** The collections' new names, by their current names. Dropped collections have none. */
  readonly newNames: ReadonlyMap<string, string>;
  readonly fileOf: ReadonlyMap<string, CollectionFile>;
}

/**
 * Computes the collections that the files define, in time slices. Adds the problems with names, fields and indexes to
 * `problems`. Rules, views and stored values are checked later.
 */
export async function computeCollections(
  files: readonly CollectionFile[],
  collections: readonly Collection[],
  nowSec: number,
  problems: Problems,
): Promise<CollectionChanges> {
  const { pairs, dropped } = matchCollections(files, collections, problems);
  refuseDuplicates(files, problems);
  const newNames = new Map(pairs.flatMap(({ file, before }) => (before ? [[before.name, file.name] as const] : [])));
  const fileOf = new Map(files.map((file) => [file.name, file]));
  const context: Context = { pairs, problems, nowSec, collections, newNames, fileOf };
  const slice = startSlice();
  const created: Collection[] = [];
  const kept: KeptCollection[] = [];
  const after: Collection[] = [];
  for (const pair of pairs) {
    if (slice.isOver()) await slice.pause();
    if (problems.isFull()) break;
    const collection = readCollection(pair, context);
    after.push(collection);
    if (pair.before) kept.push({ before: pair.before, after: collection });
    else created.push(collection);
  }
  return { created, kept, dropped, after };
}

function refuseDuplicates(files: readonly CollectionFile[], problems: Problems): void {
  const names = new Set<string>();
  const ids = new Set<string>();
  for (const { name, id } of files) {
    const folded = name.toLowerCase();
    if (names.has(folded)) problems.add(`collections.${name}.name`, 'is used in two files');
    if (id !== undefined && ids.has(id)) problems.add(`collections.${name}.id`, 'is used in two files');
    names.add(folded);
    if (id !== undefined) ids.add(id);
  }
}

function readCollection({ file, before }: CollectionPair, context: Context): Collection {
  const problems = problemsOf(file.name, context.problems);
  const nameProblem = findCollectionNameProblem(file.name);
  if (nameProblem && file.name !== before?.name) problems.add('name', nameProblem);
  if (before && before.type !== file.type)
    problems.add('type', `cannot change from ${before.type}: give the file another id to drop it and make another`);
  refuseMembersOfOtherTypes(file, problems);
  refuseOtherTypesRules(file, file.type, problems);
  const { nowSec } = context;
  const plain: Collection = {
    id: before?.id ?? file.id ?? newId(),
    name: file.name,
    type: before?.type ?? file.type,
    fields: file.type === 'view' ? (before?.fields ?? []) : readFields({ file, before }, context, problems),
    viewQuery: file.view_query ?? null,
    ...readAlias(file.alias, before, context.collections, problems),
    rules: readRules(file, defaultRules[file.type]),
    historyEnabled: file.history_enabled ?? false,
    ...readDurability(file.durability, file.type, problems),
    ...readFresh(file.fresh_s, file.type, problems),
    ...(before?.lacking && { lacking: before.lacking }),
    createdAtSec: before?.createdAtSec ?? nowSec,
    updatedAtSec: before?.updatedAtSec ?? nowSec,
  };
  const indexes = readIndexes(plain, before, file, problems);
  const retention = readRetention(file, undefined, plain, problems);
  const after = { ...plain, ...retention, ...(indexes.length > 0 && { indexes }) };
  if (!before) return after;
  refuseEncryptionChanges(before, after, problems);
  refuseCaseChanges(before, after, problems);
  refuseSearchedFields(before, after, problems);
  return isSameDefinition(before, after) ? before : { ...after, updatedAtSec: Math.max(nowSec, before.updatedAtSec) };
}

function refuseMembersOfOtherTypes(file: CollectionFile, problems: Pick<Problems, 'add'>): void {
  const { type, view_query, history_enabled, fields, indexes } = file;
  if (type !== 'view') {
    if (view_query != null) problems.add('view_query', 'is only for view collections');
    return;
  }
  if (!view_query) problems.add('view_query', 'is required');
  if (history_enabled) problems.add('history_enabled', 'is not for view collections');
  if (fields.length > 0) problems.add('fields', "come from the view's query");
  if (indexes.length > 0) problems.add('indexes', 'are not for view collections');
}

function readFields({ file, before }: CollectionPair, context: Context, problems: Problems): readonly Field[] {
  const { newNames, fileOf } = context;
  // Relations follow their targets' new names.
  const previous = before?.fields.map((field) => {
    const target = field.collection === undefined ? undefined : newNames.get(field.collection);
    return target === undefined || target === field.collection ? field : { ...field, collection: target };
  });
  for (const definition of before ? file.fields : [])
    refuseLostTarget(definition, { fields: before?.fields ?? [], newNames, problems });
  return readFieldDefinitions(
    matchFields(previous ?? [], file.fields, problems),
    { collectionType: file.type, ...(previous && { previous }), findCollection: (name) => fileOf.get(name) },
    problems,
  );
}

interface LostTarget {
  readonly fields: readonly Field[];
  readonly newNames: ReadonlyMap<string, string>;
  readonly problems: Problems;
}

/** Refuses to move a relation from a dropped target to another collection, even with the same name. */
function refuseLostTarget(definition: unknown, { fields, newNames, problems }: LostTarget): void {
  if (!isObject(definition)) return;
  const field = fields.find(({ id }) => id === definition.id);
  if (field?.collection === undefined || newNames.has(field.collection)) return;
  problems.add(
    `fields.${String(definition.name)}.collection`,
    `cannot change from ${field.collection}, which is dropped: drop the field and add it with another id`,
  );
}

/** Reads a file's indexes. An index with an unchanged definition stays in the database. */
function readIndexes(
  collection: Collection,
  before: Collection | undefined,
  { indexes }: CollectionFile,
  problems: Pick<Problems, 'add'>,
): readonly CollectionIndex[] {
  const read: CollectionIndex[] = [];
  if (collection.type === 'view') return read;
  for (const [position, draft] of indexes.entries()) {
    try {
      const index = readIndex({ ...collection, indexes: read }, draft);
      const former = before?.indexes?.find((other) => isSameIndex(other, index));
      read.push(former ?? index);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      for (const [place, message] of Object.entries(error.details ?? { name: error.message }))
        problems.add(`indexes.${position}.${place}`, String(message));
    }
  }
  return read;
}

/** One file's problems, by their places in it. */
const problemsOf = (name: string, problems: Problems): Problems => ({
  ...problems,
  add: (place, message) => problems.add(`collections.${name}.${place}`, message),
});
