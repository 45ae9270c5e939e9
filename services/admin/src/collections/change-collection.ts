import { isDatabaseError } from '@recordbus/database';
import {
  type Collection,
  createProblems,
  type Field,
  findCollectionNameProblem,
  type Problems,
  readFieldDefinitions,
} from '@recordbus/schema';
import { validationFailed } from '@recordbus/shared/errors';
import { planChange } from '../ddl/change-table.ts';
import { planChecks } from '../ddl/checks.ts';
import { checkRows } from './check-rows.ts';
import { checkRules } from './check-rules.ts';
import type { CollectionChange } from './collection-draft.ts';
import { updateCollection } from './collections-table.ts';
import { nameTaken } from './errors.ts';
import { findByFoldedName, getCollection } from './find-collection.ts';
import { readRules, ruleNames } from './read-rules.ts';
import { findRenamed, renameInRules } from './rename-in-rules.ts';
import type { SchemaChange, SchemaChanges } from './schema-changes.ts';

/**
 * Changes a collection and its table; relations of other collections follow a new name. Throws 404, 400 for a name
 * that is taken, 422 naming everything else that is wrong, with the number of rows that stand against it.
 */
export function changeCollection(
  changes: SchemaChanges,
  idOrName: string,
  change: CollectionChange,
  nowSec: number,
): Promise<Collection> {
  return changes.make(async ({ query, collections, execute }) => {
    const before = getCollection(collections, idOrName);
    const problems = createProblems();
    const after = readChange(before, { change, collections, nowSec, problems });
    const others = followNames(before, after, collections);
    checkRules(after, [after, ...others], problems);
    problems.throwIfAny();
    await checkRows(query, planChecks(before, after), problems);
    problems.throwIfAny();
    await alterTable(execute, before, after);
    await updateCollection(query, after);
    for (const other of others) {
      if (!collections.includes(other)) await updateCollection(query, other);
    }
    return after;
  });
}

/** The other collections, with the new names of the changed one and of its fields in their relations and rules. */
function followNames(before: Collection, after: Collection, collections: readonly Collection[]): Collection[] {
  const renamed = findRenamed(before, after.fields);
  return collections
    .filter(({ id }) => id !== before.id)
    .map((other) => {
      const rules = renameInRules(other, renamed, collections);
      const follows =
        (before.name !== after.name && other.fields.some((field) => field.collection === before.name)) ||
        ruleNames.some((name) => rules[name] !== other.rules[name]);
      return follows ? { ...other, rules, fields: renameTarget(other.fields, before.name, after.name) } : other;
    });
}

interface ChangeContext {
  readonly change: CollectionChange;
  readonly collections: readonly Collection[];
  readonly nowSec: number;
  readonly problems: Problems;
}

function readChange(before: Collection, { change, collections, nowSec, problems }: ChangeContext): Collection {
  const { name = before.name, type = before.type, view_query = before.viewQuery } = change;
  if (findByFoldedName(collections, name, before)) throw nameTaken(name);
  const nameProblem = findCollectionNameProblem(name);
  if (nameProblem) problems.add('name', nameProblem);
  if (type !== before.type) problems.add('type', `cannot change from ${before.type}`);
  if (view_query !== before.viewQuery) problems.add('view_query', 'is only for collections of type view');
  const previous = renameTarget(before.fields, before.name, name);
  const after = { ...before, name };
  const fields =
    change.fields === undefined
      ? previous
      : readFieldDefinitions(
          change.fields,
          {
            collectionType: before.type,
            previous,
            // A relation to itself may call it by its former name or by the new one.
            findCollection: (target) =>
              target === name || target === before.name ? after : collections.find((other) => other.name === target),
          },
          problems,
        );
  return {
    ...after,
    fields,
    // Rules that stay follow the fields; one that is sent means the fields as they will be.
    rules: readRules(change, renameInRules(before, findRenamed(before, fields), collections)),
    historyEnabled: change.history_enabled ?? before.historyEnabled,
    updatedAtSec: Math.max(nowSec, before.updatedAtSec),
  };
}

const renameTarget = (fields: readonly Field[], from: string, to: string): readonly Field[] =>
  fields.map((field) => (field.collection === from ? { ...field, collection: to } : field));

async function alterTable(execute: SchemaChange['execute'], before: Collection, after: Collection): Promise<void> {
  try {
    await execute(planChange(before, after));
  } catch (error) {
    if (!isDatabaseError(error, tooManyColumns)) throw error;
    throw validationFailed({ fields: 'the table can take no further column; those of dropped fields count as well' });
  }
}

/** SQLSTATE of a table that would get more than 1,600 columns, dropped ones included. */
const tooManyColumns = '54011';
