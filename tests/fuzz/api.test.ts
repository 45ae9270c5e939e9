import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createClient } from '../harness/client.ts';
import { eventually } from '../harness/eventually.ts';
import { loggedErrors } from '../harness/logs.ts';
import { startStack } from '../harness/stack.ts';
import { createFindProblem } from './check-answer.ts';
import { operationsOf } from './operations.ts';
import { type Caller, type FuzzRequest, requestTo } from './requests.ts';
import { destructive, makeContents, spared } from './subject.ts';

/** The same requests in every run, unless another seed is asked for. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121);
const seconds = Number(process.env.FUZZ_SECONDS ?? 12);

test(`whatever is sent, the answer is one that the document declares (FUZZ_SEED=${seed})`, async (t) => {
  await using stack = await startStack({ topology: 'one' });
  const admin = await stack.admin();
  const user = await stack.user();
  const known = await makeContents(stack);
  const clients = { guest: stack.guest, user, admin, impostor: createClient(stack.url, 'eyJhbGciOiJub25lIn0.e30.') };
  const { json: document } = await eventually('the document knows the collections', async () => {
    const answer = await admin.get('/api/v1/openapi.json');
    return answer.text.includes('"everything.create"') ? answer : undefined;
  });
  const operations = operationsOf(document).filter(({ id }) => !spared.has(id));
  const findProblem = createFindProblem(document as object);

  const seen = new Map<string, number>();
  /** The first of each kind: an operation and the status of its answer. */
  const problems = new Map<string, string>();
  async function send(request: FuzzRequest): Promise<void> {
    const { method, path, headers, body } = request;
    const client = clients[request.as satisfies Caller];
    const answer = await client.send(method, path, { headers, ...(body !== undefined && { rawBody: body }) });
    const outcome = `${request.operation.id} ${answer.status}`;
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    const problem = findProblem(request, answer);
    if (problem !== undefined && !problems.has(outcome))
      problems.set(outcome, `${request.as}: ${method} ${path} ${JSON.stringify(headers)} ${body ?? ''}\n${problem}`);
  }

  await fc.assert(fc.asyncProperty(requestTo({ document, operations, known, destructive }), send), {
    seed,
    numRuns: 1_000_000,
    interruptAfterTimeLimit: seconds * 1000,
    markInterruptAsFailure: false,
  });
  const sent = [...seen.values()].reduce((sum, count) => sum + count, 0);
  const asked = new Set([...seen.keys()].map((outcome) => outcome.split(' ')[0]));
  t.diagnostic(`${sent} requests to ${asked.size} of ${operations.length} operations, ${seen.size} outcomes`);
  assert.deepEqual([...problems.values()], []);
  assert.deepEqual(loggedErrors(stack.process.lines), []);
});
