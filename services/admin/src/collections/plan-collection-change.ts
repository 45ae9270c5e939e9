import { isDeepStrictEqual } from 'node:util';
import {
  type Collection,
  createProblems,
  type Field,
  findCollectionNameProblem,
  type Problems,
  readFieldDefinitions,
} from '@recordbus/schema';
import { planChecks } from '../ddl/checks.ts';
import { keepIndexes } from '../indexes/keep-indexes.ts';
import { findRenamed } from '../references/find-renamed.ts';
import { findByFoldedName, getCollection } from '../schema/find-collection.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';
import { loadViewReadings, refuseReadFields, type ViewReading } from '../views/view-readings.ts';
import { refuseCaseChanges } from './case-changes.ts';
import { checkRows } from './check-rows.ts';
import { checkOwnRules, checkRules } from './check-rules.ts';
import type { CollectionChange } from './collection-draft.ts';
import { refuseEncryptionChanges } from './encryption-changes.ts';
import { nameTaken } from './errors.ts';
import { refuseLostNames } from './lost-names.ts';
import { mapFieldRules, mapRules, ruleAt } from './placed-rules.ts';
import { readAlias } from './read-alias.ts';
import { readDurability } from './read-durability.ts';
import { readFresh } from './read-fresh.ts';
import { readRetention } from './read-retention.ts';
import { readRules, refuseOtherTypesRules } from './read-rules.ts';
import { renameInRules, ruleRenamer } from './rename-in-rules.ts';
import { refuseSearchedFields } from './searched-fields.ts';

/** A change to a collection that was checked but not applied. */
export interface PlannedChange {
  readonly before: Collection;
  /** The collection after the change. A view's fields are still its former query's. */
  readonly planned: Collection;
  /** The other collections, with new names in their relations and rules. */
  readonly others: readonly Collection[];
  /** Empty if the change concerns neither columns nor names, which are all that views read. */
  readonly readings: readonly ViewReading[];
  readonly problems: Problems;
}

/**
 * Checks a collection's change against the other collections and the stored rows. Throws 404; 400 when the name is
 * taken; 422 that names every other problem.
 */
export async function planCollectionChange(
  { query, collections, cipher }: SchemaChange,
  idOrName: string,
  change: CollectionChange,
  nowSec: number,
): Promise<PlannedChange> {
  const before = getCollection(collections, idOrName);
  const problems = createProblems();
  const planned = readChange(before, { change, collections, nowSec, problems });
  const others = followNames(before, planned, collections);
  const readings = changesColumns(before, planned) ? await loadViewReadings(query) : [];
  const isView = before.type === 'view';
  if (!isView) refuseReadFields(before, planned, readings, problems);
  refuseEncryptionChanges(before, planned, problems);
  refuseCaseChanges(before, planned, problems);
  refuseSearchedFields(before, planned, problems);
  await checkPlannedRules({ before, planned, others, collections }, problems);
  problems.throwIfAny();
  if (!isView) await checkRows(query, planChecks(before, planned, cipher), problems);
  problems.throwIfAny();
  return { before, planned, others, readings, problems };
}

const changesColumns = (before: Collection, after: Collection): boolean =>
  before.name !== after.name || before.fields !== after.fields || before.viewQuery !== after.viewQuery;

interface PlannedRules extends Pick<PlannedChange, 'before' | 'planned' | 'others'> {
  readonly collections: readonly Collection[];
}

/**
 * Checks the rules that the change may affect. A view's rules are checked later, because its fields are not known yet.
 */
async function checkPlannedRules(
  { before, planned, others, collections }: PlannedRules,
  problems: Problems,
): Promise<void> {
  const isView = before.type === 'view';
  // Rules know names and fields only. With thousands of rules, checking them all takes most of a change's time.
  if (before.name === planned.name && before.fields === planned.fields) {
    if (!isView) checkOwnRules(planned, [planned, ...others], problems);
    return;
  }
  await checkRules(planned, isView ? others : [planned, ...others], problems);
  problems.throwIfAny();
  const renamed = findRenamed(before, planned);
  await refuseLostNames({ before: collections, after: [planned, ...others], renamed, changed: before }, problems);
}

