import { hasAccounts } from '@recordbus/accounts';
import { validationFailed } from '@recordbus/errors';
import { inSlices } from '@recordbus/limits/time-slice';
import { type ColumnValues, quoteIdentifier, tableOf } from '@recordbus/schema';
import { equalUpdates } from '../../batch/equal-updates.ts';
import type { ReadyOperation } from '../../batch/ready-operation.ts';
import { fileFieldsOf, fileNamesIn } from '../../files/file-changes.ts';
import type { Upload } from '../../files/upload-parts.ts';
import { readerOf, updateRecord } from '../../write/update-record.ts';
import { failureError } from '../../write/write-failure.ts';
import type { WriteUnit } from '../../write/write-unit.ts';
import { deferRows } from './defer-rows.ts';
import { type Body, type ImportContext, type ImportRow, noTarget, type Outcomes, refusalOf } from './import-row.ts';
import { namedFiles } from './named-files.ts';
import { takeHash } from './stored-password.ts';
import { withinSavepoint } from './within-savepoint.ts';

/** A record to change. */
interface Change {
  readonly row: number;
  readonly id: string;
  readonly body: Body;
  readonly values: ColumnValues;
  readonly bytes: number;
  readonly isWritten: boolean;
  /** A password's hash, which is stored as it is. */
  readonly hash: string | undefined;
  /** The files that the row names, if the import keeps them. */
  readonly upload: Upload | undefined;
}

/** Members that the server sets in an existing record, and members that only a new one gets. */
const ownMembers = new Set(['id', 'created', 'updated', 'expand', 'anonymous']);

/** Fewer are changed one by one. */
const minTogether = 4;

/** Changes rows' records like single updates. If several rows have the same record, the others follow the first. */
export async function updateRows(
  unit: WriteUnit,
  context: ImportContext,
  found: ReadonlyMap<ImportRow, string>,
  outcomes: Outcomes,
): Promise<void> {
  const files = await findFiles(unit, context, found);
  const changes: Change[] = [];
  for await (const [row, id] of inSlices(found)) {
    try {
      changes.push(await changeOf(context, row, { id, files: files.get(id) ?? [] }));
    } catch (error) {
      outcomes.set(row.row, refusalOf(error));
    }
  }
  const { now, lacking } = await deferRows(unit, context, changes, outcomes);
  const ready = now.map((change) => {
    const names = lacking.get(change)?.fields.map(({ name }) => name) ?? [];
    return { ...change, body: without(change.body, new Set(names)) };
  });
  for (const group of groupsOf(ready, context)) await updateInHalves(unit, context, group, outcomes);
  for (const [{ row, id }, { fields }] of lacking) {
    if (outcomes.get(row)?.state !== 'done' || context.options.isDryRun) continue;
    const details = Object.fromEntries(fields.map(({ name }) => [name, noTarget]));
    outcomes.set(row, { state: 'incomplete', recordId: id, details });
  }
}

async function changeOf(
  { collection, options }: ImportContext,
  { row, body: given, bytes, lacking }: ImportRow,
  { id, files }: { readonly id: string; readonly files: readonly string[] },
): Promise<Change> {
  const { hash, body: taken } = takeHash(collection, given);
  const keepsFiles = options.keep.includes('files');
  const fileNames = new Set(fileFieldsOf(collection).map(({ name }) => name));
  const named = fileNamesIn(collection, given);
  if (!keepsFiles && named.length > 0 && !isSame(named, files)) {
    const [field = ''] = fileNames;
    throw validationFailed({ [field]: 'must be empty, or name the files that the record has' });
  }
  const isKept = (name: string) => !ownMembers.has(name) && (keepsFiles || !fileNames.has(name));
  const fields = Object.fromEntries(
    Object.entries(taken).filter(([name, value]) => isKept(name) && !(name === 'password' && value === null)),
  );
  // Without operators, since rows have only values.
  const { password, ...others } = fields;
  const values = await readerOf(collection).readChange(hasAccounts(collection) ? others : fields);
  const body = hash === undefined ? fields : { ...fields, password: hash };
  const upload = keepsFiles ? namedFiles(collection, id, fields, new Set(files)) : undefined;
  return { row, id, body, values, bytes, isWritten: lacking !== undefined, hash, upload };
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && [...a].sort().join('/') === [...b].sort().join('/');

const without = (body: Body, names: ReadonlySet<string>): Body =>
  names.size === 0 ? body : Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name)));

