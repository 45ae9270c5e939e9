import { validationFailed } from '@recordbus/errors';
import { inSlices } from '@recordbus/limits/time-slice';
import { dropRows, type JobRow, noteRows } from '../../jobs/job-rows.ts';
import { type HeldJob, type JobProgress, noteProgress } from '../../jobs/job-store.ts';
import type { RunWrite, WriteUnit } from '../../write/write-unit.ts';
import type { SourceRow } from '../formats/source-row.ts';
import { createReadBody } from './columns.ts';
import { type ImportContext, type ImportRow, type Outcome, type Outcomes, refusalOf, wholeRow } from './import-row.ts';
import { silenceEvents } from './silence-events.ts';
import { writeRows } from './write-rows.ts';

/** A row in a chunk, with an earlier pass's notes. */
export interface ChunkRow {
  readonly source: SourceRow;
  readonly bytes: number;
  readonly noted: JobRow | undefined;
}

/** Rows that are imported in one transaction, with the position after them. */
export interface Chunk {
  readonly rows: readonly ChunkRow[];
  readonly position: number;
  readonly lastRow: number;
  /** How long ago the last chunk was, in milliseconds. */
  activeMs(): number;
}

/**
 * Imports a chunk's rows and notes the position in one transaction, so a crash leaves everything or nothing. Throws
 * LostJob if this replica no longer holds the job; then nothing is imported.
 */
export async function writeChunk(
  write: RunWrite,
  job: HeldJob,
  context: ImportContext,
  chunk: Chunk,
): Promise<JobProgress> {
  return write({ mode: 'transaction' }, async (unit) => {
    const outcomes = await writeAll(unit, context, chunk);
    const notes = [...outcomes].flatMap(([row, outcome]) => noteOf(row, outcome));
    await noteRows(unit.query, job.id, notes);
    const noted = new Set(notes.map(({ row }) => row));
    const wereNoted = chunk.rows.flatMap((one) => (one.noted ? [one.source.row] : []));
    await dropRows(
      unit.query,
      job.id,
      wereNoted.filter((row) => !noted.has(row)),
    );
    const progress = progressOf(outcomes, context.pass, chunk);
    await noteProgress(unit.query, job, progress);
    return progress;
  });
}

async function writeAll(unit: WriteUnit, context: ImportContext, chunk: Chunk): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const rows = await readRows(context, chunk, outcomes);
  if (rows.length === 0) return outcomes;
  const { isDryRun, isSilent } = context.options;
  const send = (text: string) => unit.query({ text, values: [] });
  if (isDryRun) await send('savepoint dry');
  const silence = isSilent && !isDryRun ? await silenceEvents(unit.query, context.collection) : undefined;
  for (const [row, outcome] of await writeRows(unit, context, rows)) outcomes.set(row, outcome);
  await silence?.();
  if (isDryRun) {
    await send('rollback to savepoint dry');
    unit.due.clear();
  }
  return outcomes;
}

/** Reads the rows' bodies. Rows that cannot be read are refused. */
async function readRows(
  { collection, options }: ImportContext,
  { rows }: Chunk,
  outcomes: Outcomes,
): Promise<ImportRow[]> {
  const readBody = createReadBody(options, collection);
  const read: ImportRow[] = [];
  for await (const { source, bytes, noted } of inSlices(rows)) {
    const { row, problem } = source;
    try {
      if (problem !== undefined) throw validationFailed({ [wholeRow]: problem });
      const body = readBody(source);
      read.push(noted?.state === 'incomplete' ? lackingRow({ row, body, bytes }, noted) : { row, body, bytes });
    } catch (error) {
      outcomes.set(row, refusalOf(error));
    }
  }
  return read;
}

function lackingRow({ row, body, bytes }: ImportRow, { recordId = '', details }: JobRow): ImportRow {
  const fields = Object.keys(details);
  return {
    row,
    bytes,
    body: Object.fromEntries(fields.map((name) => [name, body[name]])),
    lacking: { recordId, fields },
  };
}

function noteOf(row: number, outcome: Outcome): JobRow[] {
  if (outcome.state === 'done' || outcome.state === 'skipped') return [];
  const recordId = outcome.state === 'refused' ? undefined : outcome.recordId || undefined;
  return [{ row, state: outcome.state, recordId, details: outcome.details }];
}

function progressOf(outcomes: Outcomes, pass: number, { rows, position, lastRow, activeMs }: Chunk): JobProgress {
  const count = (...states: Outcome['state'][]) =>
    [...outcomes.values()].filter(({ state }) => states.includes(state)).length;
  const waited = pass === 1 ? 0 : rows.length;
  return {
    position,
    lastRow,
    read: pass === 1 ? rows.length : 0,
    done: count('done'),
    skipped: count('skipped'),
    refused: count('refused'),
    waiting: count('waiting', 'incomplete') - waited,
    activeMs: activeMs(),
  };
}
