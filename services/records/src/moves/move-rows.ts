import type { Query } from '@recordbus/database';
import { isFree, leaseEnd, queueTable } from '@recordbus/queue';
import type { Principal } from '@recordbus/request/context';
import { type FileKey, fileKey } from '@recordbus/storage';
import { z } from 'zod';

/** What a move was asked for. */
export interface MoveChoices {
  readonly only?: readonly string[] | undefined;
  readonly map?: Readonly<Record<string, string>> | undefined;
  readonly events?: boolean | undefined;
  readonly views?: 'try' | 'skip' | undefined;
  readonly sessions?: 'keep' | 'end' | undefined;
}

const report = z.record(z.string(), z.unknown()).nullable();

/** A move in lists (move §5.2). */
export const listedMove = z.object({
  id: z.uuid(),
  state: z.enum(['uploading', 'planning', 'planned', 'running', 'done', 'failed', 'cancelled']),
  options: z.record(z.string(), z.unknown()),
  bytes: z.int().describe("the backup's size"),
  progress: z.object({ text: z.string(), part: z.number().nullable().describe('from 0 to 1') }).nullable(),
  error: z.string().nullable().describe('why it failed'),
  created: z.int().describe('unix seconds'),
  finished: z.int().nullable(),
});

/** A move in answers, with its plan and its report. */
export const shownMove = listedMove
  .extend({ plan: report.describe('the report of a dry run'), report })
  .meta({ id: 'Move' });

type ListedMove = z.output<typeof listedMove>;
export type ShownMove = z.output<typeof shownMove>;

/** A move that this replica holds. */
export interface HeldMove {
  readonly id: string;
  readonly fence: number;
  readonly state: 'planning' | 'running';
  readonly options: MoveChoices;
  readonly has_begun: boolean;
  readonly key_id: string | null;
  readonly failures: number;
}

const moves = queueTable({ table: 'system.moves', key: 'id', fence: 'fence' });

/** How long a replica holds a move after its last sign of life, in seconds. */
const leaseSec = 15;

/** How often a replica renews its move, in milliseconds. */
export const renewMs = 4000;

/** How long a plan waits for its confirmation, in SQL. */
const planWaits = "interval '1 day'";

const listed = `id, state, options, bytes, progress, error,
  extract(epoch from created_at)::bigint as created, extract(epoch from finished_at)::bigint as finished`;
const shown = `${listed}, plan, report`;

/** Where the archive store has a move's backup. */
export function moveKey(id: string): FileKey {
  const key = fileKey('moves', id, 'backup.zip');
  if (!key) throw new Error("a move's id is not a key segment");
  return key;
}

/** Adds a move whose backup is being uploaded. Undefined while another move is not over. */
export async function addMove(
  query: Query,
  { id, actor, options }: { readonly id: string; readonly actor: Principal; readonly options: MoveChoices },
): Promise<HeldMove | undefined> {
  const [row] = await query<HeldMove>({
    text: `insert into system.moves (id, actor, options, lease_until) values ($1, $2, $3, ${leaseEnd(leaseSec)})
      on conflict do nothing returning id, fence, state, options, has_begun, key_id, failures`,
    values: [id, JSON.stringify(actor), JSON.stringify(options)],
  });
  return row;
}

/** Lets the replicas plan an uploaded move. Undefined if it was cancelled meanwhile. */
export async function endUpload(query: Query, id: string, bytes: number): Promise<ShownMove | undefined> {
  const [row] = await query<ShownMove>({
    text: `update system.moves set state = 'planning', bytes = $2, lease_until = null
      where id = $1 and state = 'uploading' returning ${shown}`,
    values: [id, bytes],
  });
  return row;
}

/** Takes a move that waits for a replica, or whose replica shows no sign of life. */
export async function takeMove(query: Query): Promise<HeldMove | undefined> {
  const [row] = await query<HeldMove>({
    text: moves.claim({
      due: `select m.id as key from system.moves m where m.state in ('planning', 'running') and ${isFree('m')}
        limit 1 for update skip locked`,
      leaseSec,
      returning: 'q.id, q.fence, q.state, q.options, q.has_begun, q.key_id, q.failures',
    }),
    values: [],
  });
  return row;
}

type Held = Pick<HeldMove, 'id' | 'fence'>;

const isHeld = `${moves.isHeld} and state in ('uploading', 'planning', 'running')`;

/** Renews the lease. Returns whether this replica still holds the move. */
export async function renewMove(query: Query, { id, fence }: Held): Promise<boolean> {
  const rows = await query({
    text: `update system.moves set lease_until = ${leaseEnd(leaseSec)} where ${isHeld} returning 1`,
    values: [id, fence],
  });
  return rows.length > 0;
}

/** Notes the key of the process that is about to begin, and whether it may write. */
export async function noteKey(query: Query, { id, fence }: Held, keyId: string, mayWrite: boolean): Promise<void> {
  await query({
    text: `update system.moves set key_id = $3, has_begun = has_begun or $4 where ${isHeld}`,
    values: [id, fence, keyId, mayWrite],
  });
}

