import { notFound } from '@recordbus/errors';
import { boundedNumber, pageQuery, type Route, rawJson, route } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import { listHistory } from '../history/list-history.ts';
import { callOf } from '../rules/rule-context.ts';
import { decryptHistory } from '../shape/decrypt-answer.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { tooExpensive } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

const historyRow = z.object({
  id: z.uuid(),
  op: z.enum(['create', 'update', 'delete']),
  snapshot: z.record(z.string(), z.unknown()),
  actor_id: z.string().nullable(),
  actor_type: z.enum(['user', 'admin', 'guest', 'service']),
  at: z.number().describe('unix seconds'),
  version: z.string().describe('the version, as in the ETag'),
});

const historyPage = z.object({
  data: z.array(historyRow),
  page: z.number(),
  perPage: z.number(),
  totalItems: z.number(),
  totalPages: z.number(),
});

/** The paths for a resource below a record. */
export const pathsOf = (name: string) => recordPaths.map((path) => `${path}/${name}`);

/** `GET /api/<col>/<id>/history`. */
export const historyRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: pathsOf('history'),
    access: 'public',
    scope: 'records:read',
    action: 'view',
    summary: "List a record's versions, newest first",
    params: recordParams,
    query: pageQuery.extend({ perPage: boundedNumber({ min: 1, max: 1000, otherwise: 50 }) }),
    answers: {
      200: historyPage,
      403: 'the view rule refuses',
      404: 'no such collection or record, or the collection keeps no history',
      422: tooExpensive,
    },
    admit: admitTo('view', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('view', input), async (collection) => {
        requireHistory(collection);
        const wanted = { id: input.params.id, ...input.query };
        const body = await listHistory(deps.reads, collection, wanted, callOf('GET', input, deps));
        if (body === undefined) throw notFound('record');
        return rawJson(200, await decryptHistory(deps.encryption, collection, body, deps.reads.maxAnswerBytes()));
      }),
  });

/** Throws 404 for a collection without history. */
export function requireHistory({ historyEnabled, type }: Collection): void {
  if (!historyEnabled || type === 'view') throw notFound('history');
}
