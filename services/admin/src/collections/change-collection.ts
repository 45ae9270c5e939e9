import { recordAudit } from '@recordbus/audit';
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
import type { Author } from '../audit/author.ts';
import { planChange } from '../ddl/change-table.ts';
import { planChecks } from '../ddl/checks.ts';
import { keepIndexes } from '../indexes/keep-indexes.ts';
import { buildView } from '../views/build-view.ts';
import { dropViews, rebuildViews } from '../views/rebuild-views.ts';
import { dependentsOf, loadViewReadings, refuseReadFields } from '../views/view-readings.ts';
import { checkRows } from './check-rows.ts';
import { checkRules } from './check-rules.ts';
import type { CollectionChange } from './collection-draft.ts';
import { updateCollection } from './collections-table.ts';
import { carryOutEncryptionChanges, refuseEncryptionChanges } from './encryption-changes.ts';
import { nameTaken } from './errors.ts';
import { findByFoldedName, getCollection } from './find-collection.ts';
import { isSameDefinition } from './is-same-definition.ts';
import { readRules, ruleNames } from './read-rules.ts';
import { findRenamed, renameInRules } from './rename-in-rules.ts';
import type { SchemaChange, SchemaChanges } from './schema-changes.ts';

/**
 * Changes a collection and its table or view; relations, rules and views of other collections follow a new name.
 * Throws 404, 400 for a name that is taken, 422 naming everything else that is wrong, with the number of rows that
 * stand against it.
 */
export function changeCollection(
  changes: SchemaChanges,
  idOrName: string,
  change: CollectionChange,
  nowSec: number,
  author: Author,
): Promise<Collection> {
  return changes.make(async (schema) => {
    const collection = await applyChange(schema, idOrName, change, nowSec);
    await recordAudit(schema.query, {
      ...author,
      action: 'collections.update',
      target: { type: 'collection', id: collection.id },
      details: { name: collection.name, changed: Object.keys(change) },
    });
    return collection;
  });
}

/** The same within a change of the schema that does more. */
export async function applyChange(
  schema: SchemaChange,
  idOrName: string,
  change: CollectionChange,
  nowSec: number,
): Promise<Collection> {
  const { query, collections, envelope, execute } = schema;
  const before = getCollection(collections, idOrName);
  const problems = createProblems();
  const planned = readChange(before, { change, collections, nowSec, problems });
  const others = followNames(before, planned, collections);
  const readings = await loadViewReadings(query);
  const isView = before.type === 'view';
  if (!isView) refuseReadFields(before, planned, readings, problems);
  refuseEncryptionChanges(before, planned, problems);
  checkRules(planned, isView ? others : [planned, ...others], problems);
  problems.throwIfAny();
  if (!isView) await checkRows(query, planChecks(before, planned, envelope), problems);
  problems.throwIfAny();
  if (isSameDefinition(before, planned)) {
    await updateCollection(query, planned);
    return planned;
  }

  const isRebuilt = isView ? before.viewQuery !== planned.viewQuery : before.fields !== planned.fields;
  const views = isRebuilt || before.name !== planned.name ? dependentsOf(before.name, readings) : [];
  await dropViews(execute, views);
  const after = isView
    ? await changeView(schema, before, planned)
    : await alterTable(execute, before, planned).then(() => planned);
  if (!isView) await carryOutEncryptionChanges(schema, before, after);
  await updateCollection(query, after);
  for (const other of others) {
    if (!collections.includes(other)) await updateCollection(query, other);
  }
  const current = await rebuildViews(schema, views, { before, after, collections: [after, ...others] });
  if (isView || views.length > 0) checkRules(after, current, problems);
  problems.throwIfAny();
  return after;
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
  const { name = before.name, type = before.type, view_query: viewQuery = before.viewQuery } = change;
  if (findByFoldedName(collections, name, before)) throw nameTaken(name);
  const nameProblem = findCollectionNameProblem(name);
  if (nameProblem) problems.add('name', nameProblem);
  if (type !== before.type) problems.add('type', `cannot change from ${before.type}`);
  if (before.type === 'view') {
    if (!viewQuery) problems.add('view_query', 'is required');
    if (change.history_enabled) problems.add('history_enabled', 'is not for collections of type view');
  } else if (viewQuery !== before.viewQuery) problems.add('view_query', 'is only for collections of type view');
  const previous = renameTarget(before.fields, before.name, name);
  const after = { ...before, name };
  // The fields of a view come of its query.
  const fields =
    change.fields === undefined || before.type === 'view'
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
  return keepIndexes({
    ...after,
    fields,
    viewQuery,
    // Rules that stay follow the fields; one that is sent means the fields as they will be.
    rules: readRules(change, renameInRules(before, findRenamed(before, fields), collections)),
    historyEnabled: change.history_enabled ?? before.historyEnabled,
    updatedAtSec: Math.max(nowSec, before.updatedAtSec),
  });
}

const renameTarget = (fields: readonly Field[], from: string, to: string): readonly Field[] =>
  fields.some((field) => field.collection === from)
    ? fields.map((field) => (field.collection === from ? { ...field, collection: to } : field))
    : fields;

async function changeView(
  { query, collections, execute }: SchemaChange,
  before: Collection,
  planned: Collection,
): Promise<Collection> {
  if (before.name === planned.name && before.viewQuery === planned.viewQuery) return planned;
  await dropViews(execute, [before.name]);
  const others = collections.filter(({ id }) => id !== before.id);
  return buildView(planned, { query, collections: others, checksIds: before.viewQuery !== planned.viewQuery });
}

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