/** Finds the records' file names, if a row names one. */
async function findFiles(
  { query }: WriteUnit,
  { collection }: ImportContext,
  found: ReadonlyMap<ImportRow, string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const fields = fileFieldsOf(collection);
  const naming = [...found].filter(([{ body }]) => fields.length > 0 && fileNamesIn(collection, body).length > 0);
  if (naming.length === 0) return new Map();
  const rows = await query<{ id: string } & Body>({
    text: `select t.id, ${fields.map(({ name }) => `t.${quoteIdentifier(name)}`).join(', ')} from ${tableOf(collection)} t
      where t.id = any($1::text[])`,
    values: [naming.map(([, id]) => id)],
  });
  return new Map(rows.map((row) => [row.id, fileNamesIn(collection, row)]));
}

/** Groups changes that one statement can do: the same fields in different records, in row order. */
function groupsOf(changes: readonly Change[], { collection, options, rules }: ImportContext): readonly Change[][] {
  const keepsFiles = options.keep.includes('files') && fileFieldsOf(collection).length > 0;
  const isAlone = keepsFiles || hasAccounts(collection) || rules.hooks.find(collection, 'update') !== undefined;
  const groups: { readonly names: string; readonly ids: Set<string>; readonly changes: Change[] }[] = [];
  for (const change of changes) {
    const names = Object.keys(change.body).sort().join();
    const last = groups.at(-1);
    if (!isAlone && last && last.names === names && !last.ids.has(change.id)) {
      last.ids.add(change.id);
      last.changes.push(change);
    } else groups.push({ names, ids: new Set([change.id]), changes: [change] });
  }
  return groups.map((group) => group.changes);
}

async function updateInHalves(
  unit: WriteUnit,
  context: ImportContext,
  changes: readonly Change[],
  outcomes: Outcomes,
): Promise<void> {
  const [first, ...others] = changes;
  if (!first) return;
  if (changes.length < minTogether) {
    for (const change of changes) await updateOne(unit, context, change, outcomes);
    return;
  }
  const { result, refusal } = await withinSavepoint(unit, context.collection, async () => {
    const ready = (change: Change) => readyOf(context, change);
    const done = await equalUpdates.run(unit, [ready(first), ...others.map(ready)], context.rules);
    if (!done) throw validationFailed({ id: 'the record with this id is gone' });
    return done;
  });
  if (!refusal && result) {
    for (const { row } of changes) outcomes.set(row, { state: 'done' });
    return;
  }
  const half = Math.ceil(changes.length / 2);
  await updateInHalves(unit, context, changes.slice(0, half), outcomes);
  await updateInHalves(unit, context, changes.slice(half), outcomes);
}

async function updateOne(unit: WriteUnit, context: ImportContext, change: Change, outcomes: Outcomes): Promise<void> {
  const { collection, call, rules } = context;
  const { refusal } = await withinSavepoint(unit, collection, async () => {
    const { id, body, upload, hash } = change;
    const request = { id, body, upload, versions: undefined };
    const own = hash === undefined ? rules : { ...rules, passwords: { ...rules.passwords, hashNew: async () => hash } };
    const result = await updateRecord(unit, collection, request, call, own);
    if (result.outcome !== 'written') throw failureError(result, call);
  });
  outcomes.set(change.row, refusal ? refusalOf(refusal) : { state: 'done' });
}

/** A change in the form for a statement with several updates. */
function readyOf({ collection, call }: ImportContext, { row, id, body, bytes }: Change): ReadyOperation {
  const operation = {
    op: 'update',
    collection: collection.name,
    id,
    on: undefined,
    data: body,
    ifMatch: undefined,
    as: undefined,
    bytes,
  } as const;
  return { index: row, operation, collection, upload: undefined, uses: new Set(), id, body, call, bytes };
}
