import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { conflict, notFound, unavailable } from '@recordbus/errors';
import { ok, otherContent, page, pageOf, pageQuery, type Route, route, withHeaders } from '@recordbus/http';
import { type MoveReport, reportPage } from '@recordbus/pocketbase-move';
import type { Storage } from '@recordbus/storage';
import { z } from 'zod';
import {
  cancelMove,
  confirmMove,
  findMove,
  listedMove,
  listMoves,
  type ShownMove,
  shownMove,
} from '../moves/move-rows.ts';
import type { Moves } from '../moves/moves.ts';
import { receiveBackup } from '../moves/receive-backup.ts';

interface MoveRoutesDeps {
  readonly database: Database;
  readonly archives: Storage;
  readonly moves: Moves;
  maxBytes(): number;
}

const params = z.object({ id: z.string() });

const path = '/api/v1/admin/import/pocketbase';

const own = { access: 'admin', scope: 'admin' } as const;

/** Higher than any setting. The handler refuses bodies larger than `jobs.max_body_bytes`. */
const bodyLimitBytes = 2 ** 41;

const names = z
  .string()
  .max(10_000)
  .transform((text) => text.split(',').filter((name) => name !== ''));

const newNames = z
  .string()
  .max(10_000)
  .transform((text, context) => {
    try {
      return z.record(z.string(), z.string()).parse(JSON.parse(text));
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON object with new names: {"old": "new"}' });
      return z.NEVER;
    }
  });

/** The routes that move an app in from a PocketBase backup, for admins and keys with the scope `admin` (move §5). */
export const moveRoutes = (deps: MoveRoutesDeps): Route[] => {
  const { database, moves } = deps;
  const { query } = database;
  return [
    route({
      ...own,
      method: 'GET',
      path,
      summary: 'List moves from PocketBase, newest first',
      query: pageQuery,
      answers: { 200: pageOf(listedMove) },
      async handler({ query: { page: number, perPage } }) {
        const { rows, totalItems } = await listMoves(query, { page: number, perPage });
        return page(rows, { page: number, perPage, totalItems });
      },
    }),
    route({
      ...own,
      method: 'POST',
      idempotent: true,
      path,
      summary: 'Upload a PocketBase backup; a plan follows, which waits for a confirmation',
      query: z.object({
        only: names.optional().describe('the collections to take, separated by commas'),
        map: newNames.optional().describe('a JSON object with new names of collections'),
        events: z.literal('1').optional().describe('1 writes an event for each record'),
        views: z.enum(['try', 'skip']).optional().describe('whether views are tried, the default'),
        sessions: z.enum(['keep', 'end']).optional().describe('whether users stay signed in, the default'),
      }),
      streamedBody: { 'application/zip': { type: 'string', format: 'binary' } },
      bodyLimitBytes,
      answers: {
        202: shownMove,
        400: 'a parameter is invalid',
        409: 'another move is not over, or this one was cancelled',
        413: 'the backup is too large',
        422: 'a parameter is refused, or the body is not a zip archive',
        503: 'the disk is full, or no replica knows where the gateway is',
      },
      async handler({ query: { events, ...choices }, stream, context, header }) {
        if (!moves.canRun()) throw unavailable('moves need SERVICE_GATEWAY_URL at the records service');
        const options = { ...choices, events: events === '1' };
        const data = await receiveBackup(deps, { stream, options, context, userAgent: header('user-agent') });
        moves.wake();
        return { status: 202, body: { data } };
      },
    }),
    route({
      ...own,
      method: 'GET',
      path: `${path}/:id`,
      summary: "Read a move's state, its plan and its report",
      params,
      answers: { 200: shownMove, 404: 'no such move' },
      handler: async (input) => ok(await getMove(deps, input.params.id)),
    }),
    route({
      ...own,
      method: 'GET',
      path: `${path}/:id/report`,
      summary: "Download a move's report, or its plan, as a page",
      params,
      answers: {
        200: withHeaders(otherContent('text/html', 'the page'), { 'Content-Disposition': 'A name for the file' }),
        404: 'no such move, or it has no plan yet',
      },
      async handler(input) {
        const { id, plan, report } = await getMove(deps, input.params.id);
        const shown = report ?? plan;
        if (!shown) throw notFound('report');
        const headers = {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Disposition': `attachment; filename="pocketbase-${id}.html"`,
          'Cache-Control': 'no-store',
        };
        return { status: 200, headers, text: reportPage(shown as unknown as MoveReport) };
      },
    }),
    changeRoute(deps, 'confirm', 'Run a planned move', confirmMove),
    changeRoute(deps, 'cancel', 'End a move for good; what it has moved stays', cancelMove),
  ];
};

/** Finds a move. Throws 404. */
async function getMove({ database }: Pick<MoveRoutesDeps, 'database'>, id: string): Promise<ShownMove> {
  const move = z.uuid().safeParse(id).success ? await findMove(database.query, id) : undefined;
  if (!move) throw notFound('move');
  return move;
}

const changeRoute = (
  deps: MoveRoutesDeps,
  command: 'confirm' | 'cancel',
  summary: string,
  change: typeof confirmMove,
): Route =>
  route({
    ...own,
    method: 'POST',
    path: `${path}/:id/${command}`,
    summary,
    params,
    answers: { 200: shownMove, 404: 'no such move', 409: "the move's state does not allow it" },
    async handler({ params: { id }, context, header }) {
      const move = await getMove(deps, id);
      const changed = await deps.database.transaction(async (query) => {
        const row = await change(query, move.id);
        const target = { type: 'move', id: move.id };
        if (row)
          await recordAudit(query, { action: `moves.${command}`, context, userAgent: header('user-agent'), target });
        return row;
      });
      if (!changed) {
        const { state } = await getMove(deps, id);
        throw conflict('move_state', `a move that is ${state} cannot be asked to ${command}`);
      }
      deps.moves.wake();
      return ok(changed);
    },
  });