/** Returns the other collections, with the new names of the changed one and its fields in their relations and rules. */
function followNames(before: Collection, after: Collection, collections: readonly Collection[]): Collection[] {
  const renamed = findRenamed(before, after);
  return collections
    .filter(({ id }) => id !== before.id)
    .map((other) => {
      const renamedRules = renameInRules(other, renamed, collections);
      const fields = renameTarget(renamedRules.fields, before.name, after.name);
      return fields === renamedRules.fields ? renamedRules : { ...renamedRules, fields };
    });
}

interface ChangeContext {
  readonly change: CollectionChange;
  readonly collections: readonly Collection[];
  readonly nowSec: number;
  readonly problems: Problems;
}

function readChange(before: Collection, { change, collections, nowSec, problems }: ChangeContext): Collection {
  const { name = before.name, type = before.type, view_query: viewQuery = before.viewQuery } = change;
  if (findByFoldedName(collections, name, before)) throw nameTaken(name);
  const nameProblem = findCollectionNameProblem(name);
  // A collection keeps a name that was reserved later.
  if (nameProblem && name !== before.name) problems.add('name', nameProblem);
  if (type !== before.type) problems.add('type', `cannot change from ${before.type}`);
  if (before.type === 'view') {
    if (!viewQuery) problems.add('view_query', 'is required');
    if (change.history_enabled) problems.add('history_enabled', 'is not for view collections');
  } else if (viewQuery !== before.viewQuery) problems.add('view_query', 'is only for view collections');
  refuseOtherTypesRules(change, before.type, problems);
  const previous = renameTarget(before.fields, before.name, name);
  const after = { ...before, name };
  // A view's fields come from its query.
  const fields =
    change.fields === undefined || before.type === 'view'
      ? previous
      : readFieldDefinitions(
          change.fields,
          {
            collectionType: before.type,
            previous,
            // A collection's relation to itself may use its former name or the new one.
            findCollection: (target) =>
              target === name || target === before.name ? after : collections.find((other) => other.name === target),
          },
          problems,
        );
  // Unchanged rules follow renames. Rules in the change already use the new names.
  const rename = ruleRenamer(before, findRenamed(before, { name, fields }), collections);
  const planned = renameKeptRules(before, fields, rename);
  const { durability, freshSec, alias: _a, retain: _r, historyKeep: _h, ...others } = after;
  return keepIndexes({
    ...others,
    fields: isDeepStrictEqual(planned, before.fields) ? before.fields : planned,
    viewQuery,
    ...readAlias(change.alias, before, collections, problems),
    rules: readRules(change, mapRules(before.rules, rename)),
    historyEnabled: change.history_enabled ?? before.historyEnabled,
    ...readDurability(change.durability ?? durability, before.type, problems),
    ...readFresh(change.fresh_s === undefined ? freshSec : change.fresh_s, before.type, problems),
    ...readRetention(change, before, { type: before.type, fields: planned }, problems),
    updatedAtSec: Math.max(nowSec, before.updatedAtSec),
  });
}

/** Returns the fields, with the new names in the rules that the change does not replace. */
function renameKeptRules(
  before: Collection,
  fields: readonly Field[],
  rename: (rule: string) => string,
): readonly Field[] {
  const named = mapFieldRules(fields, (rule, { id }, place) => {
    const former = before.fields.find((field) => field.id === id);
    return former && ruleAt(former, place) === rule ? rename(rule) : rule;
  });
  return named.every((field, index) => field === fields[index]) ? fields : named;
}

const renameTarget = (fields: readonly Field[], from: string, to: string): readonly Field[] =>
  from !== to && fields.some((field) => field.collection === from)
    ? fields.map((field) => (field.collection === from ? { ...field, collection: to } : field))
    : fields;
