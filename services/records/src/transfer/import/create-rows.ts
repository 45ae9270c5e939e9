import { type AppError, validationFailed } from '@recordbus/errors';
import { type Origin, originOf } from '@recordbus/journal';
import { inSlices } from '@recordbus/limits/time-slice';
import { type ColumnValues, explainRefusal, isSetBy, perCollection } from '@recordbus/schema';
import { readDateValue } from '@recordbus/text/date-text';
import { columnsOfRows } from '../../batch/given-rows.ts';
import { findOthersIds, othersId } from '../../record/others-account-ids.ts';
import { prepareWrite } from '../../record/prepared.ts';
import { readNewId } from '../../record/record-id.ts';
import { prepareCreate } from '../../write/create-record.ts';
import type { WriteUnit } from '../../write/write-unit.ts';
import { type CreatedRows, type CreateRowsOptions, composeCreateRows } from './create-rows-sql.ts';
import { deferRows } from './defer-rows.ts';
import { isPlaced, numericDatesOf } from './import-options.ts';
import { type ImportContext, type ImportRow, noTarget, type Outcomes, refusalOf, refused } from './import-row.ts';
import type { MissingTargets } from './missing-targets.ts';
import { namedFiles } from './named-files.ts';
import { takeHash } from './stored-password.ts';
import { withinSavepoint } from './within-savepoint.ts';

/** A record to create, with its columns' values. */
export interface Draft {
  readonly row: number;
  readonly from: ImportRow;
  /** The id in the body. */
  readonly id: string | undefined;
  readonly newId: string;
  readonly created: number | null;
  readonly updated: number | null;
  readonly hash: string | null;
  readonly values: ColumnValues;
}

/** Checks rows like single creates, and runs their hooks. Refused rows get their outcome. */
export async function draftRows(
  unit: WriteUnit,
  context: ImportContext,
  rows: readonly ImportRow[],
  outcomes: Outcomes,
): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for await (const row of inSlices(rows)) {
    try {
      drafts.push(await draftOf(unit, context, row));
    } catch (error) {
      outcomes.set(row.row, refusalOf(error));
    }
  }
  return withoutOthersIds(unit, context, drafts, outcomes);
}

async function withoutOthersIds(
  { query }: WriteUnit,
  { collection, rules }: ImportContext,
  drafts: readonly Draft[],
  outcomes: Outcomes,
): Promise<Draft[]> {
  const chosen = drafts.flatMap(({ id }) => id ?? []);
  const taken = await findOthersIds(query, collection, rules.collections.otherAuthCollections(collection), chosen);
  const [free, others] = split(drafts, ({ id }) => id === undefined || !taken.has(id));
  for (const { row } of others) outcomes.set(row, refused(othersId));
  return free;
}

async function draftOf(unit: WriteUnit, context: ImportContext, from: ImportRow): Promise<Draft> {
  const { collection, options, call, rules } = context;
  const { keep } = options;
  const id = isPlaced(options) ? idOf(from) : undefined;
  const created = keep.includes('created') ? timeOf(from, 'created', options) : null;
  const updated = keep.includes('updated') ? timeOf(from, 'updated', options) : null;
  const { body, hash } = takeHash(collection, from.body);
  const upload = keep.includes('files') && id !== undefined ? namedFiles(collection, id, body) : undefined;
  const prepared = await prepareCreate(unit, collection, { body, upload }, call, rules);
  const values = withKeptTimes(context, from, prepared.fields);
  return {
    row: from.row,
    from,
    id,
    newId: id ?? prepared.id,
    created,
    updated,
    hash: hash ?? prepared.passwordHash ?? null,
    values,
  };
}

/** The id in the body. A row without one gets a new id. */
function idOf({ body: { id } }: ImportRow): string | undefined {
  if (id === undefined || id === null || id === '') return undefined;
  if (typeof id !== 'string') throw validationFailed({ id: 'must be a string' });
  return readNewId(id);
}

/** Clocks differ a little. */
const toleranceSec = 60;

function timeOf({ body }: ImportRow, name: string, options: ImportContext['options']): number | null {
  const value = body[name];
  if (value === undefined || value === null || value === '') return null;
  const seconds = readDateValue(value, numericDatesOf(options));
  if (typeof seconds === 'string') throw validationFailed({ [name]: seconds });
  if (seconds > Date.now() / 1000 + toleranceSec) throw validationFailed({ [name]: 'must not be in the future' });
  return seconds;
}

/** Adds the times that an import keeps in `autodate` fields. The server sets those in other writes. */
function withKeptTimes({ collection, options }: ImportContext, from: ImportRow, values: ColumnValues) {
  const { keep } = options;
  const kept = collection.fields.filter(
    (field) =>
      field.type === 'autodate' &&
      ((isSetBy(field, 'onUpdate') && keep.includes('updated')) ||
        (!isSetBy(field, 'onUpdate') && keep.includes('created'))),
  );
  const times = kept.flatMap(({ name }): [string, number][] => {
    const seconds = timeOf(from, name, options);
    return seconds === null ? [] : [[name, seconds]];
  });
  return times.length === 0 ? values : new Map([...values, ...times]);
}

