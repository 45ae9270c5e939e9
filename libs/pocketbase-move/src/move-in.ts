import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { TranslatedCollection } from '@recordbus/pocketbase/collections';
import { type ApiAddress, CommandFailure, callApi, commandJob } from '@recordbus/stack-calls';
import { awaitLeftJobs } from './import-rows.ts';
import { createLosses, type Losses } from './losses.ts';
import { keepSignIn } from './move-accounts.ts';
import { foreseeFiles, sendFiles } from './move-files.ts';
import { countNewLinks, moveLinks, noteLinks } from './move-links.ts';
import { keepProviders } from './move-providers.ts';
import { deleteGone, foresee, noteSource, writeDeferred, writeRecords } from './move-records.ts';
import { endSessions, keepSessions } from './move-sessions.ts';
import { moveSuperusers, whyNoAdmins } from './move-superusers.ts';
import type { MoveOptions, MoveParts } from './options.ts';
import { type OrderedCollection, orderCollections } from './order-collections.ts';
import { applyCollections, digestOf, planCollections } from './plan-collections.ts';
import { isOwn, type PreparedMove, prepareMove } from './prepare-move.ts';
import { hasWork, type MovedCollection, type MoveReport } from './report.ts';
import type { SchemaDocument } from './schema-document.ts';
import { openSource, type Source } from './source.ts';
import { type MoveState, openState } from './state.ts';
import { filesInBucket, filesInDirectory, keepsFilesInBucket, type StoredFiles } from './stored-files.ts';

/** A running move. */
export interface Move extends Pick<MoveParts, 'terminal' | 'progress'> {
  readonly source: Source;
  readonly storedFiles: StoredFiles;
  readonly prepared: PreparedMove;
  readonly address: ApiAddress;
  readonly state: MoveState;
  readonly losses: Losses;
  readonly isSilent: boolean;
  readonly startedSec: number;
  /** What imports keep from the rows. */
  readonly keep: string;
  noteJob(id: string | undefined): void;
}

/** What a move did, or would do. */
export interface MoveResult {
  readonly report: MoveReport;
  /** Whether there was something to do. */
  readonly hasWork: boolean;
}

/** Moves an app in from PocketBase, or what has changed there since the last run. */
export async function moveIn(parts: MoveParts, options: MoveOptions): Promise<MoveResult> {
  const { lifecycle, terminal, progress } = parts;
  const { directory, address, target = address.url, dryRun: isDryRun = false } = options;
  const addAdmin = options.superusers === 'skip' ? undefined : parts.addAdmin;
  const startedMs = Date.now();
  const source = await openSource(parts, options);
  const prepared = prepareMove(source, options);
  const state = openState(await stateFile(options, source.aside), target);
  lifecycle.onStop('notes', () => state.close());
  let job: string | undefined;
  lifecycle.onStop('job', async () => {
    if (job !== undefined) await commandJob(address, job, 'cancel');
  });
  const move: Move = {
    terminal,
    source,
    storedFiles: options.files === 's3' ? await filesInBucket(source) : filesInDirectory(source),
    prepared,
    address,
    state,
    losses: createLosses(),
    progress,
    isSilent: options.events !== true,
    startedSec: Math.floor(startedMs / 1000),
    keep: 'id,created,updated,files',
    noteJob(id) {
      job = id;
      state.noteJob(id);
    },
  };
  if (!isDryRun)
    await awaitLeftJobs(
      move,
      state,
      prepared.collections.map(({ to }) => to.name),
    );
  const planned = await planChanges(move, options.isContinued === true);
  const ordered = orderCollections(planned.collections.filter(({ to }) => to.type !== 'view'));
  const report: MoveReport = {
    product: 'pocketbase',
    source: resolve(directory),
    target,
    dry_run: isDryRun,
    is_first_run: prepared.collections.every(({ from }) => state.definitionOf(from.name) === undefined),
    started: new Date(startedMs).toISOString(),
    seconds: 0,
    schema_changes: planned.plan.changes.length,
    collections: [],
    rules: planned.changed.flatMap(({ rules }) => rules),
    notes: [...prepared.notes, ...planned.changed.flatMap(({ notes }) => notes), ...planned.notes],
    lost_values: [],
    admins: [],
    not_taken: notTaken(source, options, addAdmin !== undefined),
  };
  for (const one of ordered) {
    noteSource(move, one, move.losses);
    noteLinks(move, one);
  }
  const moved = new Map(ordered.map((one) => [one, emptyCount(source, one)]));
  report.collections.push(...moved.values());
  const changes = planned.plan.changes.length;
  if (isDryRun || changes > 0) parts.showPlan(planned.plan);
  if (isDryRun)
    for (const [one, count] of moved) {
      await foresee(move, one, count);
      await foreseeFiles(move, one, count);
      count.links = countNewLinks(move, one);
    }
  else {
    // Noted before, so that a run that is killed here continues with these collections.
    for (const collection of planned.collections) state.noteDefinition(collection.from.name, digestOf(collection));
    if (changes > 0) await applyCollections(address, planned);
    await keepSignIn(move, planned.collections, report);
    await keepProviders(move, planned.collections, report);
    await moveRecords(move, moved);
    for (const [one, count] of moved) await moveLinks(move, one, count, report);
    for (const [one, count] of moved)
      await (options.sessions === 'end' ? endSessions(move, one) : keepSessions(move, one, count));
  }
  if (addAdmin) await moveSuperusers(move, report, isDryRun ? undefined : addAdmin);
  progress.end();
  report.lost_values.push(...move.losses.list());
  report.seconds = Math.round((Date.now() - startedMs) / 100) / 10;
  return { report, hasWork: hasWork(report) };
}

