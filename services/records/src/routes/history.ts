import type { Collection } from '@recordbus/schema';
import { notFound } from '@recordbus/shared/errors';
import { boundedNumber, pageQuery, type Route, rawJson, route, standsFor, withHeaders } from '@recordbus/shared/http';
import { z } from 'zod';
import { listHistory } from '../history/list-history.ts';
import { restoreRecord } from '../history/restore-record.ts';
import { openHistory } from '../read/open-answer.ts';
import { etagOf, versionsOfIfMatch } from '../record/etag.ts';
import { etagHeader, ifMatchHeader, recordJson } from './record-json.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { refuseUnwritten } from './refuse-unwritten.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

const historyRow = z.object({
  id: z.uuid(),
  op: z.enum(['create', 'update', 'delete']),
  snapshot: z.record(z.string(), z.unknown()),
  actor_id: z.string().nullable(),
  actor_type: z.enum(['user', 'admin', 'guest']),
  at: z.number(),
});

const historyPage = z.object({
  data: z.array(historyRow),
  page: z.number(),
  perPage: z.number(),
  totalItems: z.number(),
  totalPages: z.number(),
});

const pathsOf = (name: string) => recordPaths.map((path) => `${path}/${name}`);

/** `GET /api/<col>/<id>/history`. */
export const historyRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: pathsOf('history'),
    access: 'public',
    action: 'view',
    summary: 'List the versions of a record, newest first',
    params: recordParams,
    query: pageQuery.extend({ perPage: boundedNumber({ min: 1, max: 1000, otherwise: 50 }) }),
    answers: {
      200: historyPage,
      403: 'the view rule refuses',
      404: 'no such collection or record, or the collection keeps no history',
    },
    admit: admitTo('view', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('view', input), async (collection) => {
        demandHistory(collection);
        const wanted = { id: input.params.id, ...input.query };
        const body = await listHistory(deps.database.query, collection, wanted, askingOf('GET', input, deps));
        if (body === undefined) throw notFound('record');
        return rawJson(200, openHistory(deps.sealing, { collection }, body));
      }),
  });

/** `POST /api/<col>/<id>/restore`. */
export const restoreRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    idempotent: true,
    path: pathsOf('restore'),
    access: 'admin',
    action: 'update',
    summary: 'Restore a record to its most recent version at or before a time',
    params: recordParams,
    query: z.object({
      at: z
        .string()
        .regex(/^[+-]?\d+$/, 'must be a time in unix seconds')
        .transform(withinBigint)
        .meta(standsFor({ type: 'integer', description: 'unix seconds' })),
    }),
    requestHeaders: ifMatchHeader,
    answers: {
      200: withHeaders(recordJson, etagHeader),
      404: 'no such collection or record, the collection keeps no history, or it begins later',
      405: 'a view collection is read-only',
      409: 'the record was deleted',
      412: 'the record is not of the version that If-Match names',
      422: 'a value of then can not be written any more',
    },
    admit: admitTo('update', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('update', input), async (collection) => {
        demandHistory(collection);
        const versions = versionsOfIfMatch(input.header('if-match'));
        const restoring = { id: input.params.id, atSec: input.query.at, versions };
        const { transaction, hookedTransaction } = deps.database;
        const isHooked = deps.hooks.find(collection, 'update') !== undefined;
        const reply = await (isHooked ? hookedTransaction : transaction)(async (query) => {
          const result = await restoreRecord(query, collection, restoring, input.context, deps);
          if (result.outcome !== 'written') throw refuseUnwritten(result, input.context.principal);
          const answer = rawJson(200, result.body, { ETag: etagOf(result.updatedAtSec) });
          await input.keepAnswer?.(answer, query);
          return answer;
        });
        deps.wakeRelay();
        return reply;
      }),
  });

/** A time far beyond any record's is one that bigint can hold. */
const withinBigint = (text: string): number =>
  Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

function demandHistory({ historyEnabled, type }: Collection): void {
  if (!historyEnabled || type === 'view') throw notFound('history');
}
