import { rateLimited, unavailable } from '@recordbus/errors';
import { type Reply, type Route, type RouteInput, route } from '@recordbus/http';
import { createFairGate } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import type { z } from 'zod';
import { doBatch } from '../batch/do-batch.ts';
import { readOperations } from '../batch/operation.ts';
import { batchPath } from '../batch/operation-limits.ts';
import { listOf, type ParsedOperation, parsedBody, parseOperations } from '../batch/parse-operations.ts';
import { maxBatchBytes, receiveBatch } from '../batch/receive-batch.ts';
import { openAnnounced } from '../files/announced-files.ts';
import { batchForm, describedBatch } from './batch-schema.ts';
import type { RouteDeps } from './route-deps.ts';

/** A batch holds its connection for many statements. The other connections are for single writes. */
const gateOptions = {
  width: 8,
  widthPerClient: 4,
  reserved: 1,
  maxWaiting: 1000,
  maxWaitingPerClient: 100,
  maxWaitMs: 10_000,
  refuse: (because: 'client' | 'all') =>
    because === 'client' ? rateLimited(1) : unavailable('too many batches are running'),
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
    scope: 'records',
    summary: 'Do several writes together: all or none',
    body: parsedBody,
    parseBody: (bytes) => parseOperations(bytes, deps.maxBatchOperations()),
    bodyLimitBytes: maxBatchBytes,
    multipartLimitBytes: deps.maxUploadBytes,
    multipartBody: batchForm,
    described: describedBatch,
    answers: {
      400: 'the body cannot be read',
      401: "an operation's rule refuses, and the token is not valid",
      403: "an operation's rule refuses",
      404: 'there is no such collection or record',
      405: 'a view collection is read-only',
      409: 'other records refer to a deleted record, or a record keeps changing',
      412: 'if_match rules a record out',
      413: 'the body or an operation is too large',
      415: 'the body is neither JSON nor multipart/form-data',
      422: 'an operation or a field is refused, there are too many operations, or they take too long',
      429: 'there are more operations than a rate limit allows',
    },
    handler: handle,
  });

  async function handle(input: BatchRouteInput): Promise<Reply> {
    await using announced = openAnnounced(deps);
    const { context, multipart } = input;
    let limits: Readonly<Record<string, string>> = {};
    const admit = async (values: readonly ParsedOperation[]) => {
      const operations = readOperations(values);
      limits = await deps.operationLimits.count(operations, context);
      return operations;
    };
    const form = multipart
      ? await receiveBatch(deps, { request: multipart, principal: context.principal, admit }, announced)
      : { operations: await admit(listOf(input.body)), uploads: new Map() };
    const run = () => doBatch({ ...form, announced: announced.files, input }, rules);
    const reply = await gate.run(currentCaller(), run);
    announced.keep();
    return { ...reply, headers: { ...reply.headers, ...limits } };
  }
}

type BatchRouteInput = RouteInput<unknown, unknown, z.output<typeof parsedBody>>;