async function moveRecords(move: Move, moved: ReadonlyMap<OrderedCollection, MovedCollection>): Promise<void> {
  for (const [one, count] of moved) await writeRecords(move, one, count);
  for (const [one, count] of moved) if (one.deferred.length > 0) await writeDeferred(move, one, count);
  for (const [one, count] of moved) await sendFiles(move, one, count);
  for (const [one, count] of [...moved].reverse()) await deleteGone(move, one, count);
}

/** Plans the collections that are new, or whose definition has changed in PocketBase since they were taken. */
async function planChanges(move: Move, isContinued: boolean) {
  const { address, prepared, state } = move;
  const current = (await callApi(address, 'GET', '/api/v1/admin/schema')) as SchemaDocument;
  const existing = new Map(current.collections.map((one) => [String(one.name).toLowerCase(), one]));
  const toPlan: TranslatedCollection[] = [];
  for (const collection of prepared.collections) {
    const { from, to } = collection;
    const there = existing.get(to.name.toLowerCase());
    const taken = state.definitionOf(from.name);
    if (there && taken === undefined && !(isContinued && (there.alias === from.id || from.type === 'view')))
      throw new CommandFailure(
        `The stack has a collection ${to.name} already. Leave it out with --only, rename it with --map, or name the last run's notes with --state.`,
      );
    if (!there || taken !== digestOf(collection))
      toPlan.push(there && to.type !== 'view' ? withOthers(collection, there) : collection);
  }
  const planned = await planCollections(address, toPlan);
  const byName = new Map(planned.collections.map((one) => [one.from.name, one]));
  return {
    ...planned,
    changed: planned.collections,
    collections: prepared.collections.map((one) => byName.get(one.from.name) ?? one),
  };
}

/** Keeps the fields that a collection has got here. */
function withOthers(collection: TranslatedCollection, there: Readonly<Record<string, unknown>>): TranslatedCollection {
  const fields = Array.isArray(there.fields) ? (there.fields as TranslatedCollection['to']['fields']) : [];
  const names = new Set(collection.to.fields.map(({ name }) => name));
  const others = fields.filter(({ name }) => !names.has(name));
  return { ...collection, to: { ...collection.to, fields: [...collection.to.fields, ...others] } };
}

/** A dry run writes into a copy of the notes. */
async function stateFile({ directory, state, dryRun, resume }: MoveOptions, aside: string): Promise<string> {
  const path = state ?? `${resolve(directory)}.recordbus`;
  if (resume && !existsSync(path))
    throw new CommandFailure(
      `${path} does not exist: name the earlier run's notes with --state, or leave out --resume.`,
    );
  if (!dryRun) return path;
  const copy = `${aside}/notes`;
  for (const end of ['', '-wal']) await copyFile(path + end, copy + end).catch(() => undefined);
  return copy;
}

const emptyCount = (source: Source, { collection: { from, to } }: OrderedCollection): MovedCollection => ({
  from: from.name,
  to: to.name,
  type: from.type,
  records: source.count(from.name),
  created: 0,
  changed: 0,
  deleted: 0,
  unchanged: 0,
  kept_here: [],
  refused: 0,
  refused_records: [],
  links: 0,
  sessions_kept: 0,
  files: 0,
  file_bytes: 0,
  files_missing: 0,
  missing_files: [],
});

function notTaken(source: Source, { sessions, superusers, files }: MoveOptions, addsAdmins: boolean): string[] {
  const { collections, settings } = source;
  const own = collections.filter(isOwn);
  return [
    'hooks (pb_hooks), migrations (pb_migrations), Go code and logs',
    ...noSuperusers(source, superusers, addsAdmins),
    'settings: name, mail server, rate limits and templates',
    ...(settings === undefined
      ? ['settings cannot be read: they are missing, or encrypted and PB_ENCRYPTION_KEY lacks their key']
      : []),
    ...(files !== 's3' && keepsFilesInBucket(source)
      ? ['files: PocketBase keeps them in S3. A run of the command with --files s3 takes them']
      : []),
    ...(own.some(({ type }) => type === 'auth')
      ? [`${sessions === 'end' ? 'open sessions, ' : ''}second factors, and known devices`]
      : []),
  ];
}

function noSuperusers(source: Source, superusers: MoveOptions['superusers'], addsAdmins: boolean): string[] {
  const where =
    superusers === 'skip' ? '--superusers skip' : 'only a run on the data directory, without --key, makes admins';
  const why = addsAdmins ? whyNoAdmins(source) : where;
  return why === undefined ? [] : [`superusers (${why}): create admins with \`admin create\``];
}