/** Notes how far a move has come. */
export async function noteProgress(query: Query, { id, fence }: Held, progress: object): Promise<void> {
  await query({
    text: `update system.moves set progress = $3 where ${isHeld}`,
    values: [id, fence, JSON.stringify(progress)],
  });
}

/** Keeps a plan, which an admin has to confirm. */
export async function keepPlan(query: Query, { id, fence }: Held, plan: object): Promise<void> {
  await query({
    text: `update system.moves set state = 'planned', plan = $3, progress = null, lease_until = null,
        planned_at = clock_timestamp() where ${isHeld}`,
    values: [id, fence, textOf(plan)],
  });
}

/** Ends a move with its report, or with the reason why it failed. */
export async function endMove(
  query: Query,
  { id, fence }: Held,
  { report: made, error }: { readonly report?: object; readonly error?: string },
): Promise<void> {
  await query({
    text: `update system.moves set state = $3, report = $4, error = $5, progress = null, lease_until = null,
        finished_at = clock_timestamp() where ${isHeld}`,
    values: [
      id,
      fence,
      error === undefined ? 'done' : 'failed',
      made ? textOf(made) : null,
      error?.replaceAll('\0', '') ?? null,
    ],
  });
}

/** PostgreSQL's JSON has no null character. */
const textOf = (value: object): string => JSON.stringify(value).replaceAll('\\u0000', '');

/** Leaves a move for the next attempt. */
export async function leaveMove(
  query: Query,
  { id, fence }: Held,
  { pauseSec, isFailure }: { readonly pauseSec: number; readonly isFailure: boolean },
): Promise<void> {
  await query({
    text: `update system.moves set lease_until = ${leaseEnd('$3')}, failures = failures + $4 where ${isHeld}`,
    values: [id, fence, pauseSec, isFailure ? 1 : 0],
  });
}

/** Confirms a plan. Undefined for a move that has none, or has begun. */
export async function confirmMove(query: Query, id: string): Promise<ShownMove | undefined> {
  const [row] = await query<ShownMove>({
    text: `update system.moves set state = 'running', failures = 0 where id = $1 and state = 'planned' returning ${shown}`,
    values: [id],
  });
  return row;
}

/** Cancels a move. Undefined for one that is over. */
export async function cancelMove(query: Query, id: string): Promise<ShownMove | undefined> {
  const [row] = await query<ShownMove>({
    text: `update system.moves set state = 'cancelled', progress = null, lease_until = null,
        finished_at = clock_timestamp() where id = $1 and finished_at is null returning ${shown}`,
    values: [id],
  });
  return row;
}

/** Finds a move. */
export async function findMove(query: Query, id: string): Promise<ShownMove | undefined> {
  const [row] = await query<ShownMove>({ text: `select ${shown} from system.moves where id = $1`, values: [id] });
  return row;
}

/** Reads a page of moves, newest first, and how many there are. */
export async function listMoves(
  query: Query,
  { page, perPage }: { readonly page: number; readonly perPage: number },
): Promise<{ rows: ListedMove[]; totalItems: number }> {
  const rows = await query<ListedMove>({
    text: `select ${listed} from system.moves order by created_at desc, id desc limit $1 offset $2`,
    values: [perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)],
  });
  const [count] = await query<{ total: number }>({ text: 'select count(*) as total from system.moves', values: [] });
  return { rows, totalItems: count?.total ?? 0 };
}

/** Ends uploads whose process has died, and plans that nobody confirmed. */
export async function endAbandoned(query: Query): Promise<void> {
  await query({
    text: `update system.moves m set finished_at = clock_timestamp(), lease_until = null,
        state = case when state = 'uploading' then 'failed' else 'cancelled' end,
        error = case when state = 'uploading' then 'The upload broke off: send the backup again.'
          else 'Nobody confirmed the plan within a day.' end
      where state = 'uploading' and ${isFree('m')} or state = 'planned' and planned_at < now() - ${planWaits}`,
    values: [],
  });
}

/** The moves that are over and left an archive or a key. */
export const listLeftovers = (query: Query): Promise<{ id: string; key_id: string | null }[]> =>
  query({ text: 'select id, key_id from system.moves where finished_at is not null and has_archive', values: [] });

/** Notes that nothing is left of a move but its row. */
export async function noteCleared(query: Query, id: string): Promise<void> {
  await query({ text: 'update system.moves set has_archive = false, key_id = null where id = $1', values: [id] });
}

/** The moves that are not over, whose folders stay. */
export async function listUnfinished(query: Query): Promise<ReadonlySet<string>> {
  const rows = await query<{ id: string }>({
    text: 'select id from system.moves where finished_at is null',
    values: [],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Deletes moves that were over some days ago. */
export async function removeOldMoves(query: Query, days: number): Promise<void> {
  await query({
    text: 'delete from system.moves where not has_archive and finished_at < now() - make_interval(days => $1)',
    values: [days],
  });
}
