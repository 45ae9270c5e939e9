import { unavailable } from '@recordbus/shared/errors';
import { createFairGate } from '@recordbus/shared/fair-gate';
import { type Route, route } from '@recordbus/shared/http';
import { currentClient } from '@recordbus/shared/request-scope';
import { z } from 'zod';
import { doBatch } from '../batch/do-batch.ts';
import { readOperations } from '../batch/operation.ts';
import { batchPath } from '../batch/operation-limits.ts';
import { parseOperations } from '../batch/parse-operations.ts';
import { describedBatch } from './batch-schema.ts';
import type { RouteDeps } from './route-deps.ts';

/** The largest JSON body. */
const bodyLimitBytes = 16 * 1024 * 1024;

/** A batch holds its connection for many statements. The other connections are for single writes. */
const gateOptions = {
  width: 8,
  widthPerClient: 4,
  maxWaiting: 1000,
  maxWaitingPerClient: 100,
  maxWaitMs: 10_000,
  refuse: () => unavailable('too many batches are running'),
};

/** `POST /api/v1/batch`: several writes as one. */
export function batchRoute(deps: RouteDeps): Route {
  const gate = createFairGate(gateOptions);
  const rules = { ...deps, maxAnswerBytes: deps.reads.maxAnswerBytes };
  return route({
    method: 'POST',
    idempotent: true,
    path: batchPath,
    access: 'public',
    summary: 'Do several writes together: all or none',
    body: z.strictObject({ operations: z.array(z.unknown(), 'must be a list') }),
    parseBody: (bytes) => parseOperations(bytes, deps.maxBatchOperations()),
    bodyLimitBytes,
    described: describedBatch,
    answers: {
      400: 'the body cannot be read',
      401: 'the rule of an operation refuses, and the token is not valid',
      403: 'the rule of an operation refuses',
      404: 'there is no such collection or record',
      405: 'a view collection is read-only',
      409: 'other records refer to the record of a delete, or a record keeps changing',
      412: 'if_match rules a record out',
      413: 'the body or an operation is too large',
      415: 'the body is neither JSON nor multipart/form-data',
      422: 'an operation or a field is refused, there are too many operations, or they take too long',
      429: 'the operations are more than a rate limit allows',
    },
    handler: async (input) => {
      const operations = readOperations(input.body.operations);
      const limits = await deps.operationLimits.count(operations, input.context);
      const run = () => doBatch({ operations, uploads: new Map(), input }, rules);
      const reply = await gate.run(currentClient() ?? '', run);
      return { ...reply, headers: { ...reply.headers, ...limits } };
    },
  });
}
