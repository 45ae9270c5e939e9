import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { AppError } from '@recordbus/errors';
import {
  type ApiAddress,
  CommandFailure,
  commandJob,
  followJob,
  type ImportJob,
  isBusy,
  isEnded,
  noProgress,
  type Progress,
  readJob,
  reasonOf,
  sendRequest,
  whenFree,
} from '@recordbus/stack-calls';
import { exitCodes } from '../exit-codes.ts';
import type { CommandParts } from '../run-command.ts';
import { standardStream } from '../standard-stream.ts';
import { fileFormatOf, refusedFileOf } from './file-format.ts';
import { findStack } from './find-stack.ts';
import { type NoteFile, noNote, openNote } from './import-note.ts';
import type { ImportOptions } from './options.ts';
import { createProgress } from './progress.ts';
import { type ImportSource, upload } from './upload.ts';

/** The exit code when rows were refused. */
const someRefused = 3;

/**
 * Imports a file as a job and follows it to its end. Continues the same file's import if one is in progress. A signal
 * pauses the job.
 */
export async function importRecords(
  parts: CommandParts,
  collection: string,
  file: string,
  { url, key, json = false, refused, cancel = false, dryRun, ...given }: ImportOptions,
): Promise<number> {
  const isStandard = file === standardStream;
  const { format, isCompressed } = fileFormatOf(file, given.format);
  const address = await findStack(parts, { url, key });
  const parameters = { ...given, format, ...(dryRun && { dry_run: '1' }) };
  const note = isStandard ? noNote : await openNote(file, { url: address.url, collection, parameters });
  const progress = json ? noProgress : createProgress({ output: process.stderr });
  const running: RunningImport = { ...parts, address, note, progress, followed: {} };
  pauseAtSignals(running);

  const known = await findKnown(running);
  if (cancel) return cancelJob(running, known, file);
  const source = { file, isCompressed, collection, parameters };
  const id = known?.id ?? (await startJob(running, source));
  const job = known && isEnded(known) ? known : await follow(running, id, known?.state === 'paused');
  const rowsFile = refused ?? (isStandard ? undefined : refusedFileOf(file, format));
  const kept = job.rows.refused > 0 && rowsFile !== undefined ? rowsFile : undefined;
  if (kept !== undefined) await writeRefused(address, id, kept);
  await note.remove();
  return report(parts, job, { collection, kept });
}

interface RunningImport extends CommandParts {
  readonly address: ApiAddress;
  readonly note: NoteFile;
  readonly progress: Progress;
  /** The job that a signal pauses. */
  readonly followed: { id?: string };
}

/** Finds an earlier command's job; undefined if it does not exist. */
async function findKnown({ address, note }: RunningImport): Promise<ImportJob | undefined> {
  const { job } = (await note.find()) ?? {};
  if (job === undefined) return undefined;
  try {
    return await readJob(address, job);
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return undefined;
    throw error;
  }
}

async function cancelJob(
  { address, note, terminal }: RunningImport,
  known: ImportJob | undefined,
  file: string,
): Promise<number> {
  if (!known) throw new CommandFailure(`No import of ${file} with these options is in progress.`);
  const job = (await commandJob(address, known.id, 'cancel')) ?? known;
  await note.remove();
  terminal.report(job, `The job ${job.id} is ${job.state}. ${job.rows.done} rows were done and stay.`);
  return exitCodes.done;
}

/** Uploads the file and notes its job. If an upload broke off, its key prevents a second job. */
async function startJob(running: RunningImport, source: ImportSource): Promise<string> {
  const { address, note, progress, terminal, followed } = running;
  const { key, job } = (await note.find()) ?? {};
  const repeated = job === undefined ? key : undefined;
  const idempotencyKey = repeated ?? randomUUID();
  await note.write({ key: idempotencyKey });
  try {
    const send = () => upload(address, source, { key: idempotencyKey, progress });
    const id = await (source.file === standardStream ? send() : whenFree(send, terminal));
    // A signal right after the note must pause the job, too.
    followed.id = id;
    await note.write({ key: idempotencyKey, job: id });
    return id;
  } catch (error) {
    // The API refused it, so nothing was done.
    if (error instanceof AppError && error.status < 500 && error.status !== 409 && !isBusy(error)) await note.remove();
    throw error;
  } finally {
    progress.end();
  }
}

/** Follows the job to its end. A signal meanwhile pauses it. */
async function follow(
  { address, progress, followed }: RunningImport,
  id: string,
  isPaused: boolean,
): Promise<ImportJob> {
  followed.id = id;
  try {
    if (isPaused) await commandJob(address, id, 'resume');
    return await followJob(address, id, progress);
  } finally {
    delete followed.id;
    progress.end();
  }
}

function pauseAtSignals(running: RunningImport): void {
  const { lifecycle, followed } = running;
  lifecycle.onStop('job', async () => {
    if (followed.id !== undefined) await pause(running, followed.id);
  });
}

async function pause({ terminal, address, note, progress }: RunningImport, id: string): Promise<void> {
  progress.end();
  try {
    const job = await commandJob(address, id, 'pause');
    const how = note === noNote ? `POST /api/v1/jobs/${id}/resume continues it` : 'the same command continues it';
    if (job) terminal.note(`The job ${id} is paused: ${how}.`);
  } catch (error) {
    terminal.note(`The job ${id} continues, because it could not be paused: ${reasonOf(error)}.`);
  }
}

/** Writes a job's refused rows into a file. */
async function writeRefused(address: ApiAddress, id: string, file: string): Promise<void> {
  const answer = await sendRequest(address, { method: 'GET', path: `/api/v1/jobs/${id}/refused` });
  if (answer.body) await pipeline(Readable.fromWeb(answer.body as ReadableStream<Uint8Array>), createWriteStream(file));
}

function report(
  { terminal }: CommandParts,
  job: ImportJob,
  { collection, kept }: { readonly collection: string; readonly kept: string | undefined },
): number {
  const { rows, state, error } = job;
  const sentences = [`${rows.done} of ${rows.total} rows were imported into ${collection}.`];
  if (rows.skipped > 0) sentences.push(`${rows.skipped} were skipped.`);
  if (rows.refused > 0) sentences.push(`${rows.refused} were refused${kept === undefined ? '' : `: see ${kept}`}.`);
  if (state !== 'done') sentences.push(`The job ${job.id} is ${state}${error ? `: ${error.message}` : ''}.`);
  terminal.report({ ...job, ...(kept !== undefined && { refused_rows: kept }) }, sentences.join(' '));
  if (state !== 'done') return exitCodes.failed;
  return rows.refused > 0 ? someRefused : exitCodes.done;
}
