import { malformed } from '@recordbus/errors';
import { z } from 'zod';
import { doBatch } from '../../batch/do-batch.ts';
import { readOperations } from '../../batch/operation.ts';
import { tooMany } from '../../batch/parse-operations.ts';
import { writeIn } from '../call-scope.ts';
import { actingCaller, principalOfActing } from './acting-caller.ts';
import type { RecordsToolsDeps } from './records-work.ts';
import { type Tool, tool } from './tool.ts';
import { values } from './tool-arguments.ts';

/** What the tool depends on. */
export interface BatchToolDeps extends RecordsToolsDeps {
  maxBatchOperations(): number;
}

/** The tool that does several writes together (batch §4), as a part of its call's transaction if it has one. */
export const batchTools = (deps: BatchToolDeps): Readonly<Record<string, Tool>> => ({
  'records.batch': tool(z.tuple([actingCaller, values]), async (call, [as, body]) => {
    const { scope, extension } = call;
    const { query } = scope.transaction ?? deps.database;
    const principal = await principalOfActing(query, deps.schema, extension, as);
    const { operations: list } = body;
    if (!Array.isArray(list)) throw malformed('records.batch: argument 1: must be a list');
    if (list.length > deps.maxBatchOperations()) throw tooMany(deps.maxBatchOperations());
    const operations = readOperations(list.map((value) => ({ value, bytes: 0 })));
    const input = { context: { ...scope.context, principal }, queryText: () => undefined, header: () => undefined };
    const { json } = await doBatch(
      { operations, uploads: new Map(), announced: [], input },
      {
        ...deps,
        hooks: deps.beforeHooks.within(call),
        write: writeIn(scope, deps.write),
        maxAnswerBytes: deps.reads.maxAnswerBytes,
      },
    );
    return json;
  }),
});