/** Creates the drafts' records. Returns the drafts whose records exist; all others get their outcome. */
export async function createRows(
  unit: WriteUnit,
  context: ImportContext,
  drafts: readonly Draft[],
  outcomes: Outcomes,
): Promise<readonly Draft[]> {
  const { now, lacking } = await deferRows(unit, context, drafts, outcomes);
  const ready = now.map((draft) => withoutMissing(draft, lacking.get(draft)));
  // If several rows have the same id, the first one creates the record.
  const ids = new Set<string>();
  const isFirst = ({ newId }: Draft) => !ids.has(newId) && ids.add(newId);
  const [first, taken] = split(ready, isFirst);
  await insertInHalves(unit, context, first, { outcomes, taken });
  for (const [{ row, newId }, { fields }] of lacking) {
    if (outcomes.get(row)?.state !== 'done' || context.options.isDryRun) continue;
    const details = Object.fromEntries(fields.map(({ name }) => [name, noTarget]));
    outcomes.set(row, { state: 'incomplete', recordId: newId, details });
  }
  return taken;
}

function split<T>(items: readonly T[], isFirst: (item: T) => unknown): readonly [T[], T[]] {
  const [first, others]: [T[], T[]] = [[], []];
  for (const item of items) (isFirst(item) ? first : others).push(item);
  return [first, others];
}

function withoutMissing(draft: Draft, missing: MissingTargets | undefined): Draft {
  if (!missing) return draft;
  const values = new Map(draft.values);
  for (const { name, options } of missing.fields) values.set(name, options.multiple ? '[]' : null);
  return { ...draft, values };
}

interface Results {
  readonly outcomes: Outcomes;
  /** Drafts whose records exist. */
  readonly taken: Draft[];
}

/** Inserts drafts with one statement. If it is refused, inserts each half separately, down to the row at fault. */
async function insertInHalves(
  unit: WriteUnit,
  context: ImportContext,
  drafts: readonly Draft[],
  results: Results,
): Promise<void> {
  if (drafts.length === 0) return;
  const { result, refusal } = await withinSavepoint(unit, context.collection, () =>
    insert(unit, context, drafts, { isStrict: false }).catch(explainOne(context, drafts)),
  );
  if (!refusal) {
    for (const draft of drafts) {
      if (result.has(draft.newId)) results.outcomes.set(draft.row, { state: 'done' });
      else results.taken.push(draft);
    }
    return;
  }
  const [only] = drafts;
  if (drafts.length === 1 && only) {
    results.outcomes.set(only.row, outcomeOf(refusal, context, only));
    return;
  }
  const half = Math.ceil(drafts.length / 2);
  await insertInHalves(unit, context, drafts.slice(0, half), results);
  await insertInHalves(unit, context, drafts.slice(half), results);
}

/** Explains a single row's refusal by its values. */
const explainOne = ({ collection }: ImportContext, [first, ...others]: readonly Draft[]) =>
  explainRefusal(collection, others.length === 0 ? first?.values.keys() : undefined);

/** Creates a record that must not exist, so the refusal names the value that is taken. */
export async function createStrictly(unit: WriteUnit, context: ImportContext, draft: Draft, outcomes: Outcomes) {
  const { refusal } = await withinSavepoint(unit, context.collection, () =>
    insert(unit, context, [draft], { isStrict: true }).catch(explainOne(context, [draft])),
  );
  outcomes.set(draft.row, refusal ? outcomeOf(refusal, context, draft) : { state: 'done' });
}

/** A row may refer to a row in the same statement that was refused or comes later. */
function outcomeOf(refusal: AppError, { collection, options, pass }: ImportContext, { id }: Draft) {
  const fields = Object.entries(refusal.details ?? {});
  const isOfTargets = fields.every(
    ([name, message]) =>
      message === noTarget &&
      collection.fields.some((field) => field.name === name && field.collection === collection.name),
  );
  if (pass > 1 || options.isDryRun || !isOfTargets || fields.length === 0 || id === undefined)
    return refusalOf(refusal);
  return {
    state: 'waiting',
    recordId: id,
    details: Object.fromEntries(fields.map(([name]) => [name, noTarget])),
  } as const;
}

const statementsOf = perCollection(() => new Map<string, ReturnType<typeof prepareRows>>());

const prepareRows = (...args: Parameters<typeof composeCreateRows>) =>
  prepareWrite<Origin & CreatedRows>('create rows', composeCreateRows(...args));

async function insert(
  unit: WriteUnit,
  { collection, options, call }: ImportContext,
  drafts: readonly Draft[],
  { isStrict }: Pick<CreateRowsOptions, 'isStrict'>,
): Promise<Set<string>> {
  const kind = { isPlaced: isPlaced(options), isSilent: options.isSilent, isStrict };
  const made = statementsOf(collection);
  const key = JSON.stringify(kind);
  const prepared = made.get(key) ?? prepareRows(collection, kind);
  made.set(key, prepared);
  const { valuesFrom, ...statement } = prepared;
  const given = {
    ...originOf(call),
    ids: drafts.map((draft) => draft.newId),
    created: drafts.map(({ created }) => created),
    updated: drafts.map(({ updated }) => updated),
    hashes: drafts.map(({ hash }) => hash),
    columns: columnsOfRows(drafts.map(({ values }) => values)),
  };
  const rows = await unit.query<{ id: string }>({ ...statement, values: valuesFrom(given, call.request) });
  unit.due.add('wakeRelay');
  return new Set(rows.map(({ id }) => id));
}
