import { validationFailed } from '@recordbus/errors';
import type { WriteUnit } from '../../write/write-unit.ts';
import { createRows, createStrictly, type Draft, draftRows } from './create-rows.ts';
import { findExisting } from './find-existing.ts';
import { type ImportContext, type ImportRow, type Outcome, type Outcomes, refused, wholeRow } from './import-row.ts';
import { updateRows } from './update-rows.ts';
import { withinSavepoint } from './within-savepoint.ts';

/** How many rows and bytes a statement may have. The driver converts their values in one piece of work. */
const maxTogether = 250;
const maxTogetherBytes = 2 ** 18;

/**
 * Writes rows' records in a chunk's transaction, each like a single write. Returns each row's outcome. The work may run
 * again if its transaction loses against another one.
 */
export async function writeRows(
  unit: WriteUnit,
  context: ImportContext,
  rows: readonly ImportRow[],
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const write = hasHooks(context) ? writeHooked : writeGroup;
  for (const group of groupsOf(rows, context)) await write(unit, context, group, outcomes);
  return outcomes;
}

const hasHooks = ({ collection, rules: { hooks } }: ImportContext): boolean =>
  hooks.find(collection, 'create') !== undefined || hooks.find(collection, 'update') !== undefined;

/** Rows that are written together. With hooks each row is separate, since a hook may read what earlier rows wrote. */
function* groupsOf(rows: readonly ImportRow[], context: ImportContext): Generator<ImportRow[]> {
  const most = hasHooks(context) ? 1 : maxTogether;
  let group: ImportRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (group.length >= most || (group.length > 0 && bytes + row.bytes > maxTogetherBytes)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(row);
    bytes += row.bytes;
  }
  if (group.length > 0) yield group;
}

const isDone = (outcome: Outcome | undefined): boolean => outcome?.state === 'done' || outcome?.state === 'incomplete';

/** Thrown to undo the work within a savepoint. */
const undo = validationFailed({ [wholeRow]: 'is refused' });

/** Writes a row with its hooks. If the row is not written, its hooks' writes are undone. */
async function writeHooked(
  unit: WriteUnit,
  context: ImportContext,
  rows: readonly ImportRow[],
  outcomes: Outcomes,
): Promise<void> {
  await withinSavepoint(unit, context.collection, async () => {
    await writeGroup(unit, context, rows, outcomes);
    if (!rows.every(({ row }) => isDone(outcomes.get(row)))) throw undo;
  });
}

async function writeGroup(
  unit: WriteUnit,
  context: ImportContext,
  rows: readonly ImportRow[],
  outcomes: Outcomes,
): Promise<void> {
  const lacking = rows.filter((row) => row.lacking);
  if (lacking.length > 0) await updateRows(unit, context, await recordsOf(lacking), outcomes);
  const whole = rows.filter((row) => !row.lacking);
  if (whole.length === 0) return;
  if (context.options.mode === 'insert') await insertRows(unit, context, whole, outcomes);
  else await mergeRows(unit, context, whole, outcomes);
}

const recordsOf = async (rows: readonly ImportRow[]) =>
  new Map(rows.flatMap((row): [ImportRow, string][] => (row.lacking ? [[row, row.lacking.recordId]] : [])));

async function insertRows(unit: WriteUnit, context: ImportContext, rows: readonly ImportRow[], outcomes: Outcomes) {
  const drafts = await draftRows(unit, context, rows, outcomes);
  for (const draft of await createRows(unit, context, drafts, outcomes))
    await createStrictly(unit, context, draft, outcomes);
}

/** Changes or skips the existing records, and creates the others. */
async function mergeRows(unit: WriteUnit, context: ImportContext, rows: readonly ImportRow[], outcomes: Outcomes) {
  const found = await findExisting(unit.query, context, rows, outcomes);
  await mergeFound(unit, context, found, outcomes);
  const others = rows.filter((row) => !found.has(row) && !outcomes.has(row.row));
  const drafts = await draftRows(unit, context, others, outcomes);
  for (const draft of await createRows(unit, context, drafts, outcomes))
    await mergeTaken(unit, context, draft, outcomes);
}

async function mergeFound(
  unit: WriteUnit,
  context: ImportContext,
  found: ReadonlyMap<ImportRow, string>,
  outcomes: Outcomes,
): Promise<void> {
  if (context.options.mode === 'upsert') return updateRows(unit, context, found, outcomes);
  for (const { row } of found.keys()) outcomes.set(row, { state: 'skipped' });
}

/** Handles a draft whose record exists: from an earlier row, another request, or because of a unique value. */
async function mergeTaken(unit: WriteUnit, context: ImportContext, draft: Draft, outcomes: Outcomes): Promise<void> {
  const found = await findExisting(unit.query, context, [draft.from], outcomes);
  if (found.size > 0) await mergeFound(unit, context, found, outcomes);
  else await createStrictly(unit, context, draft, outcomes);
  if (!outcomes.has(draft.row)) outcomes.set(draft.row, refused({ [wholeRow]: 'keeps changing' }));
}
