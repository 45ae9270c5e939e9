import { type Route, rawJson, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { etagOf } from '../record/etag.ts';
import { createRecord } from '../write/create-record.ts';
import { keptInWriting } from './kept-in-writing.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

/** `POST /api/<col>`. */
export const createRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    idempotent: true,
    path: collectionPaths,
    access: 'public',
    action: 'create',
    summary: 'Create a record',
    params: collectionParams,
    body: z.record(z.string(), z.unknown()),
    answers: {
      201: z.record(z.string(), z.unknown()),
      403: 'the create rule refuses',
      404: 'no such collection',
      405: 'a view collection is read-only',
      422: 'a field is refused',
    },
    admit: admitTo('create', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('create', input), async (collection) => {
        const reply = await keptInWriting(deps.database, input.keepAnswer, async (query) => {
          const asking = askingOf('POST', input, deps);
          const record = await createRecord(query, collection, input.body, input.context, asking, deps.passwords);
          return rawJson(201, record.body, { ETag: etagOf(record.updatedAtSec) });
        });
        deps.wakeRelay();
        return reply;
      }),
  });
